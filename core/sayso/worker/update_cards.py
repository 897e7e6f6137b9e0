"""Updating cards: messages are edited until they show what the store says."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Generic, TypeVar

from sayso.cards.card import Card, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.protocols import Copies, Copy, Found
from sayso.tasks import Background, together
from sayso.worker.card_builder import KEPT_BODIES, CardBuilder
from sayso.worker.poison_guard import PoisonGuard
from sayso.worker.send_queue import Rank, SendQueue, ShutdownError, Timer

_log = logging.getLogger(__name__)

_Key = TypeVar("_Key", bound=Hashable)
_Done = TypeVar("_Done")

Work = Callable[[Callable[[], None], _Done | None], Awaitable[_Done]]
"""Gets ``begin``, to call before it looks at anything, and what the round right before it did."""


class Rounds(Generic[_Key, _Done]):
    """Runs work by key, one round after the other.

    Whoever asks while a round waits for its turn shares it; whoever asks after
    it began gets the next one, which may find that nothing is left to do.
    """

    def __init__(self) -> None:
        self._waiting: dict[_Key, asyncio.Task[None]] = {}
        self._newest: dict[_Key, asyncio.Task[None]] = {}
        self._last: dict[_Key, _Done] = {}

    def begin(self, key: _Key, work: Work[_Done]) -> asyncio.Task[None]:
        """A round that begins after this is called; its end is waited for with ``ended``."""
        task = self._waiting.get(key)
        if task is None:
            round_ = self._round(key, work, self._newest.get(key))
            task = self._waiting[key] = self._newest[key] = asyncio.create_task(round_)
            task.add_done_callback(_heard)
        return task

    async def _round(self, key: _Key, work: Work[_Done], before: asyncio.Task[None] | None) -> None:
        mine = asyncio.current_task()

        def begin() -> None:
            if self._waiting.get(key) is mine:
                del self._waiting[key]

        try:
            if before is not None:
                await asyncio.wait((before,))
            done = await work(begin, self._last.pop(key, None))
            begin()
            if key in self._waiting:
                self._last[key] = done
        finally:
            begin()
            if self._newest.get(key) is mine:
                del self._newest[key]


async def ended(rounds: Iterable[asyncio.Task[None]]) -> None:
    """Wait for these rounds; fails as soon as one of them does.

    Whoever waits and goes away leaves them to the others.
    """
    if waiting := set(rounds):
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()


def _heard(task: asyncio.Task[None]) -> None:
    """Those who wait are told; that all of them went away is no error of its own."""
    if not task.cancelled():
        task.exception()


# A message is brought up to date for as long as this, then it is left alone.
_UPDATE_FOR_SECONDS = 3_600.0
_LOOK_AGAIN_SECONDS = 0.5

Cards = tuple[Card, ...]


class CardUpdater:
    """Updates messages, patiently, each place in its own lane, and endings before anything else.

    What a message shows is always what the store says of all its cards.
    """

    def __init__(
        self,
        copies: Copies,
        adapters: Mapping[str, Adapter],
        maker: CardBuilder,
        lanes: SendQueue,
        caution: PoisonGuard,
        *,
        background: Background,
        timer: Timer,
    ) -> None:
        self._copies = copies
        self._adapters = adapters
        self._maker = maker
        self._lanes = lanes
        self._caution = caution
        self._background = background
        self._timer = timer
        self._waits = Seldom(_log)
        self._rounds: Rounds[tuple[str, str, str], Cards] = Rounds()
        self._views: dict[str, Open] = {}

    async def update(self, found: Found, view: Open | None = None) -> None:
        """Make the message of a card show how things stand with all of its cards.

        Repeated calls share a message to the platform. A ``view`` says which
        step of this card is shown from now on while it is open; one card of a
        message at a time is opened up. Gives up on messages that cannot be changed.
        """
        await ended(self._begin(found, view))

    async def update_all(self, found: Iterable[Found]) -> None:
        """The same for several cards at once; fails as soon as one of them does."""
        await ended(chain.from_iterable(self._begin(one) for one in found))

    def _begin(self, found: Found, view: Open | None = None) -> Sequence[asyncio.Task[None]]:
        """What updates the message of a card; nothing where there is none that could be."""
        copy = found.copy
        if copy.place.platform not in self._adapters or not copy.message_id:
            return ()
        if view is not None:
            self._open_up(copy, view)
        message = (copy.place.platform, copy.place.address, copy.message_id)
        is_over = found.ending is not None or copy.closed_at is not None
        # Whoever looks at what is over goes before no ending.
        rank = Rank.ENDED if is_over and view is None else Rank.CHANGED
        return (self._rounds.begin(message, partial(self._round, found, rank)),)

    async def bundle(self, found: Found) -> list[Found]:
        """All cards on the message of this one that the store still knows, in their order."""
        handles = found.copy.handles
        there = await together(self._look_up(found, handle) for handle in handles)
        return [one for one in there if one is not None and one.copy.handles == handles]

    async def note_message(self, found: Found, message: MessageRef) -> None:
        """Note on which message a card stands and, where that is not noted yet, the others on it.

        For a card whose desk did not live to say so. A card that another
        message shows by now is closed here.
        """
        closed = None
        for one in await self.bundle(found):
            if not one.copy.message_id:
                now = await self._copies.mark(one.copy.at(message))
                closed = closed or now.closed_at
        if closed is not None:
            there = replace(found, copy=replace(found.copy.at(message), closed_at=closed))
            self._background.start(self.update(there))

    async def _look_up(self, found: Found, handle: str) -> Found | None:
        """Read a card from the store, which knows at least as much as ``found``.

        Except of a request that it lost: how that ended is known here alone.
        """
        now = await self._copies.find(handle)
        is_lost = found.ending is not None and (now is None or now.ending is None)
        return found if is_lost and handle == found.copy.handle else now

    def _open_up(self, copy: Copy, view: Open) -> None:
        """From now on the card has this view, and the others on its message their first one."""
        for handle in copy.handles:
            self._views.pop(handle, None)
        if view != Open():
            self._views[copy.handle] = view
            if len(self._views) > KEPT_BODIES:
                del self._views[next(iter(self._views))]

    async def _round(
        self, found: Found, rank: Rank, begin: Callable[[], None], last: Cards | None
    ) -> Cards:
        """Show what the store says until that has not changed while it was on its way.

        What is shown then, nothing where that is not known.
        """
        try:
            async with asyncio.timeout(_UPDATE_FOR_SECONDS):
                return await self._shown_as_it_is(found, rank, begin, last)
        except TimeoutError:
            _log.error("a message in %s stays out of date", found.copy.place)
            return ()

    async def _shown_as_it_is(
        self, found: Found, rank: Rank, begin: Callable[[], None], last: Cards | None
    ) -> Cards:
        place, is_bare, agent = found.copy.place, False, found.request.run.agent_id
        budgets = self._adapters[place.platform].limits.budgets(place, "update")
        while True:
            try:
                async with self._lanes.turn(place, rank, budgets, agent=agent):
                    begin()
                    bundle, shown, is_new = await self._sent(found, last, is_bare=is_bare)
                # Another desk may have shown a later state before this one arrived.
                if not is_new or (now := await self.bundle(found)) == bundle:
                    return shown
                if shown == await self._cards(found, now, is_bare=is_bare):
                    return shown
            except DeliveryError as error:
                _log.warning("a message is not up to date: %s", error)
                if error.permanent:
                    return ()
            except StoreUnreachableError as error:
                self._waits.say(f"a message is not up to date: {error}")
                await self._timer.sleep(_LOOK_AGAIN_SECONDS)
            except ShutdownError:
                raise
            except Exception:
                if is_bare:
                    raise
                # Its buttons must go, whatever else it shows.
                _log.exception("a message cannot be shown as it is: only how it ended is shown")
                is_bare = True
            last = None

    async def _sent(
        self, found: Found, last: Cards | None, *, is_bare: bool
    ) -> tuple[Sequence[Found], Cards, bool]:
        """What the store says, what the message shows now, and whether that was sent just now."""
        adapter = self._adapters[found.copy.place.platform]
        ref = MessageRef(found.copy.place, found.copy.message_id)
        # How it ended, and no more than that, is shown without caution.
        caution = nullcontext() if is_bare else self._caution.about(found.copy.question_id)
        async with caution:
            bundle = await self.bundle(found)
            cards = await self._cards(found, bundle, is_bare=is_bare)
            is_new = is_bare or bool(cards and cards != last)
            if is_new:
                await adapter.update(ref, cards)
            return bundle, cards, is_new

    async def _cards(self, found: Found, bundle: Sequence[Found], *, is_bare: bool) -> Cards:
        if not is_bare:
            await self._maker.prepare(found.copy.target, *(one.request for one in bundle))
        return tuple(
            self._maker.bare(one) if is_bare and one.ending is not None else self._as_recorded(one)
            for one in bundle
        )

    def _as_recorded(self, found: Found) -> Card:
        view = self._views.get(found.copy.handle, Open())
        if found.ending is not None and not view.details:
            # What was opened up while it was open is over.
            self._views.pop(found.copy.handle, None)
        return self._maker.card(found, view)
