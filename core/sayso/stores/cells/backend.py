"""The backend on several stores, which looks like one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from sayso.calls import RunRef
from sayso.stores.addresses import CellAddress, read_cells
from sayso.stores.backend import Backend
from sayso.stores.cells.bus import CellsBus
from sayso.stores.cells.cells import Cells
from sayso.stores.cells.memories import CellsAudit, CellsFloors, CellsLog, CellsRules
from sayso.stores.cells.requests import (
    CellsCopies,
    CellsKeyed,
    CellsStore,
    CellStore,
    CellsUses,
    CellsWatch,
)
from sayso.stores.cells.wide import WideRules
from sayso.stores.cells.work import (
    CellLeases,
    CellsBudgets,
    CellsCheckup,
    CellsDocuments,
    CellsDrafts,
    CellsErrands,
    CellsLeases,
    CellsOutbox,
    CellsRoster,
)
from sayso.stores.inbox import Inbox

Opening = Callable[[str, str], AbstractAsyncContextManager[Backend]]
"""Opens the cell at a URL, by its name."""


@dataclass(frozen=True, slots=True)
class CellsBackend(Backend):
    """Several stores as one."""

    made_of: Cells = field(kw_only=True)
    views: Mapping[str, Backend] = field(kw_only=True)

    @property
    def cells(self) -> Mapping[str, Backend]:
        """The stores that this one is made of, by their names."""
        return self.views

    @property
    def away(self) -> Sequence[str]:
        """The cells that did not answer when all of them were asked last."""
        return self.made_of.away

    def at(self, run: RunRef) -> Backend:
        """The cell of the run's session: what its requests need of all cells is done there, too."""
        return self.views[self.made_of.name_of(run)]


def cells_backend(address: str, opening: Opening) -> AbstractAsyncContextManager[Backend]:
    """The backend of all cells of an address, each opened by its own URL.

    Raises:
        ConfigError: the address cannot be read.
    """
    listed = read_cells(address)
    return _opened([(cell, opening(cell.url, cell.name)) for cell in listed])


@asynccontextmanager
async def _opened(
    listed: list[tuple[CellAddress, AbstractAsyncContextManager[Backend]]],
) -> AsyncIterator[Backend]:
    async with AsyncExitStack() as stack:
        cells = Cells(
            {cell.name: await stack.enter_async_context(opened) for cell, opened in listed}
        )
        wide = await stack.enter_async_context(WideRules(cells))
        bus, watch = CellsBus(cells), CellsWatch(cells)
        inbox = await stack.enter_async_context(Inbox(bus, watch))
        store, rules = CellsStore(cells, wide), CellsRules(cells, wide)
        yield CellsBackend(
            store=store,
            watch=watch,
            keyed=CellsKeyed(cells),
            copies=CellsCopies(cells),
            rules=rules,
            floors=CellsFloors(cells),
            audit=CellsAudit(cells),
            bus=bus,
            outbox=CellsOutbox(cells, wide),
            leases=CellsLeases(cells),
            budgets=CellsBudgets(cells),
            roster=CellsRoster(cells),
            drafts=CellsDrafts(cells),
            documents=CellsDocuments(cells),
            errands=CellsErrands(cells),
            uses=CellsUses(cells),
            log=CellsLog(cells),
            checkup=CellsCheckup(cells),
            inbox=inbox,
            made_of=cells,
            views=_views(cells, wide),
        )


def _views(cells: Cells, wide: WideRules) -> Mapping[str, Backend]:
    """Each cell as those see it whose session lives there: what is of all cells is done in all."""
    return {
        name: replace(
            cell,
            store=CellStore(cells, wide, name),
            rules=CellsRules(cells, wide),
            leases=CellLeases(cells, name),
            drafts=CellsDrafts(cells, name),
            documents=CellsDocuments(cells, name),
        )
        for name, cell in cells.backends.items()
    }
