"""What sessions remember, and what happened: merged over the cells where nobody names a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from sayso.calls import RunRef
from sayso.events import Event
from sayso.rules.book import RuleBook
from sayso.rules.floor import Floor
from sayso.stores.audit import AuditEntry, AuditPage, Facts, RefusalKind
from sayso.stores.branch_log import LoggedEvent, LogKind, Position
from sayso.stores.cells.cells import Cells
from sayso.stores.cells.wide import WideRules
from sayso.stores.ports import CarriedRule, KeptRule


class CellsRules:
    """Rules of sessions in their cells; those of agents and projects are in all of them."""

    def __init__(self, cells: Cells, wide: WideRules) -> None:
        self._cells = cells
        self._wide = wide

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run."""
        return await (await self._cells.of(run)).rules.book(run)

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what may be had once in a session."""
        return await (await self._cells.of(run)).rules.spend(run, key)

    async def recall(self, run: RunRef, name: str) -> str | None:
        """What the run's session keeps under the name."""
        return await (await self._cells.of(run)).rules.recall(run, name)

    async def swap(self, run: RunRef, name: str, before: str | None, after: str | None) -> bool:
        """Keep a text in the place of another one."""
        return await (await self._cells.of(run)).rules.swap(run, name, before, after)

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules by the run, in the cell of its session."""
        return await (await self._cells.of(run)).rules.use(run, *rule_ids, digest=digest, book=book)

    async def all(self) -> Sequence[KeptRule]:
        """All rules of the cells that answer, each once, with the uses in all of them."""
        said = await self._cells.some(lambda cell: cell.rules.all(), "what is remembered")
        merged: dict[str, KeptRule] = {}
        for kept in (one for some in said.values() for one in some):
            rule_id = kept.remembered.rule_id
            merged[rule_id] = _both(merged[rule_id], kept) if rule_id in merged else kept
        return sorted(
            merged.values(), key=lambda one: (one.remembered.stored_at, one.remembered.rule_id)
        )

    async def revoke(self, rule_id: str, *, by: str, noted: bool = True) -> bool:  # noqa: ARG002
        """Take a rule back wherever it counts."""
        return await self._wide.revoke(rule_id, by=by)

    async def carried(self, rule_id: str) -> CarriedRule | Literal["revoked"] | None:
        """The rule as another store would keep it, of the first cell that has it."""
        said = (await self._cells.each(lambda cell: cell.rules.carried(rule_id))).whole("looked")
        if "revoked" in said.values():
            return "revoked"
        return next((one for one in said.values() if one is not None), None)

    async def plant(self, rule: CarriedRule) -> bool:
        """Keep a rule that another store keeps, in all cells."""
        said = await self._cells.each(lambda cell: cell.rules.plant(rule))
        return any(said.whole("the rule is kept").values())


def _both(one: KeptRule, other: KeptRule) -> KeptRule:
    first, second = one.remembered, other.remembered
    moments = [at for at in (first.last_used_at, second.last_used_at) if at is not None]
    rule = replace(first, uses=first.uses + second.uses, last_used_at=max(moments, default=None))
    return replace(one, remembered=rule, question_id=one.question_id or other.question_id)


class CellsFloors:
    """One floor under all cells."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def lay(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor in all cells; the version of another one where one of them has it.

        Raises:
            CellAwayError: it is laid in those that answer.
            StoreUnreachableError: none of them answers.
        """
        said = await self._cells.each(
            lambda cell: cell.floors.lay(floor, unless_other=unless_other)
        )
        versions = said.whole("the floor is laid").values()
        others = [there for there in versions if there not in ("", floor.version)]
        return others[0] if others else next(iter(versions))


class CellsAudit:
    """What happened in all cells, as one."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """Note that a press on a known request was refused."""
        cell = await self._cells.holding(question_id)
        return cell is not None and await cell.audit.refuse(
            question_id, refusal, by=by, place=place, choice=choice
        )

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """Read the last entries of the cells that answer, oldest first."""
        if count <= 0:
            return []
        said = await self._cells.some(
            lambda cell: cell.audit.read(count, since=since, until=until, wanted=wanted),
            "the audit",
        )
        entries = [entry for some in said.values() for entry in some]
        return sorted(entries, key=lambda entry: entry.at)[-count:]

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """Read the entries of the cells that answer from a moment on, oldest first."""
        said = await self._cells.some(
            lambda cell: cell.audit.read_page(since, count=count), "the audit"
        )
        until = min(page.until for page in said.values())
        entries = [entry for page in said.values() for entry in page.entries if entry.at < until]
        return AuditPage(sorted(entries, key=lambda entry: entry.at), until)

    async def trim(self, keep: timedelta) -> None:
        """Drop the decisions of the cells that answer that are older than this."""
        await self._cells.some(lambda cell: cell.audit.trim(keep), "the audit is trimmed")

    async def note(self, facts: Facts) -> None:
        """Write an entry on what was decided without a question, in the cell of its session."""
        about = RunRef(facts.get("agent_id", "") or "-", facts.get("session_id", "") or "-")
        await (await self._cells.of(about)).audit.note(facts)


class CellsLog:
    """Logs of branches, each in the cell of its session."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring."""
        return await (await self._cells.of(run)).log.append(run, question_id, kind, event)

    async def end(self, run: RunRef) -> Position:
        """The position after the newest event of the run's branch."""
        return await (await self._cells.of(run)).log.end(run)

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        """The events after the position."""
        return await (await self._cells.of(run)).log.after(run, position, count=count)

    async def open_questions(self, run: RunRef) -> int:
        """How many questions of the branch are logged without their endings."""
        return await (await self._cells.of(run)).log.open_questions(run)
