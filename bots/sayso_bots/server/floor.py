"""The server's policy as the floor of all agents on its store: laid, and kept there."""

from __future__ import annotations

import asyncio
import logging

from sayso.errors import StoreUnreachableError
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.ports import Floors

_log = logging.getLogger(__name__)

# A store that lost everything has no floor for so long at most.
_SECONDS = 5.0


class Laying:
    """Lays what the policy denies on the store: at the start, when it changes, and when it is lost.

    Several servers on one store should have one policy. Where they do not, the
    one that was started or changed last counts, and the others say so.
    """

    def __init__(self, floors: Floors, policy: ServerPolicy, *, seconds: float = _SECONDS) -> None:
        self._floors = floors
        self._policy = policy
        self._seconds = seconds
        self._changed = asyncio.Event()
        self._told = ""

    async def lay(self) -> None:
        """Lay it now, whatever is there.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        self._changed.clear()
        try:
            await self._floors.lay(self._policy.floor)
        except BaseException:
            self._changed.set()
            raise

    def change(self) -> None:
        """The policy is another one: lay it soon."""
        self._changed.set()

    async def run(self) -> None:
        """Keep it there, for ever."""
        while True:
            try:
                async with asyncio.timeout(self._seconds):
                    await self._changed.wait()
            except TimeoutError:
                pass
            try:
                await (self.lay() if self._changed.is_set() else self._keep())
            except StoreUnreachableError as error:
                _log.warning("what the policy denies could not be laid on the store: %s", error)
                await asyncio.sleep(self._seconds)

    async def _keep(self) -> None:
        own = self._policy.floor
        there = await self._floors.lay(own, unless_other=True)
        is_other = bool(there) and there != own.version
        if is_other and there != self._told:
            _log.warning(
                "another server on this store has another policy, and what that one denies counts "
                "for agents with policies of their own; let all have the same [[policy]]"
            )
        self._told = there if is_other else ""
