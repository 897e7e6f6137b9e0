"""Who may decide: looked up at the moment of the press, and nobody when in doubt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sayso.chats.adapter import Adapter
from sayso.desk.routes import Route, Routes, is_group
from sayso.desk.standing import Standing
from sayso.errors import DeliveryError
from sayso.events import UserInputRequest

_log = logging.getLogger(__name__)

# Reading a group is slow and rate limited, to 20 a minute where it is strict, so members are
# remembered for a while; whoever is removed from a group may still approve for this long.
REMEMBER_SECONDS = 120.0
_ASK_SECONDS = 1.5
_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Group:
    members: frozenset[str]
    until: float


class Approvers:
    """Knows who may answer which request. An unreadable group has no members."""

    def __init__(self, routes: Routes, adapters: Mapping[str, Adapter]) -> None:
        self._routes = routes
        self._adapters = adapters
        self._groups: dict[str, _Group] = {}

    async def standing(self, actor: str, request: UserInputRequest) -> Standing:
        """What the actor may do about the request, now."""
        route = self._routes.find(request)
        if route is None or not await self._include(actor, route):
            return Standing.STRANGER
        if self._routes.asked_by(actor, request) and not route.self_approval:
            return Standing.ASKER
        return Standing.APPROVER

    async def _include(self, actor: str, route: Route) -> bool:
        if actor in self._routes.actors(route):
            return True
        platform = actor.partition(":")[0]
        for approver in route.approvers:
            same_platform = approver.partition(":")[0] == platform
            if is_group(approver) and same_platform and actor in await self._members(approver):
                return True
        return False

    async def keep_read(self) -> None:
        """Read all groups again and again, until cancelled."""
        while True:
            try:
                await self.refresh()
            except Exception:
                _log.exception("the groups of approvers were not read")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def refresh(self) -> None:
        """Read all groups again, so that no press has to wait for it."""
        for group in sorted(self._routes.groups()):
            await self._read(group)

    async def _members(self, group: str) -> frozenset[str]:
        known = self._groups.get(group)
        if known is None or known.until < time.monotonic():
            try:
                async with asyncio.timeout(_ASK_SECONDS):
                    await self._read(group)
            except TimeoutError:
                _log.warning("group %s could not be read in time: nobody in it may approve", group)
                return frozenset()
            known = self._groups.get(group)
        return known.members if known is not None else frozenset()

    async def _read(self, group: str) -> None:
        platform, _, name = group.partition(":@")
        adapter = self._adapters.get(platform)
        if adapter is None:
            return
        try:
            members = frozenset(await adapter.members(name))
        except DeliveryError as error:
            _log.warning("group %s cannot be read, nobody in it may approve: %s", group, error)
            if (known := self._groups.get(group)) and known.until < time.monotonic():
                del self._groups[group]
            return
        self._groups[group] = _Group(members, time.monotonic() + REMEMBER_SECONDS)
