"""The store from a command line: a look into it, ids as people write them, requests as JSON."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from sayso.errors import ConfigError, RequestNotFoundError, StoreUnreachableError
from sayso.events import Resolution
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.protocols import Record
from sayso.text.secrets import redacted_text
from sayso.text.visible import on_one_line
from sayso_bots.config.store_settings import StoreSettings, read_store

START_BOTS = "no bots are running on this store; `sayso serve` starts them"
"""For whoever looks at the store: nobody would show a question."""

# Setting something up does not wait for a store that is away.
_LOOK_SECONDS = 3.0

_T = TypeVar("_T")


def with_store(
    args: argparse.Namespace, env: Mapping[str, str], look: Callable[[Backend], Awaitable[_T]]
) -> _T:
    """Look into the store of the settings.

    Raises:
        ConfigError: it lives inside another process.
        StoreUnreachableError: it does not answer.
    """
    store = read_store(args.config, env, args.store)
    if store.is_memory:
        raise ConfigError(
            f"{store.name} is memory://, which lives inside another process; "
            "this command needs Redis"
        )

    async def looked() -> _T:
        async with open_store(store.url) as backend:
            try:
                await backend.ping()
                return await look(backend)
            except StoreUnreachableError as error:
                raise StoreUnreachableError(store.explain_unreachable(error)) from None

    return asyncio.run(looked())


def who_and_where() -> str:
    """The user and the machine, such as ``ci@runner-7``."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in many containers
        user = "somebody"
    return f"{user}@{socket.gethostname()}"


def say_no_bots() -> None:
    """Tell whoever reads stderr."""
    print(f"sayso: {START_BOTS}", file=sys.stderr)


def explain_unattended(store: StoreSettings) -> str:
    """Why nobody could see a question by now; empty where bots run.

    Raises:
        ConfigError: it is no address of a store.
    """

    async def desks() -> int:
        async with asyncio.timeout(_LOOK_SECONDS), open_store(store.url) as backend:
            return await backend.outbox.count_workers()

    try:
        return "" if asyncio.run(desks()) else START_BOTS
    except StoreUnreachableError as error:
        return store.explain_unreachable(error)
    except TimeoutError:
        return f"{store.name}: no answer within {_LOOK_SECONDS:g} s"


BEGINNING = 5
"""So many characters at least stand for an id that begins with them."""

_NAMED = 5
_ENTRIES_READ = 10_000


def add_request(parser: argparse.ArgumentParser) -> None:
    """Add ``ID``: the request."""
    parser.add_argument(
        "id",
        metavar="ID",
        help=f"the request's id, or its first {BEGINNING} characters or more; see `sayso pending`",
    )


async def find_request(backend: Backend, written: str) -> Record:
    """Find the request that is meant: among those that wait, and those in the audit.

    Raises:
        RequestNotFoundError: there is none.
        StoreUnreachableError: it does not answer.
        ConfigError: more than one begins so.
    """
    if (record := await backend.store.get(written)) is not None:
        return record
    waiting = (record.request.question_id for record in await backend.store.list_requests())
    told = (entry.question_id for entry in await backend.audit.read(_ENTRIES_READ))
    found = _begun(written, (*waiting, *told), "requests")
    if found is None or (record := await backend.store.get(found)) is None:
        raise RequestNotFoundError(found or written)
    return record


async def find_rule_id(backend: Backend, written: str) -> str:
    """Find the id of the remembered rule that is meant; return what was written if there is none.

    Raises:
        ConfigError: more than one begins so.
    """
    kept = [one.remembered.rule_id for one in await backend.rules.all()]
    return written if written in kept else _begun(written, kept, "rules") or written


def _begun(written: str, ids: Iterable[str], what: str) -> str | None:
    if len(written) < BEGINNING:
        return None
    found = sorted({one for one in ids if one.startswith(written)})
    if len(found) > 1:
        named = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise ConfigError(f"{len(found)} {what} begin with {written!r}: {named}; write more of it")
    return found[0] if found else None


def record_as_json(record: Record) -> Mapping[str, Any]:
    """Return a request as ``pending`` and ``show`` print it with ``--json``."""
    # Handles stay out: whoever knows one could forge a button.
    return {
        "requestId": record.request.question_id,
        "state": record.ending.outcome.value if record.ending else "open",
        "request": json.loads(encode(record.request)),
        "ending": json.loads(encode(record.ending)) if record.ending else None,
        "copies": [
            {
                "place": str(copy.place),
                "messageId": copy.message_id or None,
                "revealed": copy.revealed,
            }
            for copy in record.copies
        ],
    }


def ended_text(ending: Resolution) -> str:
    """Write out the end of a request, on one line."""
    by = f" by {ending.decided_by}" if ending.decided_by else ""
    because = f": {on_one_line(redacted_text(ending.reason))}" if ending.reason else ""
    return f"{ending.outcome.value}{on_one_line(by)} at {time_text(ending.decided_at)}{because}"


def time_text(at: datetime) -> str:
    """A moment, in UTC."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def json_time(at: datetime | None) -> str | None:
    """A moment as all JSON of the product writes it: in UTC, with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None
