"""Requests, their cards and their uses: each in the cell of its session."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sayso.calls import RunRef
from sayso.errors import (
    UnknownCellError,
    UnreadableEventError,
)
from sayso.events import Resolution, UserInputRequest
from sayso.rules.rule import RememberedRule
from sayso.stores.backend import Backend
from sayso.stores.cells.cells import OURS, Cells
from sayso.stores.cells.wide import WideRules, is_wide
from sayso.stores.handles import cell_in, new_handle
from sayso.stores.ports import (
    KEPT,
    BookChanged,
    Copy,
    Found,
    Hold,
    Joined,
    Marked,
    Offer,
    Opened,
    Record,
    Sequel,
    Settled,
    Upkeep,
    Use,
    Went,
)
from sayso.stores.told import refuse_unfilled


class CellsStore:
    """Requests, each in the cell of its session."""

    def __init__(self, cells: Cells, wide: WideRules) -> None:
        self._cells = cells
        self._wide = wide

    async def open(
        self,
        request: UserInputRequest,
        *,
        seconds: float,
        inbox: str,
        book: str | None,
        ending: Resolution | None = None,
        key: str = "",
        sequel: Sequel | None = None,
        audited: bool = True,
    ) -> Opened | BookChanged | Joined:
        """Record the request in the cell of its session."""
        refuse_unfilled(request)
        name = self._cells.name_of(request.run)
        cell = await self._cells.reach(name)
        if len(request.question_id) != OURS:
            # Somebody's own id: another session may have it, in another cell that answers. If one
            # that is away has it, neither is decided once it is back.
            await self._cells.name_holding(request.question_id, (name,))
        self._cells.check_new(request.question_id, name)
        opened = await cell.store.open(
            request,
            seconds=seconds,
            inbox=inbox,
            book=book,
            ending=ending,
            key=key,
            sequel=sequel,
            audited=audited,
        )
        if isinstance(opened, Joined):
            self._cells.note(opened.record.request.question_id, name)
        elif isinstance(opened, Opened):
            self._cells.note(request.question_id, name)
        return opened

    async def settle(
        self,
        question_id: str,
        ending: Resolution,
        *,
        remember: RememberedRule | None = None,
        handle: str = "",
        delivery: str = "",
        seen: str = "",
        upkeep: Upkeep | None = None,
    ) -> Settled:
        """Record the ending; a rule for more than its session counts in all cells then."""
        name = await self._cells.name_of_request(question_id)
        wide = remember if remember is not None and is_wide(remember) else None
        if wide is not None:
            await self._wide.intend(name, wide.rule_id)
        settled = await self._cells.backends[name].store.settle(
            question_id,
            ending,
            remember=remember,
            handle=handle,
            delivery=delivery,
            seen=seen,
            upkeep=upkeep,
        )
        if wide is not None:
            await self._wide.spread_soon(name, wide.rule_id)
        return replace(settled, receipt=f"{name} {settled.receipt}") if settled.receipt else settled

    async def settle_later(
        self, question_id: str, ending: Resolution, *, seconds: float
    ) -> Resolution | None:
        """Let the request end with this in so many seconds."""
        cell = await self._cells.of_request(question_id)
        return await cell.store.settle_later(question_id, ending, seconds=seconds)

    async def overrule(self, question_id: str, denial: Resolution) -> Resolution:
        """Put a denial in the place of a recorded approval of a call."""
        return await (await self._cells.of_request(question_id)).store.overrule(question_id, denial)

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request."""
        cell = await self._cells.holding(question_id)
        return None if cell is None else await cell.store.get(question_id)


