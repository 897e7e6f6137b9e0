"""Delivery: copies of cards get to their places, and stay up to date there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sayso.always.terms import Terms
from sayso.calls import new_id
from sayso.cards.card import Card, Ended, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.desk.bundle_delivery import UPDATE_FOR_SECONDS, BundleDelivery
from sayso.desk.card_maker import KEPT_BODIES, CardMaker
from sayso.desk.lanes import Lanes, LanesClosedError
from sayso.desk.routes import Routes
from sayso.errors import DeliveryError, PlaceMovedError, StoreUnreachableError
from sayso.events import RequestEnding, UserInputRequest
from sayso.questions.refusing import Refusals
from sayso.stores.ports import Copies, Copy, Found, Leases, Record

_log = logging.getLogger(__name__)


class Delivery:
    """Shows and updates the copies of cards, patiently, each place in its own lane."""

    def __init__(
        self,
        copies: Copies,
        leases: Leases,
        adapters: Mapping[str, Adapter],
        routes: Routes,
        *,
        terms: Terms,
        refusals: Refusals,
    ) -> None:
        self._copies = copies
        self._leases = leases
        self._adapters = adapters
        self._lanes = Lanes()
        self._shown: dict[str, Found] = {}
        self.maker = CardMaker(adapters, routes, terms=terms, refusals=refusals)
        self.bundles = BundleDelivery(
            copies, leases, adapters, self._lanes, self.maker, self._note_shown
        )

    def close(self) -> None:
        """Let messages on their way arrive and send no others."""
        self._lanes.close()

    async def show(self, record: Record, place: Place, until: float) -> str:
        """Show the request in one place; what prevented it, empty when it is shown.

        Tries until ``until`` (a time of the event loop). A copy that stands
        there already is left alone.

        Raises:
            LanesClosedError: the desk stops before it is shown.
            StoreUnreachableError: the copy could not be noted.
        """
        place = await self._leases.moved(place)
        adapter = self._adapters.get(place.platform)
        if adapter is None:
            return f"{place.platform} is not configured"
        standing = [copy for copy in record.copies if copy.place == place and copy.message_id]
        if standing:
            return ""
        copy = Copy(new_id(), record.request.question_id, place)
        await self._copies.issue(copy)
        problem = f"{place} did not answer in time"
        try:
            async with asyncio.timeout_at(until):
                while True:
                    try:
                        await self._post(adapter, record.request, copy)
                    except PlaceMovedError as moved:
                        copy = await self._follow(copy, moved)
                    except DeliveryError as error:
                        problem = f"{copy.place}: {error.reason}"
                        _log.warning("a card is not shown yet: %s", error)
                        if error.permanent:
                            return problem
                        # The platform may have posted it all the same: then both cards work.
                        copy = replace(copy, handle=new_id())
                        await self._copies.issue(copy)
                    else:
                        return ""
        except TimeoutError:
            return problem

    async def show_together(
        self, records: Sequence[Record], place: Place, untils: Sequence[float]
    ) -> Sequence[str | BaseException]:
        """Show the requests in one place, on one message where it has room for them.

        For each of them what ``show`` says or raises. Those that find no
        room, and all of them when the platform does not take the message, are
        shown one by one.

        Raises:
            LanesClosedError: the desk stops before they are shown.
            StoreUnreachableError: the copies could not be noted.
        """
        place = await self._leases.moved(place)
        together = await self._shown_together(records, place, min(untils))
        left = [not any(record is one for one in together) for record in records]
        results = iter(
            await asyncio.gather(
                *(
                    self.show(record, place, until)
                    for record, until, alone in zip(records, untils, left, strict=True)
                    if alone
                ),
                return_exceptions=True,
            )
        )
        return [next(results) if alone else "" for alone in left]

    async def _shown_together(
        self, records: Sequence[Record], place: Place, until: float
    ) -> Sequence[Record]:
        fitting = self.bundles.fitting(records, place)
        if len(fitting) < 2:
            return ()
        try:
            return fitting if await self.bundles.show(fitting, place, until) else ()
        except (LanesClosedError, StoreUnreachableError):
            raise
        except Exception:
            # What goes wrong with one of them must not take the others along.
            _log.exception("several calls are not shown together")
            return ()

    def shown(self, handle: str) -> Found | None:
        """The open card behind a handle as it was posted from here; None where that is not known.

        The newest few thousand are kept. What became of the request since
        then, in another process or here, is not in it: the store knows.
        """
        return self._shown.get(handle)

    def forget(self, copies: Iterable[Copy]) -> None:
        """These cards take no more decisions."""
        for copy in copies:
            self._shown.pop(copy.handle, None)

    async def update(self, copy: Copy, request: UserInputRequest, state: Ended | Open) -> None:
        """Make a copy show how things stand. Gives up on messages that cannot be changed."""
        if copy.siblings:
            await self.bundles.update(copy, state)
            return
        adapter = self._adapters.get(copy.place.platform)
        if adapter is None or not copy.message_id:
            return
        message = MessageRef(copy.place, copy.message_id)
        try:
            async with asyncio.timeout(UPDATE_FOR_SECONDS):
                while True:
                    try:
                        async with self._lanes.to(copy.place).turn():
                            state = await self._now(copy, request, state)
                            await adapter.update(message, self.card(copy, request, state))
                    except DeliveryError as error:
                        _log.warning("a card is not up to date: %s", error)
                        if error.permanent:
                            return
                    else:
                        if state == await self._now(copy, request, state):
                            return
        except TimeoutError:
            _log.error("a card in %s stays out of date", copy.place)

    async def _now(
        self, copy: Copy, request: UserInputRequest, state: Ended | Open
    ) -> Ended | Open:
        """The state to show: a request that has ended meanwhile is never shown open again."""
        if isinstance(state, Ended):
            return state
        found = await self._copies.find(copy.handle)
        if found is None or found.ending is None:
            return state
        return self.ended(request, found.ending)

    def card(self, copy: Copy, request: UserInputRequest, state: Ended | Open) -> Card:
        """The card of a copy as its place can show it."""
        return self.maker.card(copy, request, state)

    def ended(self, request: UserInputRequest, ending: RequestEnding) -> Ended:
        """The state of a card whose request has ended."""
        return self.maker.ended(request, ending)

    def _note_shown(self, found: Found) -> None:
        if self.maker.keeps(found.request):
            self._shown[found.copy.handle] = found
            if len(self._shown) > KEPT_BODIES:
                del self._shown[next(iter(self._shown))]

    async def _post(self, adapter: Adapter, request: UserInputRequest, copy: Copy) -> None:
        card = self.card(copy, request, Open())
        async with self._lanes.to(copy.place).turn():
            ref = await adapter.show(card, copy.place)
        shown = replace(copy, place=ref.place, message_id=ref.message_id)
        if (ending := await self._copies.mark(shown)) is not None:
            # It ended while it was on its way: the update for that has been missed.
            await self.update(shown, request, self.ended(request, ending))
        else:
            self._note_shown(Found(shown, request, None))

    async def _follow(self, copy: Copy, moved: PlaceMovedError) -> Copy:
        old = Place(copy.place.platform, copy.place.address)
        await self._leases.move(old, replace(old, address=moved.address))
        followed = replace(copy, place=replace(copy.place, address=moved.address))
        await self._copies.issue(followed)
        return followed
