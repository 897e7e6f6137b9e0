"""``sayso pending``, ``show`` and ``cancel``: the requests in the store."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sayso.clock import utc_now
from sayso.errors import ConfigError, StoreUnreachableError, UnknownRequestError
from sayso.events import RequestEnding, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.connect import open_backend
from sayso.stores.ports import Record, Settled
from sayso.text.visible import visible
from sayso_bots.cli.ask import who_and_where
from sayso_bots.process.terminal import table
from sayso_bots.settings.durations import duration_text
from sayso_bots.settings.settings import read_store

_T = TypeVar("_T")


def pending_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what waits, the one that expires first first."""
    records = with_store(args, env, lambda backend: backend.watch.pending())
    if args.json:
        print(json.dumps([_as_json(record) for record in records]))
    elif records:
        print(table(("ID", "TOOL", "AGENT", "SESSION", "EXPIRES IN", "SHOWN IN"), _rows(records)))
    else:
        print("Nothing waits. `sayso ask TOOL` asks something.")
    return 0


def show_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print all that is known of one request."""

    async def found(backend: Backend) -> Record:
        record = await backend.store.get(args.id)
        if record is None:
            raise UnknownRequestError(args.id)
        return record

    record = with_store(args, env, found)
    if args.json:
        print(json.dumps(_as_json(record), indent=2))
    else:
        print("\n".join(_described(record)))
    return 0


def cancel_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Withdraw a request; 1 when it had ended already, and how."""

    async def cancelled(backend: Backend) -> Settled:
        record = await backend.store.get(args.id)
        if record is None:
            raise UnknownRequestError(args.id)
        by, reason = f"cli:{who_and_where()}", args.reason or "withdrawn with `sayso cancel`"
        ending = record.request.cancelled(at=utc_now(), by=by, reason=reason)
        return await backend.store.settle(args.id, ending)

    settled = with_store(args, env, cancelled)
    if args.json:
        shown = {"cancelled": settled.first, "ending": json.loads(encode(settled.ending))}
        print(json.dumps(shown))
    elif settled.first:
        print(f"cancelled {args.id}")
    else:
        print(f"not cancelled: it was already {_ended(settled.ending)}")
    return 0 if settled.first else 1


def with_store(
    args: argparse.Namespace, env: Mapping[str, str], look: Callable[[Backend], Awaitable[_T]]
) -> _T:
    """What a look into the store of the settings brings.

    Raises:
        ConfigError: it lives inside another process.
        StoreUnreachableError: it does not answer.
    """
    store = read_store(args.config, env, args.store)
    if store.is_memory:
        raise ConfigError(
            f"{store.name} is memory://, which lives inside another process; "
            "only a Redis can be looked at from here"
        )

    async def looked() -> _T:
        async with open_backend(store.url) as backend:
            try:
                return await look(backend)
            except StoreUnreachableError as error:
                raise StoreUnreachableError(store.unreachable(error)) from None

    return asyncio.run(looked())


def _rows(records: Sequence[Record]) -> list[tuple[str, ...]]:
    now = utc_now()
    return [
        (
            record.request.question_id,
            record.request.subject,
            record.request.asker,
            record.request.run.session_id,
            duration_text(record.request.expires_at - now),
            ", ".join(_places(record)) or "nowhere yet",
        )
        for record in records
    ]


def _places(record: Record) -> list[str]:
    return [str(copy.place) for copy in record.copies if copy.message_id]


def _as_json(record: Record) -> Mapping[str, Any]:
    # Handles stay out: whoever knows one could forge a button.
    return {
        "id": record.request.question_id,
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


def _described(record: Record) -> list[str]:
    request = record.request
    state = _ended(record.ending) if record.ending else _open(request)
    facts = [
        ("id", request.question_id),
        ("state", state),
        ("tool", request.subject),
        ("agent", request.asker),
        ("session", request.run.session_id),
        ("branch", request.run.branch_id),
        ("run", request.run.run_id),
        ("source", request.source_name),
        ("requested by", request.requested_by or ""),
        ("expires", _time(request.expires_at)),
    ]
    lines = [f"{name + ':':14}{_one_line(value)}" for name, value in facts if value]
    lines += _content(request)
    for copy in record.copies:
        message = f"message {copy.message_id}" if copy.message_id else "not shown there yet"
        seen = ", shown in full" if copy.revealed else ""
        lines.append(f"{'card:':14}{copy.place} ({message}{seen})")
    if not record.copies:
        lines.append(f"{'card:':14}none yet")
    return lines


def _content(request: UserInputRequest) -> list[str]:
    body = request.card()
    lines = [f"{'description:':14}{body.description}"] if body.description else []
    if isinstance(request, PermissionRequestEvent):
        lines.append(f"{'digest:':14}{request.arguments_digest}")
    return [*lines, "arguments:", *(f"  {line}" for line in body.content.split("\n"))]


def _open(request: UserInputRequest) -> str:
    return f"open, expires in {duration_text(request.expires_at - utc_now())}"


def _ended(ending: RequestEnding) -> str:
    by = f" by {ending.decided_by}" if ending.decided_by else ""
    because = f": {_one_line(ending.reason)}" if ending.reason else ""
    return f"{ending.outcome.value}{by} at {_time(ending.decided_at)}{because}"


def _one_line(text: str) -> str:
    return visible(text, one_line=True)


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
