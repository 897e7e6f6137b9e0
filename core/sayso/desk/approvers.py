"""Who may decide: looked up at the moment of the press, and nobody when in doubt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from sayso.chats.adapter import Adapter
from sayso.desk.routes import Route, Routes, is_group
from sayso.desk.standing import Standing
from sayso.errors import DeliveryError
from sayso.events import UserInputRequest
from sayso.seldom import Seldom

_log = logging.getLogger(__name__)

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

    async def standing(self, actor: str, request: UserInputRequest) -> Standing:
        """What the actor may do about the request, now."""
        route = self._routes.find(request)
        if route is None or not await self._include(actor, route):
            return Standing.STRANGER
        if self._routes.asked_by(actor, request) and not route.self_approval:
            return Standing.ASKER
        return Standing.APPROVER

    async def standing_on(self, actor: str, agent_id: str, subject: str) -> Standing:
        """What the actor may do about whatever an agent asks of a subject, whoever wants it."""
        route = self._routes.of(agent_id, subject)
        if route is None or not await self._include(actor, route):
            return Standing.STRANGER
        return Standing.APPROVER

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
        """Whether any route has a group among its approvers."""
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
