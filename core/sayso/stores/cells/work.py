"""What desks take and share: work from all cells, and what belongs to no session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from sayso.chats.budgets import Budget
from sayso.chats.places import Place
from sayso.errors import OtherCellsError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.cells.cells import Cells, said_of
from sayso.stores.cells.wide import WideRules
from sayso.stores.pauses import Pause
from sayso.stores.ports import Ailment, Due, Intake, Job, OpenLimits, Shown
from sayso.tasks import Background

_log = logging.getLogger(__name__)

_MOST_TAKEN = 100_000
_MOST_HANDED = 64


class CellsOutbox:
    """Work of all cells. While a desk takes it, it also sees that the cells agree on rules."""

    def __init__(self, cells: Cells, wide: WideRules) -> None:
        self._cells = cells
        self._wide = wide

    @asynccontextmanager
    async def jobs(
        self, desk: str, intake: Intake | None = None
    ) -> AsyncIterator[AsyncIterator[Job]]:
        """Jobs for the desk of this name from all cells; one that is away holds up no other."""
        self._cells.home.check()
        upkeep = Background("cells of the store")
        taking = _Taking(asyncio.Queue(maxsize=_MOST_HANDED), asyncio.Event())
        takers = [
            asyncio.create_task(self._take(name, desk, intake, taking))
            for name in self._cells.names
        ]
        try:
            async with upkeep.during(self._wide.run()):
                yield _jobs(taking)
        finally:
            for taker in takers:
                taker.cancel()
            await asyncio.gather(*takers, return_exceptions=True)

    def have(self, desk: str, job: Job) -> None:
        """The desk got this job from the store another way: it keeps it like the others."""
        name, _, receipt = job.receipt.partition(" ")
        self._cells.backends[name].outbox.have(desk, replace(job, receipt=receipt))

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        name, _, receipt = job.receipt.partition(" ")
        await self._cells.backends[name].outbox.done(replace(job, receipt=receipt))

    async def _usable(self, name: str) -> Backend:
        """The cell, once it is one of these: what waits in another one is not ours to take."""
        pause = Pause()
        while True:
            try:
                return await self._cells.reach(name)
            except StoreUnreachableError:
                await pause.take()  # whoever looks after the cells says why

    async def _take(self, name: str, desk: str, intake: Intake | None, taking: _Taking) -> None:
        told = None if intake is None else _CellIntake(self._cells, name, intake)
        try:
            cell = await self._usable(name)
            async with cell.outbox.jobs(desk, told) as jobs:
                await taking.is_wanted.wait()
                async for job in jobs:
                    if self._cells.known(job.question_id) is None:
                        self._cells.note(job.question_id, name)
                    await taking.handed.put(replace(job, receipt=f"{name} {job.receipt}"))
        except Exception as error:
            await taking.handed.put(error)


@dataclass(frozen=True, slots=True)
class _Taking:
    """The jobs of all cells on their way to a desk, and whether it wants any yet."""

    handed: asyncio.Queue[Job | Exception]
    is_wanted: asyncio.Event


async def _jobs(taking: _Taking) -> AsyncIterator[Job]:
    # What comes together in a cell goes on together; what is not taken from here is left to
    # other desks.
    taking.is_wanted.set()
    while True:
        job = await taking.handed.get()
        if isinstance(job, Exception):
            raise job
        yield job


class _CellIntake:
    """A desk as others reach it through one cell: that is where what they tell of lives."""

    def __init__(self, cells: Cells, name: str, intake: Intake) -> None:
        self._cells = cells
        self._name = name
        self._intake = intake

    def rung(self, job: Job) -> None:
        """Another desk settled a request whose card this one posted."""
        if self._is_here(job.question_id):
            self._intake.rung(replace(job, receipt=f"{self._name} {job.receipt}"))

    def heard(self, shown: Shown) -> None:
        """Another desk posted a card."""
        if self._is_here(shown.question_id):
            self._intake.heard(shown)

    def _is_here(self, question_id: str) -> bool:
        """Whether the request can be decided; not where two cells have one of this id."""
        try:
            self._cells.note(question_id, self._name)
        except StoreUnreachableError as error:
            _log.warning("what another desk told is left alone: %s", error)
            return False
        return True


class CellsErrands:
    """Errands in the cells of what they are about; others where their queue is."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._taken: dict[tuple[str, str], str] = {}
        self._first = 0

    async def put(self, queue: str, name: str, *, seconds: float = 0.0, about: str = "") -> None:
        """Let the name be due in so many seconds."""
        cell = self._taken.get((queue, name))
        if cell is None and about:
            cell = await self._cells.name_holding(about)
        cell = cell or self._cells.known(name) or self._cells.named(f"errands {queue}")
        errands = (await self._cells.reach(cell)).errands
        await errands.put(queue, name, seconds=seconds, about=about)

    async def take(self, queue: str, *, most: int, hold: float) -> Due:
        """What is due in the cells that answer."""
        names: list[str] = []
        nexts: list[float] = []
        away: list[StoreUnreachableError] = []
        # Each has its turn to be the first.
        self._first = (self._first + 1) % len(self._cells.names)
        for cell in [*self._cells.names[self._first :], *self._cells.names[: self._first]]:
            try:
                errands = (await self._cells.reach(cell)).errands
                due = await errands.take(queue, most=max(0, most - len(names)), hold=hold)
            except StoreUnreachableError as error:
                away.append(error)
                continue
            for name in due.names:
                self._note(queue, name, cell)
            names += due.names
            nexts += [] if due.next_in is None else [due.next_in]
        if len(away) == len(self._cells.names):
            raise away[0]
        return Due(names, min(nexts, default=None))

    async def done(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        cell = self._taken.pop((queue, name), None)
        if cell is not None:
            await self._cells.backends[cell].errands.done(queue, name)
            return
        said = await self._cells.each(lambda one: one.errands.done(queue, name))
        said.whole("the errand is done")

    def _note(self, queue: str, name: str, cell: str) -> None:
        if len(self._taken) >= _MOST_TAKEN:
            del self._taken[next(iter(self._taken))]
        self._taken[queue, name] = cell


class CellsRoster:
    """The desks at work, which serve all cells."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def join(self, desk: str, *, seconds: float, limits: OpenLimits | None = None) -> None:
        """The desk of this name is at work for so long; each cell keeps the limits by itself."""
        said = await self._cells.each(
            lambda cell: cell.roster.join(desk, seconds=seconds, limits=limits)
        )
        said.whole("the desk is on the roster")

    async def leave(self, desk: str) -> None:
        """The desk has stopped."""
        said = await self._cells.each(lambda cell: cell.roster.leave(desk))
        said.whole("the desk has left")

    async def count(self) -> int:
        """How many desks are at work in some cell."""
        said = await self._cells.some(lambda cell: cell.roster.count(), "the roster")
        return max(said.values())


class CellsLeases:
    """Leases are held in all cells that answer, one after the other in one order."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def ping(self) -> None:
        """Return when one of the cells answers; health looks at each."""
        pings = {asyncio.ensure_future(self._ping(name)) for name in self._cells.names}
        waiting = set(pings)
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if any(one.exception() is None for one in done):
                    return
        finally:
            for one in pings:
                one.cancel()
            said = await asyncio.gather(*pings, return_exceptions=True)
        wrong = [one for one in said if isinstance(one, BaseException)]
        raise next((one for one in wrong if isinstance(one, OtherCellsError)), wrong[0])

    async def _ping(self, name: str) -> None:
        cell = await self._cells.reach(name)
        await cell.leases.ping()

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time.

        Whoever holds it in one cell that answers keeps all others from it, so a cell
        that goes takes no lease with it, and one that comes back brings none.
        """
        away: list[StoreUnreachableError] = []
        for cell in self._cells.backends.values():
            try:
                if not await cell.leases.hold(name, owner, seconds=seconds):
                    return False
            except StoreUnreachableError as error:
                away.append(error)
        if len(away) == len(self._cells.names):
            raise away[0]
        return True

    async def move(self, old: Place, new: Place) -> None:
        """Remember in all cells that a chat has a new address."""
        said = await self._cells.each(lambda cell: cell.leases.move(old, new))
        said.whole("the new address is known")

    async def moved(self, place: Place) -> Place:
        """Where a chat is now, as the first cell that answers says."""
        return await self._cells.first(lambda cell: cell.leases.moved(place))


class CellLeases(CellsLeases):
    """The leases of all cells, as one of them sees them: it answers for itself."""

    def __init__(self, cells: Cells, name: str) -> None:
        super().__init__(cells)
        self._name = name

    async def ping(self) -> None:
        """Return when this cell answers, and is one of these.

        Raises:
            StoreUnreachableError: it cannot be used.
        """
        await self._ping(self._name)


class CellsBudgets:
    """What platforms take of all cells together: kept in one of them, the first that answers."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def reserve(self, budgets: Sequence[Budget]) -> float:
        """In how many seconds the next message of all these budgets may go."""
        return await self._cells.first(lambda cell: cell.budgets.reserve(budgets))


class CellsDrafts:
    """What is half done, each in a cell by its key, or all in the one that is named."""

    def __init__(self, cells: Cells, name: str | None = None) -> None:
        self._cells = cells
        self._name = name

    async def keep(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for this long."""
        await (await self._cell(key)).drafts.keep(key, text, seconds=seconds)

    async def read(self, key: str) -> str | None:
        """The text under the key."""
        return await (await self._cell(key)).drafts.read(key)

    async def take(self, key: str) -> str | None:
        """The text under the key, which is then gone."""
        return await (await self._cell(key)).drafts.take(key)

    async def _cell(self, key: str) -> Backend:
        return await self._cells.reach(self._name or self._cells.named(f"draft {key}"))


class CellsDocuments:
    """Texts, each in a cell by its key, or all in the one that is named."""

    def __init__(self, cells: Cells, name: str | None = None) -> None:
        self._cells = cells
        self._name = name

    async def read(self, key: str, *, keep: float | None = None) -> str | None:
        """The text under the key, None when there is none."""
        return await (await self._cell(key)).documents.read(key, keep=keep)

    async def swap(self, key: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text for this long in the place of another one."""
        cell = await self._cell(key)
        return await cell.documents.swap(key, before, after, seconds=seconds)

    async def now(self) -> datetime:
        """The time by the clock of the cell, or of the first that answers."""
        if self._name is not None:
            return await (await self._cells.reach(self._name)).documents.now()
        said = await self._cells.some(lambda cell: cell.documents.now(), "the time")
        return next(iter(said.values()))

    async def _cell(self, key: str) -> Backend:
        return await self._cells.reach(self._name or self._cells.named(f"document {key}"))


class CellsCheckup:
    """Tries out each cell."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def look(self) -> Sequence[Ailment]:
        """What is wrong, with the cell it is wrong in."""
        found: list[Ailment] = []
        said = await self._cells.each(lambda cell: cell.checkup.look())
        for name in self._cells.names:
            if (error := said.away.get(name)) is not None:
                found.append(Ailment(said_of(name, error)))
                continue
            found += [replace(one, text=f"cell {name}: {one.text}") for one in said.answers[name]]
            try:
                await self._cells.reach(name)
            except StoreUnreachableError as wrong:
                found.append(Ailment(str(wrong)))
        return found
