"""Delivery of bundles: several cards get onto one message, and stay up to date there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sayso.calls import new_id
from sayso.cards.card import Card, Ended, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.desk.card_maker import KEPT_BODIES, CardMaker
from sayso.desk.lanes import Lanes
from sayso.desk.rounds import Rounds
from sayso.errors import DeliveryError, PlaceMovedError
from sayso.stores.ports import Copies, Copy, Found, Leases, Record

_log = logging.getLogger(__name__)

# A card is brought up to date for as long as this after its request ended, then it is left alone.
UPDATE_FOR_SECONDS = 3_600.0

Cards = tuple[Card, ...]


class BundleDelivery:
    """Shows several cards on one message. What it shows is always what the store says of all."""

    def __init__(
        self,
        copies: Copies,
        leases: Leases,
        adapters: Mapping[str, Adapter],
        lanes: Lanes,
        maker: CardMaker,
        note_shown: Callable[[Found], None],
    ) -> None:
        self._copies = copies
        self._leases = leases
        self._adapters = adapters
        self._lanes = lanes
        self._maker = maker
        self._note_shown = note_shown
        self._rounds: Rounds[MessageRef, Cards] = Rounds()
        self._views: dict[str, Open] = {}

    def fitting(self, records: Sequence[Record], place: Place) -> list[Record]:
        """Those that have room on one message there and do not stand there yet."""
        if place.platform not in self._adapters:
            return []
        return [
            record
            for record in records
            if not any(copy.place == place and copy.message_id for copy in record.copies)
            and self._maker.can_share(place.platform, record.request, len(records))
        ]

    async def show(self, records: Sequence[Record], place: Place, until: float) -> bool:
        """Show the requests on one message, trying until ``until``; whether it worked.

        Raises:
            LanesClosedError: the desk stops before it is shown.
            StoreUnreachableError: the copies could not be noted.
        """
        adapter = self._adapters[place.platform]
        copies = await self._issued(records, place)
        try:
            async with asyncio.timeout_at(until):
                while True:
                    try:
                        async with self._lanes.to(copies[0].place).turn():
                            ref = await adapter.show_together(
                                self._open_cards(records, copies), copies[0].place
                            )
                        break
                    except PlaceMovedError as moved:
                        copies = await self._follow(copies, moved)
                    except DeliveryError as error:
                        _log.warning("a card for several calls is not shown yet: %s", error)
                        if error.permanent:
                            return False
                        # The platform may have posted it all the same: then both cards work.
                        copies = await self._issued(records, copies[0].place)
        except TimeoutError:
            return False
        await self._posted(records, copies, ref)
        return True

    async def update(self, copy: Copy, state: Ended | Open) -> None:
        """Make the message of a copy show how things stand with all of its cards.

        Repeated calls share a message to the platform. An open ``state`` says
        which step of this one card is shown from now on.
        """
        if copy.place.platform not in self._adapters or not copy.message_id:
            return
        if isinstance(state, Open):
            # One line at a time is opened up: there is room for no more.
            for handle in copy.siblings:
                self._views.pop(handle, None)
        if isinstance(state, Open) and state != Open():
            self._views[copy.handle] = state
            if len(self._views) > KEPT_BODIES:
                del self._views[next(iter(self._views))]
        ref = MessageRef(Place(copy.place.platform, copy.place.address), copy.message_id)
        await self._rounds.run(ref, partial(self._round, copy))

    async def siblings(self, copy: Copy) -> list[Found]:
        """All cards on the message of a copy that the store still knows, in their order."""
        found = await asyncio.gather(*map(self._copies.find, copy.siblings))
        return [one for one in found if one is not None and one.copy.siblings == copy.siblings]

    async def note_message(self, copy: Copy) -> None:
        """Note on which message a copy stands and, where that is not noted yet, its siblings."""
        for one in await self.siblings(copy):
            if not one.copy.message_id or one.copy.handle == copy.handle:
                await self._copies.mark(
                    replace(one.copy, place=copy.place, message_id=copy.message_id)
                )

    async def _round(self, copy: Copy, begin: Callable[[], None], last: Cards | None) -> Cards:
        """Show what the store says until that has not changed while it was on its way."""
        adapter = self._adapters[copy.place.platform]
        ref = MessageRef(copy.place, copy.message_id)
        shown: Cards = ()
        try:
            async with asyncio.timeout(UPDATE_FOR_SECONDS):
                while True:
                    try:
                        async with self._lanes.to(copy.place).turn():
                            begin()
                            shown = await self._cards(copy)
                            if not shown or shown == last:
                                return shown
                            last = None
                            await adapter.update_together(ref, shown)
                    except DeliveryError as error:
                        _log.warning("a card for several calls is not up to date: %s", error)
                        if error.permanent:
                            return shown
                    else:
                        # Another desk may have shown a later state before this one arrived.
                        if shown == await self._cards(copy):
                            return shown
        except TimeoutError:
            _log.error("a card in %s stays out of date", copy.place)
            return ()

    async def _cards(self, copy: Copy) -> Cards:
        return tuple(self._as_recorded(found) for found in await self.siblings(copy))

    def _as_recorded(self, found: Found) -> Card:
        if found.ending is not None:
            self._views.pop(found.copy.handle, None)
            ended = self._maker.ended(found.request, found.ending)
            return self._maker.card(found.copy, found.request, ended)
        state = self._views.get(found.copy.handle, Open())
        return self._maker.card(found.copy, found.request, state)

    def _open_cards(self, records: Sequence[Record], copies: Sequence[Copy]) -> list[Card]:
        return [
            self._maker.card(copy, record.request, Open())
            for copy, record in zip(copies, records, strict=True)
        ]

    async def _issued(self, records: Sequence[Record], place: Place) -> list[Copy]:
        handles = tuple(new_id() for _ in records)
        copies = [
            Copy(handle, record.request.question_id, place, siblings=handles)
            for handle, record in zip(handles, records, strict=True)
        ]
        await self._issue(copies)
        return copies

    async def _issue(self, copies: Sequence[Copy]) -> None:
        await asyncio.gather(*map(self._copies.issue, copies))

    async def _posted(
        self, records: Sequence[Record], copies: Sequence[Copy], ref: MessageRef
    ) -> None:
        shown = [replace(copy, place=ref.place, message_id=ref.message_id) for copy in copies]
        endings = await asyncio.gather(*map(self._copies.mark, shown))
        for copy, record, ending in zip(shown, records, endings, strict=True):
            if ending is None:
                self._note_shown(Found(copy, record.request, None))
        if any(ending is not None for ending in endings):
            # It ended while it was on its way: the update for that has been missed.
            await self.update(shown[0], Open())

    async def _follow(self, copies: Sequence[Copy], moved: PlaceMovedError) -> list[Copy]:
        place = copies[0].place
        old = Place(place.platform, place.address)
        await self._leases.move(old, replace(old, address=moved.address))
        followed = [replace(copy, place=replace(place, address=moved.address)) for copy in copies]
        await self._issue(followed)
        return followed
