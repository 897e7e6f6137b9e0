"""The logs of branches in the memory of one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sayso.calls import RunRef, new_id
from sayso.errors import EventsGoneError, UnknownRequestError
from sayso.events import Event
from sayso.questions.wire import encode
from sayso.stores.branch_log import (
    BEGINNING,
    KEPT_BYTES,
    KEPT_EVENTS,
    PAGE_BYTES,
    LoggedEvent,
    LogKind,
    Position,
    branch_of,
)
from sayso.stores.memory.bus import MemoryBus


@dataclass(slots=True)
class _Log:
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
    """Logs that live as long as the process, each with its newest events."""

    def __init__(self, bus: MemoryBus, knows: Callable[[str], bool]) -> None:
        self._bus = bus
        self._knows = knows
        self._logs: dict[tuple[str, str, str], _Log] = {}
        self._written: set[tuple[str, LogKind]] = set()

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring, once per question and kind."""
        if not self._knows(question_id):
            raise UnknownRequestError(question_id)
        if (question_id, kind) in self._written:
            return False
        self._written.add((question_id, kind))
        # Only where a desk keeps a log is one more event to be known.
        from sayso.stores.branch_bell import LOG_TOPIC, BranchGrewEvent

        log = self._log(run)
        log.last += 1
        log.open += {"request": 1, "ending": -1, "outcome": 0}[kind]
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
        """The events after the position, at most so many, the oldest of them first."""
        log = self._log(run)
        oldest = log.events[0].position.number if log.events else log.last + 1
        if position != BEGINNING and (
            position.epoch != log.epoch or not oldest - 1 <= position.number <= log.last
        ):
            raise EventsGoneError(str(position))
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
        """How many questions of the branch were logged and their endings not yet."""
        log = self._logs.get(branch_of(run))
        return 0 if log is None else log.open

    def _log(self, run: RunRef) -> _Log:
        return self._logs.setdefault(branch_of(run), _Log())
