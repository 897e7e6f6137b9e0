"""Who is called for a question in one place, now: approvers who may approve it and are there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sayso.calling.manners import Calling
from sayso.cards.called import NOBODY, Call, Called
from sayso.chats.caller import Caller
from sayso.chats.places import Place
from sayso.clock import Clock
from sayso.errors import DeliveryError
from sayso.events import UserInputRequest
from sayso.seldom import Seldom
from sayso.worker.authorization import Approvers
from sayso.worker.card_builder import Localizer
from sayso.worker.routing import Route, Routes, is_group

_log = logging.getLogger(__name__)

MOST_CALLED = 20
"""So many are called at once at most: whoever names more has named nobody."""

_ASK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Whom:
    """Who is to be called; nobody, and ``quiet_until`` then, in quiet hours."""

    people: tuple[Called, ...] = ()
    quiet_until: datetime | None = None


class Mentions:
    """Knows whom to call. Nothing is decided on it: whoever is not called may answer all the same.

    An approver who may not approve the question, because they asked, is not called, nor
    one who is away or in their quiet hours. Where the platform does not say
    who is there, all are called.
    """

    def __init__(
        self,
        routes: Routes,
        approvers: Approvers,
        callers: Mapping[str, Caller],
        *,
        clock: Clock,
        speech: Localizer,
        ask_seconds: float = _ASK_SECONDS,
    ) -> None:
        self._routes = routes
        self._approvers = approvers
        self._callers = callers
        self._clock = clock
        self._speech = speech
        self._ask_seconds = ask_seconds
        self._untold = Seldom(_log)

    def manner(self, request: UserInputRequest) -> Calling:
        """How the route of the request calls people."""
        route = self._routes.find(request)
        return Calling(notify="none") if route is None else route.calling

    async def call(self, request: UserInputRequest, place: Place) -> Call:
        """What the message with the request does there to be noticed."""
        manner = self.manner(request)
        if place.platform not in self._callers or manner == Calling(notify="none"):
            return NOBODY
        whom = await self.whom(request, place)
        translations = self._speech.of(request, place)
        if whom.quiet_until is not None:
            zone = manner.quiet.zone if manner.quiet else whom.quiet_until.tzinfo
            until = f"{whom.quiet_until.astimezone(zone):%H:%M %Z}"
            return Call(
                quietly=True,
                note=translations.gettext(
                    "Quiet hours until {until}: nobody is called. It waits, and expires as always."
                ).format(until=until),
            )
        if manner.notify != "mention" or not whom.people:
            return NOBODY
        return Call(people=whom.people, lead=translations.gettext("For"))

    async def whom(self, request: UserInputRequest, place: Place) -> Whom:
        """Who of the platform of this place is to be called now, as it can mention them."""
        route, caller = self._routes.find(request), self._callers.get(place.platform)
        if route is None or caller is None:
            return Whom()
        if route.calling.quiet and (until := route.calling.quiet.until(self._clock())):
            return Whom(quiet_until=until)
        wanted, quiet = await self._wanted(route, request, place)
        if not wanted:
            return Whom(quiet_until=min(quiet, default=None))
        return Whom(tuple(await self._there(caller, wanted[:MOST_CALLED])))

    async def _wanted(
        self, route: Route, request: UserInputRequest, place: Place
    ) -> tuple[list[Called], list[datetime]]:
        """Those who are to be called, and until when the others have their quiet hours."""
        quiet: list[datetime] = []
        wanted: dict[str, None] = {}
        for approver in route.approvers:
            for actor in sorted(self._routes.people.get(approver, {approver})):
                if actor.partition(":")[0] != place.platform:
                    continue
                if not is_group(actor):
                    wanted |= {
                        one: None for one in [actor] if self._may(one, route, request, quiet)
                    }
                    continue
                members = await self._approvers.members(actor)
                called = sorted(one for one in members if self._may(one, route, request, quiet))
                # A group is called as one, unless somebody in it is not to be.
                whole = len(called) == len(members)
                wanted |= dict.fromkeys([actor] if whole else called)
        # Whoever has the card in their own chat with the bot hears of it there.
        own = f"{place.platform}:{place.address}"
        return [Called(one, self._routes.name(one)) for one in wanted if one != own], quiet

    def _may(
        self, actor: str, route: Route, request: UserInputRequest, quiet: list[datetime]
    ) -> bool:
        if self._routes.asked_by(actor, request) and not route.self_approval:
            return False
        reach = self._routes.reach_of(actor)
        if reach.away:
            return False
        until = reach.quiet.until(self._clock()) if reach.quiet else None
        if until is not None:
            quiet.append(until)
        return until is None

    async def _there(self, caller: Caller, wanted: Sequence[Called]) -> Sequence[Called]:
        try:
            async with asyncio.timeout(self._ask_seconds):
                return await caller.reachable(wanted)
        except (DeliveryError, TimeoutError) as error:
            why = str(error) or "it took too long"
            self._untold.say(f"who is away was not said, so all are called: {why}", caller.platform)
            return [one for one in wanted if not is_group(one.actor)]
