"""The list of cells is chosen once: whoever has another one is refused, and decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.cells import AGENT, asked_in, in_cell, remember_in

from sayso import Gate, RunRef, ToolCall
from sayso.errors import OtherCellsError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request, a_rule

CALL = ToolCall("run_command")


@pytest.fixture
def urls(store_url: str) -> list[str]:
    """The addresses of four namespaces of one server."""
    return [f"{store_url}-{number}" for number in range(4)]


def listed(urls: list[str], *named: tuple[str, int]) -> str:
    """An address of cells: each a name, and the number of its namespace."""
    return " ".join(f"{urls[number]}&cell={name}" for name, number in named)


async def use(address: str) -> None:
    """Let every cell be used once."""
    async with open_store(address) as backend:
        for name in backend.cells:
            await backend.rules.book(in_cell(backend, name))


THE_SAME = [("00", 0), ("01", 1)]
OTHERS: dict[str, tuple[list[tuple[str, int]], str]] = {
    "a cell more": ([*THE_SAME, ("02", 2)], "belongs to the cells 00 01, and .* are 00 01 02"),
    "a cell less": ([("00", 0)], "belongs to the cells 00 01, and the cells listed here are 00:"),
    "another name": ([("00", 0), ("02", 1)], "belongs to the cells 00 01, and .* are 00 02"),
    "another name and namespace": ([("00", 0), ("02", 2)], "belongs to the cells 00 01"),
    "changed places": ([("00", 1), ("01", 0)], "is listed as cell 0[01] of .* is its cell 0[10]"),
}


@pytest.mark.parametrize("change", OTHERS)
async def test_a_list_that_is_another_one_is_refused_in_every_cell(
    urls: list[str], change: str
) -> None:
    named, said = OTHERS[change]
    await use(listed(urls, *THE_SAME))

    async with open_store(listed(urls, *named)) as backend:
        for name in backend.cells:
            with pytest.raises(OtherCellsError, match=said):
                await asked_in(backend, name)
            async with Gate.open(backend, run=in_cell(backend, name), patience=30) as gate:
                async with asyncio.timeout(5):
                    with pytest.raises(OtherCellsError, match=said):
                        await gate.check(CALL)
        for everything in (backend.watch.pending, backend.rules.all, backend.leases.ping):
            with pytest.raises(OtherCellsError, match=said):
                await everything()


async def test_one_store_under_two_names_is_refused(urls: list[str]) -> None:
    again = urls[0].replace("127.0.0.1", "localhost")
    assert again != urls[0]

    async with open_store(f"{urls[0]}&cell=00 {again}&cell=01") as backend:
        await backend.rules.book(in_cell(backend, "00"))
        with pytest.raises(OtherCellsError, match="listed as cell 01 of the store is its cell 00"):
            await backend.rules.book(in_cell(backend, "01"))


async def test_a_namespace_that_is_new_in_the_place_of_a_cell_is_given_what_counts_everywhere(
    urls: list[str],
) -> None:
    rule = a_rule(effect="deny", scope="agent")
    async with open_store(listed(urls, *THE_SAME)) as backend:
        await remember_in(backend, in_cell(backend, "00"), rule)

    async with open_store(listed(urls, ("00", 0), ("01", 2))) as backend:
        book = await backend.rules.book(in_cell(backend, "01"))

    assert book.remembered == (rule,)


async def test_the_order_of_the_list_and_how_a_server_is_reached_may_change(
    urls: list[str],
) -> None:
    async with open_store(listed(urls, *THE_SAME)) as backend:
        requests = [await asked_in(backend, name) for name in ("00", "01")]
    other_way = [url.replace("127.0.0.1", "localhost") + "&socket_timeout=5" for url in urls]

    async with open_store(listed(other_way, *reversed(THE_SAME))) as backend:
        there = await backend.watch.pending()

    assert {one.request.question_id for one in there} == {one.question_id for one in requests}


ALONE: dict[str, Callable[[Backend], Awaitable[Any]]] = {
    "asking": lambda store: store.store.open(a_request(), seconds=9, inbox="", book=None),
    "deciding": lambda store: store.rules.book(RunRef(AGENT, "s-1")),
    "looking": lambda store: store.store.get("q-1"),
    "revoking": lambda store: store.rules.revoke("r-1", by="cli:ci"),
    "health": lambda store: store.leases.ping(),
}


@pytest.mark.parametrize("door", ALONE)
async def test_a_cell_is_never_taken_for_a_store_of_its_own(urls: list[str], door: str) -> None:
    async with open_store(urls[1]) as alone:
        await ALONE[door](alone)
        # The process was there before the store became a cell.
        await use(listed(urls, *THE_SAME))

        with pytest.raises(
            OtherCellsError, match=r"this store is one of the cells 00 01, and no others"
        ):
            await ALONE[door](alone)


async def test_what_waits_in_other_cells_than_those_listed_is_taken_by_nobody(
    urls: list[str],
) -> None:
    await use(listed(urls, *THE_SAME))
    async with (
        open_store(listed(urls, *THE_SAME)) as backend,
        open_store(listed(urls, ("00", 0))) as wrong,
        wrong.outbox.jobs("wrong") as stolen,
    ):
        taking = asyncio.ensure_future(anext(stolen))
        request = await asked_in(backend, "00")
        async with backend.outbox.jobs("right") as jobs:
            job = await asyncio.wait_for(anext(jobs), 10)
        assert not taking.done()
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)

    assert job.question_id == request.question_id


async def test_a_cell_that_is_away_is_no_other_list(urls: list[str]) -> None:
    address = f"{urls[0]}&cell=00 redis://127.0.0.1:1?cell=01"

    async with open_store(address) as backend:
        with pytest.raises(StoreUnreachableError) as caught:
            await backend.leases.ping()

    assert not isinstance(caught.value, OtherCellsError)
