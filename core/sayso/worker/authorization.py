"""Approvers: looked up at the moment of the click, and nobody when in doubt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from sayso.cards.card import CardBody, Choice
from sayso.chats.adapter import Adapter
from sayso.errors import DeliveryError, SubscriptionLostError
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.seldom import Seldom
from sayso.stores.audit import RefusalKind
from sayso.stores.notices import MembersChangedEvent
from sayso.stores.protocols import Bus
from sayso.stores.topics import MEMBERS_TOPIC
from sayso.worker.routing import Route, Routes, is_group

_log = logging.getLogger(__name__)


class Authorization(Enum):
    """The role of an actor towards a request, at the moment of a press.

    An asker is an approver who asked for it: they may deny it and answer it,
    and may not approve it.
    """

    STRANGER = "stranger"
    ASKER = "asker"
    APPROVER = "approver"

    @property
    def refusal(self) -> RefusalKind:
        """Why the actor may not end the request as they want."""
        return "own_request" if self is Authorization.ASKER else "not_approver"

    def allows(self, ending: Resolution) -> bool:
        """Return True if the actor may end the request with this."""
        if self is Authorization.ASKER:
            return ending.outcome is not Outcome.APPROVED
        return self is Authorization.APPROVER


def approves(
    request: UserInputRequest, body: CardBody, choice: Choice, *, by: str, at: datetime
) -> bool:
    """Return True if the choice, one of its card's, approves.

    Of a choice with a form that is known only when it is filled in. Until then it
    is taken to, where the question is one of yes or no and the form is not one of a no:
    whoever may not approve is not asked to fill it in.
    """
    if choice.form is None:
        return request.answer(choice, by=by, at=at).outcome is Outcome.APPROVED
    if choice.falls_back or not choice.needs_sight:
        return False
    plain = (other for other in body.choices if other.form is None)
    return any(approves(request, body, other, by=by, at=at) for other in plain)


REMEMBER_SECONDS = 60.0
"""How long what a platform said of a group and of its members counts.

