"""Changes of groups: told to all desks, so that whoever is removed is removed everywhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sayso.desk.approvers import Approvers
from sayso.errors import SubscriptionLostError
from sayso.stores.notices import MembersChangedEvent
from sayso.stores.ports import Bus
from sayso.stores.topics import MEMBERS_TOPIC

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0


class MembersHeard:
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
