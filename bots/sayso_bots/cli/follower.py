"""Following a question that waits: what the store and the bots say of it, onto a screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.errors import SaysoError, SubscriptionLostError
from sayso.events import Event, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.notices import PressNotice, RoutedNotice
from sayso.stores.topics import notice_topic
from sayso.tasks import Background
from sayso_bots.cli.progress import Asked, Bots, Pressed, Progress, Routed, Stands, label_of
from sayso_bots.cli.screen import Screen

_TICK_SECONDS = 1.0
# Once the card stands, there is less to see.
_CALM_TICKS = 5
_READY_SECONDS = 1.0
_AGAIN_SECONDS = 1.0
_MOST_PRESSES = 100


@asynccontextmanager
async def following(
    backend: Backend, run: RunRef, screen: Screen | None, *, ready: float = _READY_SECONDS
) -> AsyncIterator[Callable[[Event], None]]:
    """Show what happens to the next question of the run, which what it yields is told of.

    It fails alone: without the store or the screen the question waits as it would, after
    ``ready`` seconds at most.
    """
    if screen is None:
        yield lambda _event: None
        return
    follower = _Follower(backend, run, screen)
    background = Background("the progress of the question", expected=(OSError,))
    try:
        async with background.during(follower.hear()), background.during(follower.look()):
            with suppress(TimeoutError):
                async with asyncio.timeout(min(ready, _READY_SECONDS)):
                    await follower.hears.wait()
            yield follower.asked
    finally:
        with suppress(OSError):
            screen.close()


class _Follower:
    def __init__(self, backend: Backend, run: RunRef, screen: Screen) -> None:
        self.hears = asyncio.Event()
        self._backend = backend
        self._run = run
        self._screen = screen
        self._request: asyncio.Future[UserInputRequest] = asyncio.Future()
        self._deadline = 0.0
        self._running: bool | None = None
        self._told: set[Progress] = set()
        self._stands = False

    def asked(self, event: Event) -> None:
        """The gate asked, or something ended; nothing is printed here, where it must not fail."""
        if isinstance(event, UserInputRequest) and not self._request.done():
            self._request.set_result(event)

    async def hear(self) -> None:
        """Show the notices of the bots, again after every loss of the bus."""
        while True:
            with suppress(SubscriptionLostError):
                async with self._backend.bus.subscribe(notice_topic(self._run)) as notices:
                    self.hears.set()
                    async for notice in notices:
                        await self._take(notice)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def look(self) -> None:
        """Look whether bots run and where the card stands, and let the time go by."""
        request = await self._request
        left = (request.expires_at - utc_now()).total_seconds()
        self._deadline = asyncio.get_running_loop().time() + left
        self._screen.show(Asked(request.question_id, left))
        ticks = 0
        while True:
            if not self._stands or ticks % _CALM_TICKS == 0:
                # Nothing hangs on what is seen: what cannot be read now is seen later.
                with suppress(SaysoError):
                    await self._see(request.question_id)
            self._screen.tick(self._deadline - asyncio.get_running_loop().time())
            await asyncio.sleep(_TICK_SECONDS)
            ticks += 1

    async def _see(self, question_id: str) -> None:
        running = await self._backend.outbox.count_workers() > 0
        if running is not self._running and (self._running is not None or not running):
            self._screen.show(Bots(running))
        self._running = running
        record = await self._backend.store.get(question_id)
        if record is None or record.ending is not None:
            return
        self._deadline = asyncio.get_running_loop().time() + record.seconds_left
        for copy in record.copies:
            if copy.message_id:
                self._stands = True
                self._once(Stands(str(copy.place)))

    async def _take(self, notice: Event) -> None:
        request = await self._request
        if isinstance(notice, RoutedNotice) and notice.question_id == request.question_id:
            self._once(Routed(notice.places, notice.approvers))
        if isinstance(notice, PressNotice) and notice.question_id == request.question_id:
            label = label_of(request, notice.choice)
            self._once(Pressed(notice.kind, notice.actor, notice.place, label))

    def _once(self, progress: Progress) -> None:
        """Say it once, however often somebody presses."""
        if progress not in self._told and len(self._told) < _MOST_PRESSES:
            self._told.add(progress)
            self._screen.show(progress)