Reading is slow and rate limited, so it is remembered. Whoever is removed from a group, or
becomes a guest, may still approve for this long where the platform does not tell of it.
"""

# Read again before it is forgotten, so that presses seldom wait for it.
AGAIN_SECONDS = 45.0
# A press has to be answered in time: a platform waits a few seconds for it.
ASK_SECONDS = 1.5
# A group that cannot be read is not asked for at each press: it has nobody for this long.
_FAILED_SECONDS = 5.0
_MOST_PEOPLE = 4_096


@dataclass(frozen=True, slots=True)
class _Group:
    """The members that a group had when it was asked for; a failure is a group of nobody."""

    members: frozenset[str]
    until: float


@dataclass(frozen=True, slots=True)
class _Person:
    """Whether the platform vouches for somebody in a group."""

    counts: bool
    until: float


class Approvers:
    """Knows who may answer which request. An unreadable group has no members.

    Members of a group whom the platform does not vouch for (guests, strangers, bots,
    closed accounts) do not count unless they are named one by one.
    """

    def __init__(
        self,
        routes: Routes,
        adapters: Mapping[str, Adapter],
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        ask_seconds: float = ASK_SECONDS,
    ) -> None:
        self._routes = routes
        self._adapters = adapters
        self._clock = clock
        self._pause = pause
        self._ask_seconds = ask_seconds
        self._groups: dict[str, _Group] = {}
        self._people: dict[str, _Person] = {}
        self._unknown = Seldom(_log)
        self._reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # How often something was forgotten: what was read before that is not remembered after it.
        self._forgotten = 0

    async def standing(self, actor: str, request: UserInputRequest) -> Authorization:
        """What the actor may do about the request, now."""
        route = self._routes.find(request)
        if route is None or not await self._include(actor, route):
            return Authorization.STRANGER
        if self._routes.asked_by(actor, request) and not route.self_approval:
            return Authorization.ASKER
        return Authorization.APPROVER

    async def standing_on(self, actor: str, agent_id: str, subject: str) -> Authorization:
        """What the actor may do about whatever an agent asks of a subject, whoever wants it."""
        route = self._routes.of(agent_id, subject)
        if route is None or not await self._include(actor, route):
            return Authorization.STRANGER
        return Authorization.APPROVER

    async def members(self, group: str) -> frozenset[str]:
        """Who is in a group, such as ``chat:@oncall``; nobody where that is not said in time."""
        try:
            return await asyncio.wait_for(self._members(group), self._ask_seconds)
        except TimeoutError:
            return frozenset()

    def forget(self, platform: str) -> None:
        """Somebody was removed on the platform, or counts no longer: read everything again."""
        self._forgotten += 1
        for known in (self._groups, self._people):
            for name in [name for name in known if name.partition(":")[0] == platform]:
                del known[name]

    @property
    def has_groups(self) -> bool:
        """True if any route has a group among its approvers."""
        return bool(self._routes.groups())

    async def keep_read(self) -> None:
        """Read all groups again and again, until cancelled."""
        while True:
            try:
                await self.refresh()
            except Exception:
                _log.exception("the groups of approvers were not read")
            await self._pause(AGAIN_SECONDS)

    async def refresh(self) -> None:
        """Read all groups again, so that no press has to wait for it."""
        for group in sorted(self._routes.groups()):
            await self._read(group)

    async def _include(self, actor: str, route: Route) -> bool:
        if actor in self._routes.actors(route):
            return True
        platform = actor.partition(":")[0]
        groups = [
            approver
            for approver in route.approvers
            if is_group(approver) and approver.partition(":")[0] == platform
        ]
        if not groups:
            return False
        try:
            async with asyncio.timeout(self._ask_seconds):
                return await self._is_in(groups, actor)
        except TimeoutError:
            self._unknown.say(
                "whether somebody is in a group was not said in time: they may not", actor
            )
            return False

    async def _is_in(self, groups: list[str], actor: str) -> bool:
        for group in groups:
            if actor in await self._members(group):
                return await self._counts(actor)
        return False

    async def _members(self, group: str) -> frozenset[str]:
        async with self._reading[group]:  # whoever waited for it finds what the first one read
            known = self._groups.get(group)
            if known is None or known.until <= self._clock():
                known = await self._read(group)
        return known.members

    async def _read(self, group: str) -> _Group:
        platform, _, name = group.partition(":@")
        adapter, asked_at, forgotten = self._adapters.get(platform), self._clock(), self._forgotten
        if adapter is None:
            return _Group(frozenset(), asked_at)
        try:
            found = _Group(frozenset(await adapter.members(name)), asked_at + REMEMBER_SECONDS)
        except DeliveryError as error:
            _log.warning("group %s cannot be read: %s", group, error)
            return self._unread(group)
        except asyncio.CancelledError:
            self._unread(group)
            raise
        if forgotten == self._forgotten:
            self._groups[group] = found
        return found

    def _unread(self, group: str) -> _Group:
        """What is left of a group that could not be read: what is still remembered, or nobody."""
        known, now = self._groups.get(group), self._clock()
        if known is None or known.until <= now:
            known = self._groups[group] = _Group(frozenset(), now + _FAILED_SECONDS)
        return known

    async def _counts(self, actor: str) -> bool:
        known = self._people.get(actor)
        if known is None or known.until <= self._clock():
            known = await self._look_up(actor)
        return known.counts

    async def _look_up(self, actor: str) -> _Person:
        adapter = self._adapters[actor.partition(":")[0]]
        asked_at, forgotten = self._clock(), self._forgotten
        try:
            found = _Person(await adapter.counts_in_groups(actor), asked_at + REMEMBER_SECONDS)
        except DeliveryError as error:
            self._unknown.say(f"somebody cannot be looked up and may not approve: {error}", actor)
            found = _Person(counts=False, until=self._clock() + _FAILED_SECONDS)
        if forgotten == self._forgotten:
            if len(self._people) >= _MOST_PEOPLE:
                self._people.clear()
            self._people[actor] = found
        return found


_AGAIN_SECONDS = 1.0


class GroupChanges:
    """Lets approvers forget what a change makes untrue, whichever desk heard of it first.

    At most once, as all that is told: what is missed is forgotten in time by itself.
    """

    def __init__(
        self,
        approvers: Approvers,
        bus: Bus,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._approvers = approvers
        self._bus = bus
        self._pause = pause

    async def tell(self, platform: str) -> None:
        """Members of groups changed there: forget them here, and let the other desks know."""
        self._approvers.forget(platform)
        try:
            await self._bus.publish(MEMBERS_TOPIC, MembersChangedEvent(platform=platform))
        except SubscriptionLostError as error:
            _log.warning("other bots notice within a minute that a group changed: %s", error)

    async def hear(self) -> None:
        """Hear what other desks tell, until cancelled; nothing where nobody approves by a group."""
        while self._approvers.has_groups:
            try:
                async with self._bus.subscribe(MEMBERS_TOPIC) as changes:
                    async for change in changes:
                        if isinstance(change, MembersChangedEvent):
                            self._approvers.forget(change.platform)
            except SubscriptionLostError as error:
                _log.warning("changes of groups are not heard at once: %s", error)
            await self._pause(_AGAIN_SECONDS)
