"""The logs of branches in the memory of one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from sayso.calls import RunRef, new_id
from sayso.clock import Clock
from sayso.errors import EventsMissedError
from sayso.events import Event
from sayso.questions.wire import encode
from sayso.stores.branch_log import (
    BEGINNING,
    KEPT_BYTES,
    KEPT_EVENTS,
    KEPT_SECONDS,
    PAGE_BYTES,
    LoggedEvent,
    LogKind,
    Position,
    branch_of,
)
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.records import Records
from sayso.stores.topics import LOG_TOPIC

_KEPT = timedelta(seconds=KEPT_SECONDS)


@dataclass(slots=True)
class _Log:
    until: datetime
    epoch: str = field(default_factory=new_id)
    last: int = 0
    open: int = 0
    size: int = 0
    events: deque[LoggedEvent] = field(default_factory=deque)

    def append(self, event: LoggedEvent) -> None:
        self.events.append(event)
        self.size += event.size
        while len(self.events) > 1 and (len(self.events) > KEPT_EVENTS or self.size > KEPT_BYTES):
            self.size -= self.events.popleft().size


class MemoryBranchLog:
    """The newest events of each branch, until nobody has written or read them for a week."""

    def __init__(self, bus: MemoryBus, records: Records, clock: Clock) -> None:
        self._bus = bus
        self._records = records
        self._clock = clock
        self._logs: dict[tuple[str, str, str], _Log] = {}

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring, once per question and kind."""
        logged = self._records.get(question_id).logged
        if kind in logged:
            return False
        logged.add(kind)
        # Only where a desk keeps a log is one more event to be known.
        from sayso.stores.notices import BranchGrewEvent

        log = self._log(run)
        log.last += 1
        log.open += {"request": 1, "ending": -1}.get(kind, 0)
        name = getattr(event, "type", type(event).__name__)
        position = Position(log.epoch, log.last)
        log.append(LoggedEvent(position, name, encode(event).decode()))
        await self._bus.publish(LOG_TOPIC, BranchGrewEvent.of(run))
        return True

    async def end(self, run: RunRef) -> Position:
        """The position after the newest event."""
        log = self._log(run)
        return Position(log.epoch, log.last)

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        """The events after the position, at most ``count``, oldest first."""
        log = self._log(run)
        oldest = log.events[0].position.number if log.events else log.last + 1
        if position != BEGINNING and (
            position.epoch != log.epoch or not oldest - 1 <= position.number <= log.last
        ):
            raise EventsMissedError(str(position))
        start = max(0, position.number - oldest + 1)
        page: list[LoggedEvent] = []
        size = 0
        for event in islice(log.events, start, start + count):
            page.append(event)
            size += event.size
            if size >= PAGE_BYTES:
                break
        return page

    async def open_questions(self, run: RunRef) -> int:
        """Return the number of the branch's requests that are logged without a resolution."""
        log = self._logs.get(branch_of(run))
        return 0 if log is None else log.open

    def _log(self, run: RunRef) -> _Log:
        now = self._clock()
        # They stand in the order in which they were touched.
        while self._logs and next(iter(self._logs.values())).until <= now:
            del self._logs[next(iter(self._logs))]
        branch = branch_of(run)
        log = self._logs.pop(branch, None) or _Log(now)
        log.until = now + _KEPT
        self._logs[branch] = log
        return log
