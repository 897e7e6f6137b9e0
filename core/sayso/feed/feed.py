"""Events of branches for many readers of one process: one subscription, and one read a branch."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Self

from sayso.calls import RunRef
from sayso.errors import EventsMissedError, SaysoError, StoreUnreachableError
from sayso.feed.pages import PAGE_EVENTS, Pages
from sayso.stores.branch_log import (
    BEGINNING,
    LoggedEvent,
    Position,
    branch_of,
    is_full,
)
from sayso.stores.notices import BranchGrewEvent
from sayso.stores.pauses import Pause
from sayso.stores.protocols import BranchLog, Bus
from sayso.stores.topics import LOG_TOPIC

_log = logging.getLogger(__name__)

# The safety net under the bus: at most this long may a lost bell delay an event.
LOOK_EVERY_SECONDS = 60.0
# How far a reader may fall behind the newest event, in events and in characters.
TAIL_EVENTS = 256
TAIL_CHARACTERS = 4 * 1024 * 1024
# How many branches one process reads on at a time.
_BRANCHES_AT_ONCE = 8
_START_SECONDS = 5.0


class BranchFeed:
    """Hands the events of branches to any number of followers.

    The followers of a branch share its newest events and the one read that
    fetched them, so an event costs the store the same for one as for a
    thousand. A follower is a position in them: it holds nothing and waits for
    nobody, and one that falls too far behind is cut off. Those that begin with
    older events share the pages of them.
    """

    def __init__(self, log: BranchLog, bus: Bus, *, start_seconds: float = _START_SECONDS) -> None:
        self._source = log
        self._pages = Pages(log)
        self._turns = asyncio.Semaphore(_BRANCHES_AT_ONCE)
        self._start_seconds = start_seconds
        self._bus = bus
        self._branches: dict[tuple[str, str, str], _Branch] = {}
        self._subscribed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for branch in self._branches.values():
            branch.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._pages.aclose()

    @asynccontextmanager
    async def follow(self, run: RunRef, after: Position | None) -> AsyncIterator[Follower]:
        """The events of the run's branch after a position; from now on where it is None.

        Raises:
            EventsMissedError: events after the position are no longer kept.
            StoreUnreachableError: the store does not answer.
        """
        await self._listening()
        name = branch_of(run)
        branch = self._branches.get(name)
        if branch is None or branch.error is not None:
            # The followers of one that failed are told; whoever comes next starts anew.
            branch = self._branches[name] = _Branch(run, self._source, self._turns)
        branch.followers += 1
        try:
            end = await branch.started()
            follower = Follower(branch, self._pages, end if after is None else after)
            await follower.find_place()
            yield follower
        finally:
            branch.followers -= 1
            if not branch.followers:
                branch.stop()
                if self._branches.get(name) is branch:
                    del self._branches[name]

    async def _listening(self) -> None:
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen()),
                asyncio.create_task(self._look_now_and_then()),
            ]
        try:
            async with asyncio.timeout(self._start_seconds):
                await self._subscribed.wait()
        except TimeoutError:
            raise StoreUnreachableError("the store cannot be subscribed to") from None

    async def _listen(self) -> None:
        pause = Pause()
        while True:
            try:
                async with self._bus.subscribe(LOG_TOPIC) as bells:
                    # Subscribed: from now on branches ring. Look for what they rang before.
                    self._look_everywhere()
                    self._subscribed.set()
                    pause.reset()
                    async for bell in bells:
                        if isinstance(bell, BranchGrewEvent):
                            self._ring(bell)
            except Exception as error:
                self._subscribed.clear()
                foreseen = isinstance(error, SaysoError)
                _log.warning("the feed lost its subscription: %s", error, exc_info=not foreseen)
                await pause.take()

    def _ring(self, bell: BranchGrewEvent) -> None:
        branch = self._branches.get((bell.agent_id, bell.session_id, bell.branch_id))
        if branch is not None:
            branch.ring()

    def _look_everywhere(self) -> None:
        for branch in self._branches.values():
            branch.ring()

    async def _look_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            self._look_everywhere()


class _Branch:
    """The newest events of one branch, as long as anybody follows it."""

    def __init__(self, run: RunRef, source: BranchLog, turns: asyncio.Semaphore) -> None:
        self.run = run
        self.followers = 0
        self.error: SaysoError | None = None
        self.epoch = ""
        self.last = 0
        self.tail: deque[LoggedEvent] = deque()
        self.grown = asyncio.Event()
        self._source = source
        self._turns = turns
        self._characters = 0
        self._starting = asyncio.Lock()
        self._rung = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    @property
    def first(self) -> int:
        """The number of the oldest event of the tail, that of the next one while it is empty."""
        return self.last + 1 - len(self.tail)

    async def started(self) -> Position:
        """Where the branch ends, as far as it is known here."""
        async with self._starting:
            if self._reading is None:
                end = await self._source.end(self.run)
                self.epoch, self.last = end.epoch, end.number
                self._reading = asyncio.create_task(self._read())
                # The bell may have rung while it was not known where to read on.
                self._rung.set()
        return Position(self.epoch, self.last)

    def ring(self) -> None:
        """Read what was appended."""
        self._rung.set()

    def stop(self) -> None:
        """Nobody follows any more."""
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self) -> None:
        pause = Pause()
        while True:
            await self._rung.wait()
            self._rung.clear()
            try:
                while await self._read_on():
                    pass
                pause.reset()
            except EventsMissedError as error:
                self.error = error
                self._wake()
                return
            except Exception as error:
                foreseen = isinstance(error, SaysoError)
                _log.warning("a branch is not read yet: %s", error, exc_info=not foreseen)
                self._rung.set()
                await pause.take()

    async def _read_on(self) -> bool:
        """Read a page; whether there may be more."""
        position = Position(self.epoch, self.last)
        async with self._turns:
            page = await self._source.after(self.run, position, count=PAGE_EVENTS)
        for event in page:
            self.tail.append(event)
            self.last = event.position.number
            self._characters += len(event.data)
        while len(self.tail) > TAIL_EVENTS or (
            self._characters > TAIL_CHARACTERS and len(self.tail) > 1
        ):
            self._characters -= len(self.tail.popleft().data)
        if page:
            self._wake()
        return is_full(page, PAGE_EVENTS)

    def _wake(self) -> None:
        self.grown.set()
        self.grown = asyncio.Event()


class Follower:
    """One reader of a branch: every event after its position, each once, in order."""

    def __init__(self, branch: _Branch, pages: Pages, position: Position) -> None:
        self.position = position
        self._branch = branch
        self._pages = pages
        # The page it is on, shared with others, and how many of its events it has taken.
        self._page: Sequence[LoggedEvent] = ()
        self._taken = 0
        self._caught_up = False

    async def find_place(self) -> None:
        """Go to the position.

        Raises:
            EventsMissedError: events after it are no longer kept.
            StoreUnreachableError: the store does not answer.
        """
        if not self._is_in_tail():
            await self._turn_page()
        else:
            self._caught_up = True

    async def next(self) -> LoggedEvent:
        """The next event, as soon as there is one. May be cancelled and called again.

        Raises:
            EventsMissedError: the events fell out of the tail before they were taken.
            EventsMissedError: the store has lost the log.
            StoreUnreachableError: the store does not answer.
        """
        while True:
            event = await self._found()
            if event is not None:
                self.position = event.position
                return event

    async def _found(self) -> LoggedEvent | None:
        branch = self._branch
        if self._taken < len(self._page):
            await self._pages.turn()
            self._taken += 1
            return self._page[self._taken - 1]
        if branch.error is not None:
            raise branch.error
        if not self._caught_up:
            if not self._is_in_tail():
                await self._turn_page()
                return None
            self._caught_up = True
        behind = self.position.number - branch.first + 1
        if behind < 0:
            raise EventsMissedError(str(self.position), is_slow=True)
        if self.position.number < branch.last:
            return branch.tail[behind]
        await branch.grown.wait()
        return None

    def _is_in_tail(self) -> bool:
        return (
            self.position.epoch == self._branch.epoch
            and self._branch.first - 1 <= self.position.number <= self._branch.last
        )

    async def _turn_page(self) -> None:
        page = await self._pages.after(self._branch, self.position)
        self._page, self._taken = page.events, 0
        if page.events:
            return
        # There is nothing after it yet, so what comes next comes through the tail.
        if self.position == BEGINNING:
            self.position = Position(self._branch.epoch, page.end)
        self._caught_up = True
