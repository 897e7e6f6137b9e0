"""Delivery: copies of cards get to their places, and stay up to date there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from assent.calls import new_id
from assent.cards import Card, CardBody, Choice, Ended, Open
from assent.errors import DeliveryError, PlaceMovedError
from assent.events import RequestEnding, UserInputRequest
from assent.lanes import Lanes
from assent.places import MessageRef, Place
from assent.ports import Adapter, Clock, Copies, Copy, Found, Leases, Record
from assent.routes import Routes
from assent.terms import Terms, span

_log = logging.getLogger(__name__)

# A card is brought up to date for as long as this after its request ended, then it is left alone.
UPDATE_FOR_SECONDS = 3_600.0
_KEPT_BODIES = 8_192
_KEPT_CHARACTERS = 4_000


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
        clock: Clock,
    ) -> None:
        self._copies = copies
        self._leases = leases
        self._adapters = adapters
        self._routes = routes
        self._terms = terms
        self._clock = clock
        self._lanes = Lanes()
        self._bodies: dict[str, CardBody] = {}
        self._shown: dict[str, Found] = {}

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
        adapter = self._adapters[copy.place.platform]
        return Card(
            handle=copy.handle,
            body=self._body(request),
            asker=request.asker,
            expires_at=request.expires_at,
            limit=adapter.content_limit,
            reveal_limit=adapter.reveal_limit,
            revealed=copy.revealed,
            state=state,
        )

    def ended(self, request: UserInputRequest, ending: RequestEnding) -> Ended:
        """The state of a card whose request has ended."""
        return Ended(
            outcome=ending.outcome.value,
            at=ending.decided_at,
            by=ending.decided_by or "",
            by_name=self._routes.name(ending.decided_by or ""),
            reason=ending.reason,
            stored=request.stored(ending),
        )

    def _body(self, request: UserInputRequest) -> CardBody:
        """What the request puts on its card: the same for ever, and wanted several times."""
        body = self._bodies.get(request.question_id)
        if body is None:
            body = self._made_body(request)
            if len(body.content) <= _KEPT_CHARACTERS:
                self._bodies[request.question_id] = body
                if len(self._bodies) > _KEPT_BODIES:
                    del self._bodies[next(iter(self._bodies))]
        return body

    def _made_body(self, request: UserInputRequest) -> CardBody:
        body = request.card()
        return replace(body, choices=self._offered(body.choices), more=self._offered(body.more))

    def _offered(self, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
        """The choices that these terms allow, each with how long it would hold."""
        return tuple(
            self._timed(choice) if choice.stores else choice
            for choice in choices
            if not choice.stores or choice.scope in self._terms.scopes
        )

    def _timed(self, choice: Choice) -> Choice:
        lasts = self._terms.lasts(choice.scope)
        for_so_long = f" for {span(lasts)}"
        label = choice.label + for_so_long if choice.scope == "tool-window" else choice.label
        return replace(choice, label=label, stores=f"{choice.stores},{for_so_long}", lasts=lasts)

    async def _post(self, adapter: Adapter, request: UserInputRequest, copy: Copy) -> None:
        card = self.card(copy, request, Open())
        async with self._lanes.to(copy.place).turn():
            ref = await adapter.show(card, copy.place)
        shown = replace(copy, place=ref.place, message_id=ref.message_id)
        if (ending := await self._copies.mark(shown)) is not None:
            # It ended while it was on its way: the update for that has been missed.
            await self.update(shown, request, self.ended(request, ending))
        elif request.question_id in self._bodies:
            self._shown[shown.handle] = Found(shown, request, None)
            if len(self._shown) > _KEPT_BODIES:
                del self._shown[next(iter(self._shown))]

    async def _follow(self, copy: Copy, moved: PlaceMovedError) -> Copy:
        old = Place(copy.place.platform, copy.place.address)
        await self._leases.move(old, replace(old, address=moved.address))
        followed = replace(copy, place=replace(copy.place, address=moved.address))
        await self._copies.issue(followed)
        return followed
