"""The server's policy as the floor of all agents on its store: laid, and kept there."""

from __future__ import annotations

import asyncio
import logging

from sayso.errors import StoreUnreachableError
from sayso.policy.server_policy import ServerPolicy
from sayso.stores.protocols import RuleStore

_log = logging.getLogger(__name__)

# A store that lost everything has no floor for so long at most.
_SECONDS = 5.0


class Laying:
    """Lays what the policy denies on the store: at the start, when it changes, and when it is lost.

    Several servers on one store should have one policy. Where they do not, the
    one that was started or changed last counts, and the others say so. A server
    without any policy takes none away: it leaves what is there.
    """

    def __init__(
        self, floors: RuleStore, policy: ServerPolicy, *, seconds: float = _SECONDS
    ) -> None:
        self._floors = floors
        self._policy = policy
        self._seconds = seconds
        self._changed = asyncio.Event()
        self._had_policy = False
        self._laid = ""
        self._told = ""

    async def lay(self) -> None:
        """Lay it now, whatever is there; who has no policy lays nothing over that of another.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        self._changed.clear()
        own, has_policy = self._policy.floor, bool(self._policy.sections)
        try:
            there = await self._floors.set_guardrails(own, unless_other=True)
            if there not in ("", own.version):
                if not (has_policy or self._had_policy):
                    self._say_other(there)
                    return
                await self._floors.set_guardrails(own)
                if there != self._laid:
                    _log.info("this policy replaces another one that was laid on the store")
        except BaseException:
            self._changed.set()
            raise
        self._had_policy, self._laid = has_policy, own.version

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
        there = await self._floors.set_guardrails(own, unless_other=True)
        if there not in ("", own.version):
            self._say_other(there)
        else:
            self._told = ""

    def _say_other(self, there: str) -> None:
        """Say once that another floor is there."""
        if there == self._told:
            return
        self._told = there
        if self._policy.sections:
            _log.warning(
                "another server on this store has another policy, and what that one denies counts "
                "for agents with policies of their own; let all have the same [[policy]]"
            )
        else:
            _log.warning(
                "there is no [[policy]] here, and what that of another server on this store "
                "denies still counts for agents with policies of their own; give this one the "
                "same, or take it away with an empty [[policy]]"
            )
