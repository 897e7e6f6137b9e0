"""Rules that count beyond a session: the same in all cells."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Literal, Self

from sayso.errors import StoreUnreachableError
from sayso.rules.rule import RememberedRule
from sayso.seldom import Seldom
from sayso.stores.cells.cells import Cells, said_of
from sayso.stores.ports import CarriedRule
from sayso.tasks import Background

_log = logging.getLogger(__name__)

QUEUE = "cells:rules"
_BY = "sayso"
_HOLD_SECONDS = 4.0
_AGAIN_SECONDS = 2.0
_SOON_SECONDS = 1.0
_AT_ONCE = 100
# A rule that was to be stored, and that nobody knows yet.
_LATE, _LATE_SECONDS = " late", 60.0

_Standing = CarriedRule | Literal["revoked"] | None


def is_wide(rule: RememberedRule) -> bool:
    """Whether the rule counts in more than one session."""
    return rule.scope in ("agent", "project")


class WideRules:
    """Brings rules of an agent or a project to all cells, and takes them back in all.

    An intention is left in a cell before anything is done, and stays until all
    cells agree: what a cell that is away should know, it is told when it is back. Rules never
    come back: what was revoked in one cell is revoked in all of them.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._waits = Seldom(_log)
        self._spreading = Background("bringing a rule to all cells")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        # What is cut short is done by whoever looks after the cells: the intention stands.
        await self._spreading.cancel()

    async def intend(self, name: str, rule_id: str) -> None:
        """Note in a cell that all of them should agree on the rule.

        Raises:
            StoreUnreachableError: it was not noted.
        """
        errands = self._cells.backends[name].errands
        await errands.put(QUEUE, rule_id, seconds=_HOLD_SECONDS)

    async def spread_soon(self, name: str, rule_id: str, *, by: str = _BY) -> None:
        """Let the cells agree on a rule; nobody waits long for one that hangs."""
        spreading = self._spreading.start(self.spread(name, rule_id, by=by))
        await asyncio.wait({spreading}, timeout=_SOON_SECONDS)

    async def spread(self, name: str, rule_id: str, *, by: str = _BY) -> None:
        """Let the cells that answer agree on a rule; the intention in a cell is then over."""
        said = await self._cells.each(lambda cell: cell.rules.carried(rule_id))
        errands = self._cells.backends[name].errands
        try:
            missed = {**said.away, **await self._agree(rule_id, said.answers, by)}
            if not missed:
                if all(one is None for one in said.answers.values()):
                    # A store that hangs may store it yet: it is looked for once more.
                    await errands.put(QUEUE, f"{rule_id}{_LATE}", seconds=_LATE_SECONDS)
                await errands.done(QUEUE, rule_id)
                return
        except StoreUnreachableError as error:
            missed = {name: error}
        why = "; ".join(said_of(one, error) for one, error in missed.items())
        self._waits.say(f"a rule for several sessions does not count in all cells yet: {why}")

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back in all cells; False where none has it.

        Raises:
            StoreUnreachableError: none that answers has it, and not all answer.
        """
        said = await self._cells.each(lambda cell: cell.rules.carried(rule_id))
        there = {name: one for name, one in said.answers.items() if isinstance(one, CarriedRule)}
        if not there:
            if said.away:
                said.whole("the rule is not known")
            return False
        # The one whose request stored it, where that answers: its cards are told.
        home = max(there, key=lambda name: bool(there[name].question_id))
        rules = self._cells.backends[home].rules
        if not there[home].is_wide:
            return await rules.revoke(rule_id, by=by)
        await self.intend(home, rule_id)
        is_revoked = await rules.revoke(rule_id, by=by)
        await self.spread_soon(home, rule_id, by=by)
        return is_revoked

    async def run(self) -> None:
        """Bring about what is still to be done, until cancelled."""
        while True:
            await self._cells.look_again()
            for name in self._cells.names:
                await self._go_on(name)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _go_on(self, name: str) -> None:
        try:
            due = await self._cells.backends[name].errands.take(
                QUEUE, most=_AT_ONCE, hold=_HOLD_SECONDS
            )
            for rule_id in due.names:
                await self.spread(name, rule_id.removesuffix(_LATE))
                if rule_id.endswith(_LATE):
                    await self._cells.backends[name].errands.done(QUEUE, rule_id)
        except StoreUnreachableError as error:
            self._waits.say(f"rules for several sessions wait for cell {name}: {error}")
        except Exception:
            _log.exception("rules for several sessions are not in all cells yet")

    async def _agree(
        self, rule_id: str, standing: Mapping[str, _Standing], by: str
    ) -> Mapping[str, StoreUnreachableError]:
        """Do in each cell what is missing there; why it could not be done, by cell."""
        known = [one for one in standing.values() if isinstance(one, CarriedRule)]
        revoked = "revoked" in standing.values()
        missed: dict[str, StoreUnreachableError] = {}
        for name, one in standing.items():
            rules = self._cells.backends[name].rules
            try:
                if revoked and isinstance(one, CarriedRule):
                    await rules.revoke(rule_id, by=by, noted=False)
                elif known and not revoked and one is None:
                    await rules.plant(known[0])
            except StoreUnreachableError as error:
                missed[name] = error
        return missed
