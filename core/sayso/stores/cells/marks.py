"""The mark of a cell: which cells make the store together, as the cell itself says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from sayso.calls import RunRef
from sayso.errors import OtherCellsError, StoreUnreachableError
from sayso.stores.addresses import MARK
from sayso.stores.backend import Backend
from sayso.stores.ports import CarriedRule

_KEPT_SECONDS = 400 * 86_400.0
_WIDE = ("agent", "project")


class Marks:
    """Holds each cell against the list of this process, before it is used.

    Sessions are found by the list, so two processes with two lists would look for one
    session in two places. Each cell says which of them it is, too, so that no two change
    places. One without a mark has none of what counts in all cells, because it is
    new or has lost its data: it gets that first, and the mark after it.
    """

    def __init__(self, backends: Mapping[str, Backend], name_of: Callable[[RunRef], str]) -> None:
        self._backends = backends
        self._name_of = name_of
        self._list = " ".join(backends)
        self._fine: set[str] = set()
        self._locks = {name: asyncio.Lock() for name in backends}

    async def check(self, name: str, *, anew: bool = False) -> None:
        """Return when the cell is one of these.

        Raises:
            OtherCellsError: it belongs to other cells, or is another one of these.
            StoreUnreachableError: it does not answer, or cannot become one of these yet.
        """
        if name in self._fine and not anew:
            return
        async with self._locks[name]:
            if name in self._fine and not anew:
                return
            documents = self._backends[name].documents
            mark = await documents.read(MARK, keep=_KEPT_SECONDS)
            if mark is None:
                await self._refuse_strangers(name)
                await self._fill(name)
                own = f"{name} of {self._list}"
                await documents.swap(MARK, None, own, seconds=_KEPT_SECONDS)
                mark = await documents.read(MARK)
            try:
                self._compare(name, mark or "")
            except OtherCellsError:
                self._fine.discard(name)
                raise
            self._fine.add(name)

    def _compare(self, name: str, mark: str) -> None:
        """Hold a cell's mark against the list and the name that it has here."""
        own, _, listed = mark.partition(" of ")
        if listed != self._list:
            raise OtherCellsError(
                f"cell {name} of the store belongs to the cells {listed}, and the cells listed "
                f"here are {self._list}: let all processes have the same [[store.cell]]; "
                "sessions would be looked for in the wrong place"
            )
        if own != name:
            raise OtherCellsError(
                f"what is listed as cell {name} of the store is its cell {own}: let each name lead "
                "where it led before; sessions would be looked for in the wrong place"
            )

    async def _refuse_strangers(self, name: str) -> None:
        """See that what a store had before it became a cell is not looked for elsewhere."""
        backend = self._backends[name]
        runs = [record.request.run for record in await backend.watch.pending()]
        runs += [
            RunRef(kept.agent_id, kept.session_id)
            for kept in await backend.rules.all()
            if kept.remembered.scope not in _WIDE
        ]
        if lost := {run.session_id for run in runs if self._name_of(run) != name}:
            raise StoreUnreachableError(
                f"cell {name} of the store holds {len(lost)} sessions that would be looked for in "
                f"other cells, such as {min(lost)!r:.80}: let their questions and rules end before "
                "it becomes a cell, or give the cell a namespace of its own"
            )

    async def _fill(self, name: str) -> None:
        """Let the cell have the rules that count in all cells, which must be the same cells."""
        for other, backend in self._backends.items():
            if other == name:
                continue
            try:
                mark = await backend.documents.read(MARK)
                kept = await backend.rules.all()
                wide = [one.remembered.rule_id for one in kept if one.remembered.scope in _WIDE]
                carried = [await backend.rules.carried(rule_id) for rule_id in wide]
            except StoreUnreachableError as error:
                raise StoreUnreachableError(
                    f"cell {name} of the store is empty, and what counts in all cells cannot be "
                    f"brought there from cell {other}: {error}"
                ) from error
            if mark is not None:
                # Whoever lists a cell more than there are would find a new one first.
                self._compare(other, mark)
            for rule in carried:
                if isinstance(rule, CarriedRule):
                    await self._backends[name].rules.plant(rule)
