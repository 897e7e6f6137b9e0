"""A cell that neither answers nor refuses holds up nobody whose work is in another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from support.cells import asked_in, in_cell

from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.cells import cells_backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_response, a_rule, until

ADDRESS = "memory://?cell=00 memory://?cell=01 memory://?cell=02"
SOON = 5.0


@dataclass
class Hung:
    """A cell of which some ports hang, until they are let go on; ``asked`` counts their calls."""

    cell: str
    ports: set[str] = field(default_factory=set)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    refuses: bool = False
    asked: int = 0


class _Port:
    def __init__(self, port: object, name: str, hung: Hung) -> None:
        self._port, self._name, self._hung = port, name, hung

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def called(*arguments: Any, **more: Any) -> Any:
            if self._name in self._hung.ports:
                self._hung.asked += 1
                if self._hung.refuses:
                    raise StoreUnreachableError("it does not answer")
                await self._hung.goes_on.wait()
            return await method(*arguments, **more)

        return called


@asynccontextmanager
async def with_hung(cell: str) -> AsyncIterator[tuple[Backend, Hung]]:
    hung = Hung(cell)

    @asynccontextmanager
    async def opening(_: str, name: str) -> AsyncIterator[Backend]:
        async with memory_backend() as one:
            if name != cell:
                yield one
                return
            names = ("store", "rules", "budgets", "leases")
            ports = {port: _Port(getattr(one, port), port, hung) for port in names}
            yield replace(one, **cast("Any", ports))

    async with cells_backend(ADDRESS, opening) as backend:
        for name in backend.cells:
            await backend.rules.book(in_cell(backend, name))
        yield backend, hung


async def test_a_request_is_found_by_its_id_while_another_cell_hangs() -> None:
    async with with_hung("00") as (backend, hung):
        request = await asked_in(backend, "01")
        backend.made_of._known.clear()  # type: ignore[attr-defined]  # as in another process
        hung.ports = {"store"}

        record = await asyncio.wait_for(backend.store.get(request.question_id), SOON)

    assert record is not None
    assert record.request.question_id == request.question_id


@pytest.mark.parametrize("hanging", ["00", "02"])
async def test_a_press_that_stores_a_rule_for_all_sessions_waits_for_no_cell_that_hangs(
    hanging: str,
) -> None:
    async with with_hung(hanging) as (backend, hung):
        request, rule = await asked_in(backend, "01"), a_rule(effect="deny", scope="agent")
        hung.ports = {"rules"}
        answer = a_response(request, approved=False)

        settling = backend.store.settle(request.question_id, answer, remember=rule)
        assert (await asyncio.wait_for(settling, SOON)).first
        hung.ports = set()
        hung.goes_on.set()

        async def counts() -> bool:
            books = [await backend.rules.book(in_cell(backend, name)) for name in backend.cells]
            return all(rule in book.remembered for book in books)

        await until(counts)


async def test_each_message_waits_for_a_cell_that_hangs_once_at_most() -> None:
    chat, place = Budget("chat", Rate(3, 60)), Place("slack", "C0OPS")
    async with with_hung("00") as (backend, hung):
        hung.ports, hung.refuses = {"budgets", "leases"}, True

        waits = [await backend.budgets.reserve([chat]) for _ in range(4)]
        assert await backend.leases.moved(place) == place

    assert waits[:3] == [0, 0, 0]
    assert waits[3] > 0
    assert hung.asked == 1
