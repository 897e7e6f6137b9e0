"""The logs of branches in Redis: a stream each, numbered without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sayso.calls import RunRef, new_id
from sayso.errors import EventsMissedError, RequestNotFoundError
from sayso.events import Event
from sayso.questions.wire import encode
from sayso.stores.branch_log import (
    KEPT_BYTES,
    KEPT_EVENTS,
    KEPT_SECONDS,
    PAGE_BYTES,
    LoggedEvent,
    LogKind,
    Position,
)
from sayso.stores.notices import BranchGrewEvent
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import branch_key
from sayso.stores.redis.replies import number
from sayso.stores.redis.script import Script
from sayso.stores.topics import LOG_TOPIC

_APPEND, _READ = Script("append_event"), Script("read_events")


class RedisBranchLog:
    """Logs until a week after their last event, each with its newest thousand or so.

    Events are read over a client of their own: whatever is asked of the other
    one never waits for pages of them.
    """

    def __init__(self, client: Client, reads: Client) -> None:
        self._client = client
        self._reads = reads

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring, once per question and kind."""
        written = await self._client.run(
            _APPEND,
            branch_key(run),
            question_id,
            kind,
            getattr(event, "type", type(event).__name__),
            encode(event),
            new_id(),
            KEPT_EVENTS,
            KEPT_BYTES,
            KEPT_SECONDS * 1000,
            self._client.keys.channel(LOG_TOPIC),
            encode(BranchGrewEvent.of(run)),
            read=number,
        )
        if written < 0:
            raise RequestNotFoundError(question_id)
        return bool(written)

    async def end(self, run: RunRef) -> Position:
        """The position after the newest event."""
        epoch, last, _, _ = await self._reads.run(_READ, branch_key(run), new_id(), read=_read_page)
        return Position(epoch, last)

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        """The events after the position, at most ``count``, oldest first."""
        at = (position.epoch, position.number)
        words = (branch_key(run), new_id(), *at, count, PAGE_BYTES)
        _, _, _, found = await self._reads.run(_READ, *words, read=_read_page)
        if found is None:
            raise EventsMissedError(str(position))
        return found

    async def open_questions(self, run: RunRef) -> int:
        """Return the number of the branch's requests that are logged without a resolution."""
        words = (branch_key(run), new_id())
        _, _, still_open, _ = await self._client.run(_READ, *words, read=_read_page)
        return max(0, still_open)


def _read_page(reply: Sequence[Any]) -> tuple[str, int, int, Sequence[LoggedEvent] | None]:
    """The epoch, the last number, how many are open; the events where some were asked for."""
    epoch, last, still_open, *found = reply
    name = epoch.decode()
    events = [_event(name, entry) for entry in found[0]] if found else None
    return name, number(last), int(still_open), events


def _event(epoch: str, entry: list[bytes | list[bytes]]) -> LoggedEvent:
    entry_id, fields = entry
    assert isinstance(entry_id, bytes)  # noqa: S101  the shape of a stream's entry
    _, name, _, data, *_ = fields
    assert isinstance(name, bytes) and isinstance(data, bytes)  # noqa: S101, PT018
    number = int(entry_id.partition(b"-")[0])
    return LoggedEvent(Position(epoch, number), name.decode(), data.decode())
