"""Ids as people write them: whole, or the beginning where only one begins so."""

from __future__ import annotations

from collections.abc import Iterable

from sayso.errors import ConfigError, RequestNotFoundError
from sayso.stores.backend import Backend

BEGINNING = 5
"""So many characters at least stand for an id that begins with them."""

_NAMED = 5
_ENTRIES_READ = 10_000


async def request_id(backend: Backend, written: str) -> str:
    """The id of the request that is meant: of those that wait, and those in the audit.

    Raises:
        RequestNotFoundError: there is none.
        StoreUnreachableError: it does not answer.
        ConfigError: more than one begins so.
    """
    if await backend.store.get(written) is not None:
        return written
    waiting = (record.request.question_id for record in await backend.store.list_requests())
    told = (entry.question_id for entry in await backend.audit.read(_ENTRIES_READ))
    found = _begun(written, (*waiting, *told), "requests")
    if found is None:
        raise RequestNotFoundError(written)
    return found


async def rule_id(backend: Backend, written: str) -> str:
    """The id of the remembered rule that is meant; what was written when there is none.

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
