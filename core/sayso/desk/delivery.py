"""Delivery: messages of one card or of several get to their places, and stay up to date there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sayso.calls import new_id
from sayso.cards.card import Card, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import MessageRef, Place
from sayso.desk.card_maker import KEPT_BODIES, CardMaker
from sayso.desk.lanes import Lanes, LanesClosedError
from sayso.desk.rounds import Rounds
from sayso.errors import DeliveryError, PlaceMovedError, StoreUnreachableError
from sayso.stores.ports import Copies, Copy, Found, Leases, Record

_log = logging.getLogger(__name__)

# A message is brought up to date for as long as this, then it is left alone.
_UPDATE_FOR_SECONDS = 3_600.0

Cards = tuple[Card, ...]


class Delivery:
    """Shows and updates messages, patiently, each place in its own lane.

    What a message shows is always what the store says of all its cards.
    """

    def __init__(
        self, copies: Copies, leases: Leases, adapters: Mapping[str, Adapter], maker: CardMaker
    ) -> None:
        self._copies = copies
        self._leases = leases
        self._adapters = adapters
        self._maker = maker
        self._lanes = Lanes()
        self._rounds: Rounds[MessageRef, Cards] = Rounds()
        self._shown: dict[str, Found] = {}
        self._views: dict[str, Open] = {}

    def close(self) -> None:
        """Let messages on their way arrive and send no others."""
        self._lanes.close()

    async def show(
        self, records: Sequence[Record], place: Place, untils: Sequence[float]
    ) -> list[str | BaseException]:
        """Show the requests in one place, on one message where it has room for them.

        For each of them: what prevented it, empty when it is shown, or the
        error it failed with. Each is tried until its time of the event loop in
        ``untils``. One that stands there already is left alone. Those that
        find no room beside the others, and all of them when the platform does
        not take the message, are shown one by one.

        Raises:
            LanesClosedError: the desk stops before they are shown.
            StoreUnreachableError: the copies could not be noted.
        """
        place = await self._leases.moved(place)
        if place.platform not in self._adapters:
            return [f"{place.platform} is not configured" for _ in records]
        why_not = {
            number: f"{place.platform} cannot ask this: {reason}"
            for number, record in enumerate(records)
            if (reason := self._maker.unanswerable(place.platform, record.request))
        }
        missing = [
            record
            for number, record in enumerate(records)
            if number not in why_not and not _stands(record, place)
        ]
        bundle = await self._shown_as_bundle(missing, place, min(untils))
        alone = {
            number
            for number, record in enumerate(records)
            if any(record is one for one in missing) and not any(record is one for one in bundle)
        }
        results = iter(
            await asyncio.gather(
                *(self._post([records[number]], place, untils[number]) for number in sorted(alone)),
                return_exceptions=True,
            )
        )
        return [
            next(results) if number in alone else why_not.get(number, "")
            for number in range(len(records))
        ]

    async def update(self, found: Found, view: Open | None = None) -> None:
        """Make the message of a card show how things stand with all of its cards.

        Repeated calls share a message to the platform. A ``view`` says which
        step of this card is shown from now on while it is open; one card of a
        message at a time is opened up. Gives up on messages that cannot be changed.
        """
        copy = found.copy
        if copy.place.platform not in self._adapters or not copy.message_id:
            return
        if view is not None:
            self._open_up(copy, view)
        ref = MessageRef(Place(copy.place.platform, copy.place.address), copy.message_id)
        await self._rounds.run(ref, partial(self._round, found))

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

    async def bundle(self, found: Found) -> list[Found]:
        """All cards on the message of this one that the store still knows, in their order."""
        handles = found.copy.handles
        there = await asyncio.gather(*(self._look_up(found, handle) for handle in handles))
        return [one for one in there if one is not None and one.copy.handles == handles]

    async def note_message(self, found: Found) -> None:
        """Note on which message a card stands and, where that is not noted yet, the others on it.

        For a card whose desk did not live to say so.
        """
        place, message_id = found.copy.place, found.copy.message_id
        for one in await self.bundle(found):
            if not one.copy.message_id or one.copy.handle == found.copy.handle:
                await self._copies.mark(replace(one.copy, place=place, message_id=message_id))

    async def _look_up(self, found: Found, handle: str) -> Found | None:
        """What the store says of a card; what has ended stays as it is and needs no look."""
        if handle == found.copy.handle and found.ending is not None:
            return found
        return await self._copies.find(handle)

    async def _shown_as_bundle(
        self, records: Sequence[Record], place: Place, until: float
    ) -> Sequence[Record]:
        """Those of the requests that share a message now; none where there is no such message."""
        bundle = [
            record
            for record in records
            if self._maker.can_share(place.platform, record.request, len(records))
        ]
        if len(bundle) < 2:
            return ()
        try:
            return () if await self._post(bundle, place, until) else bundle
        except (LanesClosedError, StoreUnreachableError):
            raise
        except Exception:
            # What goes wrong with one of them must not take the others along.
            _log.exception("a message with several cards is not shown")
            return ()

    async def _post(self, records: Sequence[Record], place: Place, until: float) -> str:
        """Post a message with a card for each request; what prevented it, empty when it stands."""
        adapter = self._adapters[place.platform]
        copies = await self._issued(records, place)
        problem = f"{place} did not answer in time"
        try:
            async with asyncio.timeout_at(until):
                while True:
                    try:
                        async with self._lanes.to(copies[0].place).turn():
                            cards = self._open_cards(records, copies)
                            ref = await adapter.show(cards, copies[0].place)
                        break
                    except PlaceMovedError as moved:
                        copies = await self._follow(copies, moved)
                    except DeliveryError as error:
                        problem = f"{copies[0].place}: {error.reason}"
                        _log.warning("a message is not shown yet: %s", error)
                        if error.permanent:
                            return problem
                        # The platform may have posted it all the same: then both messages work.
                        copies = await self._issued(records, copies[0].place)
        except TimeoutError:
            return problem
        await self._note_posted(records, copies, ref)
        return ""

    def _open_cards(self, records: Sequence[Record], copies: Sequence[Copy]) -> list[Card]:
        return [
            self._maker.card(Found(copy, record.request, None))
            for copy, record in zip(copies, records, strict=True)
        ]

    async def _issued(self, records: Sequence[Record], place: Place) -> list[Copy]:
        """New copies of the requests for one message there, noted in the store."""
        handles = tuple(new_id() for _ in records)
        copies = [
            Copy(
                handle,
                record.request.question_id,
                place,
                bundle=handles if len(handles) > 1 else (),
            )
            for handle, record in zip(handles, records, strict=True)
        ]
        await self._issue(copies)
        return copies

    async def _issue(self, copies: Sequence[Copy]) -> None:
        await asyncio.gather(*map(self._copies.issue, copies))

    async def _follow(self, copies: Sequence[Copy], moved: PlaceMovedError) -> list[Copy]:
        place = copies[0].place
        old = Place(place.platform, place.address)
        await self._leases.move(old, replace(old, address=moved.address))
        followed = [replace(copy, place=replace(place, address=moved.address)) for copy in copies]
        await self._issue(followed)
        return followed

    async def _note_posted(
        self, records: Sequence[Record], copies: Sequence[Copy], ref: MessageRef
    ) -> None:
        shown = [replace(copy, place=ref.place, message_id=ref.message_id) for copy in copies]
        endings = await asyncio.gather(*map(self._copies.mark, shown))
        ended = None
        for copy, record, ending in zip(shown, records, endings, strict=True):
            found = Found(copy, record.request, ending)
            if ending is None:
                self._note_shown(found)
            else:
                ended = found
        if ended is not None:
            # It ended while it was on its way: the update for that has been missed.
            await self.update(ended)

    def _note_shown(self, found: Found) -> None:
        if self._maker.keeps(found.request):
            self._shown[found.copy.handle] = found
            if len(self._shown) > KEPT_BODIES:
                del self._shown[next(iter(self._shown))]

    def _open_up(self, copy: Copy, view: Open) -> None:
        """From now on the card has this view, and the others on its message their first one."""
        for handle in copy.handles:
            self._views.pop(handle, None)
        if view != Open():
            self._views[copy.handle] = view
            if len(self._views) > KEPT_BODIES:
                del self._views[next(iter(self._views))]

    async def _round(self, found: Found, begin: Callable[[], None], last: Cards | None) -> Cards:
        """Show what the store says until that has not changed while it was on its way.

        What is shown then, nothing where that is not known.
        """
        place = found.copy.place
        adapter = self._adapters[place.platform]
        ref = MessageRef(place, found.copy.message_id)
        try:
            async with asyncio.timeout(_UPDATE_FOR_SECONDS):
                while True:
                    try:
                        async with self._lanes.to(place).turn():
                            begin()
                            shown = await self._cards(found)
                            if not shown or shown == last:
                                return shown
                            last = None
                            await adapter.update(ref, shown)
                    except DeliveryError as error:
                        _log.warning("a message is not up to date: %s", error)
                        if error.permanent:
                            return ()
                    else:
                        # Another desk may have shown a later state before this one arrived.
                        if shown == await self._cards(found):
                            return shown
        except TimeoutError:
            _log.error("a message in %s stays out of date", place)
            return ()

    async def _cards(self, found: Found) -> Cards:
        return tuple(self._as_recorded(one) for one in await self.bundle(found))

    def _as_recorded(self, found: Found) -> Card:
        if found.ending is not None:
            self._views.pop(found.copy.handle, None)
        return self._maker.card(found, self._views.get(found.copy.handle, Open()))


def _stands(record: Record, place: Place) -> bool:
    return any(copy.place == place and copy.message_id for copy in record.copies)