class CellStore(CellsStore):
    """Requests as whoever names a session looks for them: in its cell, and others that answer."""

    def __init__(self, cells: Cells, wide: WideRules, name: str) -> None:
        super().__init__(cells, wide)
        self._name = name

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request; None where its cell would be one that is away."""
        name = await self._cells.name_holding(question_id, (self._name,))
        return None if name is None else await self._cells.backends[name].store.get(question_id)


class CellsWatch:
    """What waiting processes and tidy desks look at, in all cells."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def look(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, Resolution | UnreadableEventError | None]:
        """The endings recorded so far."""
        by_cell: defaultdict[str, list[str]] = defaultdict(list)
        for question_id in question_ids:
            if (name := await self._cells.name_holding(question_id)) is not None:
                by_cell[name].append(question_id)
        looks = (
            self._cells.backends[name].watch.look(ids, inbox=inbox) for name, ids in by_cell.items()
        )
        return {
            question_id: ending
            for endings in await asyncio.gather(*looks)
            for question_id, ending in endings.items()
        }

    async def expire(self) -> float | None:
        """End all requests whose time is over; those of a cell that is away when it is back."""
        said = await self._cells.each(lambda cell: cell.watch.expire())
        lefts = said.whole("expired requests are ended").values()
        return min((left for left in lefts if left is not None), default=None)

    async def shorten(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier."""
        return await (await self._cells.of_request(question_id)).watch.shorten(question_id, seconds)

    async def retain(self, question_id: str, *, seconds: float) -> None:
        """Let the request be known for so many seconds from now at least."""
        if (cell := await self._cells.holding(question_id)) is not None:
            await cell.watch.retain(question_id, seconds=seconds)

    async def asked_last(self, run: RunRef) -> Sequence[UserInputRequest]:
        """What the run's session asked people last."""
        return await (await self._cells.of(run)).watch.asked_last(run)

    async def pending(self, run: RunRef | None = None) -> Sequence[Record]:
        """The open requests of the cells that answer, the first to expire first."""
        if run is not None:
            return await (await self._cells.of(run)).watch.pending(run)
        said = await self._cells.some(lambda cell: cell.watch.pending(), "what waits")
        found = [record for records in said.values() for record in records]
        return sorted(found, key=lambda record: record.request.expires_at)


class CellsKeyed:
    """Requests by their keys, which are those of a session."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def find(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        record = await (await self._cells.of(run)).keyed.find(run, key, hold=hold)
        if record is not None:
            self._cells.note(record.request.question_id, self._cells.name_of(run))
        return record

    async def leave(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold."""
        cell = await self._cells.holding(question_id)
        return cell is not None and await cell.keyed.leave(question_id, waiter, ending=ending)


class CellsCopies:
    """Cards, in the cells of their requests. A handle begins with its cell."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def new_handle(self, question_id: str) -> str:
        """A random handle for a card of the request."""
        return new_handle(await self._cells.name_of_request(question_id))

    async def issue(self, copy: Copy, *, keep: timedelta = KEPT) -> None:
        """Bind a new handle to its request and place."""
        await (await self._cells.of_request(copy.question_id)).copies.issue(copy, keep=keep)

    async def drop(self, copy: Copy) -> None:
        """Forget an intention that was not carried out."""
        if (cell := await self._cells.holding(copy.question_id)) is not None:
            await cell.copies.drop(copy)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to, in the cell that it names.

        One that names none is looked for in all of them.
        """
        name = cell_in(handle)
        if name and name not in self._cells.backends:
            raise UnknownCellError(name)
        if name:
            found = await (await self._cells.reach(name)).copies.find(handle, delivery=delivery)
            return self._noted(found, name)
        said = await self._cells.each_named(lambda one: self._find(one, handle, delivery=delivery))
        for one, found in said.answers.items():
            if found is not None:
                return self._noted(found, one)
        said.whole("the card is not known")
        return None

    async def mark(self, copy: Copy, *, offer: Offer | None = None) -> Marked:
        """Note the message a copy became."""
        return await (await self._cells.of_request(copy.question_id)).copies.mark(copy, offer=offer)

    async def _find(self, name: str, handle: str, *, delivery: str) -> Found | None:
        return await self._cells.backends[name].copies.find(handle, delivery=delivery)

    def _noted(self, found: Found | None, name: str) -> Found | None:
        if found is not None:
            self._cells.note(found.copy.question_id, name)
        return found


class CellsUses:
    """What became of approvals, in the cells of their requests."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    async def take(
        self, question_id: str, key: str, *, until: datetime, book: str | None = None
    ) -> Use | BookChanged | None:
        """Use an approval, once."""
        cell: Backend = await self._cells.of_request(question_id)
        return await cell.uses.take(question_id, key, until=until, book=book)

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went."""
        return await (await self._cells.of_request(question_id)).uses.report(
            question_id, went, note
        )

    async def lapse(self, question_id: str) -> bool:
        """Record that an approval was not used."""
        return await (await self._cells.of_request(question_id)).uses.lapse(question_id)
