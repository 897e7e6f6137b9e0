"""A session lives in one cell and never moves; whatever is about it is found there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.cells import AGENT, asked_in, in_cell, remember_in

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.errors import (
    DuplicateRequestError,
    RequestNotFoundError,
    StoreUnreachableError,
    UnknownCellError,
    WrongLoopError,
)
from sayso.rules.floor import Floor
from sayso.stores.backend import Backend
from sayso.stores.cells.backend import CellsBackend
from sayso.stores.cells.cells import Cells
from sayso.stores.connect import open_store
from sayso.stores.handles import cell_in, new_handle
from sayso.stores.topics import LOG_TOPIC
from sayso.testing import a_copy, a_request, a_response, a_rule, soon, until
from sayso.testing.floor_contract import a_floor

CALL = ToolCall("run_command")


def the_cells(backend: Backend) -> Cells:
    assert isinstance(backend, CellsBackend)
    return backend.made_of


async def test_a_session_is_in_one_cell_with_all_that_is_about_it(backend: Backend) -> None:
    request = await asked_in(backend, "01")
    await backend.rules.spend(request.run, "once")
    await remember_in(backend, request.run, a_rule())

    cells = the_cells(backend).backends
    assert [await one.store.get(request.question_id) is not None for one in cells.values()] == [
        False,
        True,
        False,
    ]
    assert [len(await one.rules.all()) for one in cells.values()] == [0, 1, 0]
    assert not await backend.rules.spend(request.run, "once")


async def test_sessions_are_spread_evenly_whatever_the_order_of_the_list(backend: Backend) -> None:
    cells = the_cells(backend)
    runs = [RunRef(AGENT, f"thread-{number}") for number in range(3_000)]

    spread = Counter(cells.name_of(run) for run in runs)
    turned = Cells(dict(reversed(list(cells.backends.items()))))

    assert set(spread) == {"00", "01", "02"}
    assert all(900 < number < 1_100 for number in spread.values())
    assert all(turned.name_of(run) == cells.name_of(run) for run in runs)


async def test_where_sessions_live_is_the_same_in_every_version() -> None:
    async with open_store("memory://?cell=00 memory://?cell=01 memory://?cell=zz") as backend:
        names = [the_cells(backend).name_of(RunRef("bot", str(number))) for number in range(12)]

    assert " ".join(names) == "01 01 01 zz zz 00 zz 00 00 00 00 zz"


async def test_another_process_finds_a_request_by_its_id_alone(store_url: str) -> None:
    address = " ".join(f"{store_url}-{number}&cell=0{number}" for number in range(3))
    async with open_store(address) as agents, open_store(address) as bots:
        requests = [await asked_in(agents, name) for name in ("00", "01", "02")]
        for request in requests:
            record = await bots.store.get(request.question_id)
            assert record is not None
            assert record.request == request.model_copy(
                update={"expires_at": record.request.expires_at}
            )
            settled = await bots.store.settle(request.question_id, a_response(request))
            assert settled.first

        with pytest.raises(RequestNotFoundError):
            await bots.store.settle("nobody", a_response())


async def test_a_handle_begins_with_the_cell_of_its_request(backend: Backend) -> None:
    request = await asked_in(backend, "02")

    handle = await backend.copies.new_handle(request.question_id)

    assert cell_in(handle) == "02"


async def test_a_handle_of_a_cell_that_is_not_listed_is_refused_with_its_name(
    backend: Backend,
) -> None:
    with pytest.raises(UnknownCellError, match=r"'07'.*\[\[store.cell\]\]"):
        await backend.copies.find(new_handle("07"))


async def test_a_handle_from_before_there_were_cells_is_found_in_any(backend: Backend) -> None:
    request = await asked_in(backend, "02")
    copy = a_copy(request.question_id)
    await backend.copies.issue(copy)

    found = await backend.copies.find(copy.handle)

    assert found is not None
    assert cell_in(copy.handle) == ""
    assert found.copy.question_id == request.question_id


async def test_an_id_of_ones_own_is_not_taken_twice_in_two_cells(backend: Backend) -> None:
    first = a_request("order-1", run=in_cell(backend, "00"))
    second = a_request("order-1", run=in_cell(backend, "01"))
    await backend.store.open(first, seconds=30, inbox="", book=None)

    with pytest.raises(DuplicateRequestError):
        await backend.store.open(second, seconds=30, inbox="", book=None)


async def test_of_two_requests_with_one_id_neither_is_decided(backend: Backend) -> None:
    cells = the_cells(backend).backends
    for name in ("00", "01"):
        request = a_request("order-1", run=in_cell(backend, name))
        await cells[name].store.open(request, seconds=30, inbox="", book=None)

    # Whoever asks again is told the same, and so is every other process.
    for _ in range(2):
        with pytest.raises(StoreUnreachableError, match="'order-1', in the cells 00 and 01"):
            await backend.store.settle("order-1", a_response())

    for name in ("00", "01"):
        record = await cells[name].store.get("order-1")
        assert record is not None
        assert record.ending is None


async def test_a_press_in_one_cell_never_settles_a_request_of_another(backend: Backend) -> None:
    cells = the_cells(backend).backends
    requests = [a_request("order-1", run=in_cell(backend, name)) for name in ("00", "01")]
    copy = a_copy("order-1")
    for name, request in zip(("00", "01"), requests, strict=True):
        await cells[name].store.open(request, seconds=30, inbox="", book=None)
    await cells["00"].copies.issue(copy)
    assert await backend.copies.find(copy.handle) is not None
    # A button of the other one is refused: this id is known to live in another cell.
    elsewhere = replace(copy, handle=new_handle("01"))
    await cells["01"].copies.issue(elsewhere)
    with pytest.raises(StoreUnreachableError, match="'order-1', in the cells 00 and 01"):
        await backend.copies.find(elsewhere.handle)

    await backend.store.settle("order-1", a_response(requests[0]))

    harmless = await cells["00"].store.get("order-1")
    other = await cells["01"].store.get("order-1")
    assert harmless is not None
    assert harmless.ending is not None
    assert other is not None
    assert other.ending is None


@pytest.mark.parametrize("name", ["00", "01", "02"])
async def test_a_gate_asks_and_hears_the_answer_whatever_the_cell_of_its_session(
    backend: Backend, name: str
) -> None:
    gate = Gate(backend, GateOptions(in_cell(backend, name)))
    async with backend.outbox.jobs("desk") as jobs:
        check = asyncio.create_task(gate.check(CALL))
        job = await soon(jobs)
        record = await backend.store.get(job.question_id)
        assert record is not None
        settled = await backend.store.settle(job.question_id, a_response(record.request))  # type: ignore[arg-type]  # it is a permission
        await backend.outbox.done(job)
        verdict = await asyncio.wait_for(check, 10)

    assert settled.heard == 1
    assert verdict.approved


async def test_work_of_all_cells_comes_to_one_desk(backend: Backend) -> None:
    requests = [await asked_in(backend, name) for name in ("00", "01", "02")]

    async with backend.outbox.jobs("desk") as jobs:
        taken = [await soon(jobs) for _ in requests]
        for job in taken:
            await backend.outbox.done(job)

    assert {job.question_id for job in taken} == {one.question_id for one in requests}
    async with backend.outbox.jobs("another") as jobs:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(jobs), 0.1)


async def _a_moment_later(backend: Backend) -> None:
    """Return when the clock of the store has gone on: by a millisecond, as its times are."""
    asked_at = await backend.documents.now()

    async def has_gone_on() -> bool:
        return await backend.documents.now() > asked_at + timedelta(milliseconds=1)

    await until(has_gone_on)


async def test_what_waits_and_what_happened_are_one_list_in_order(backend: Backend) -> None:
    ids: list[str] = []
    for name in ("02", "00", "01"):
        ids.append((await asked_in(backend, name)).question_id)
        await _a_moment_later(backend)

    assert [one.request.question_id for one in await backend.watch.pending()] == ids
    told = [one.question_id for one in await backend.audit.read(10) if one.kind == "asked"]
    assert told == ids
    assert len(await backend.audit.read(2)) == 2


async def test_an_agent_whose_session_is_elsewhere_has_the_same_floor(backend: Backend) -> None:
    await backend.floors.lay(a_floor())

    books = [await backend.rules.book(in_cell(backend, name)) for name in ("00", "01", "02")]

    assert all(book.floor.denial(CALL) is not None for book in books)
    assert await backend.floors.lay(Floor(), unless_other=True) == a_floor().version


async def test_processes_with_other_lists_of_cells_refuse_to_look_in_the_wrong_place(
    store_url: str,
) -> None:
    urls = [f"{store_url}-{number}&cell=0{number}" for number in range(3)]
    async with open_store(" ".join(urls)) as all_of_them:
        for name in ("00", "01", "02"):
            await asked_in(all_of_them, name)
    async with open_store(" ".join(urls[:2])) as some:
        for name in ("00", "01"):
            with pytest.raises(StoreUnreachableError, match="belongs to the cells 00 01 02"):
                await asked_in(some, name)


async def test_all_requests_of_a_session_under_a_key_are_one(backend: Backend) -> None:
    run = in_cell(backend, "01")
    first, second = a_request(run=run), a_request(run=run)
    await backend.store.open(first, seconds=30, inbox="", book=None, key="order")
    await backend.store.open(second, seconds=30, inbox="", book=None, key="order")

    record = await backend.keyed.find(run, "order")

    assert record is not None
    assert record.request.question_id == first.question_id
    assert len(await backend.watch.pending(run)) == 1


async def test_what_is_kept_beside_a_session_is_in_its_cell(backend: Backend) -> None:
    for name in ("00", "01", "02"):
        beside, key = backend.at(in_cell(backend, name)), f"noted in {name}"
        assert await beside.documents.swap(key, None, "here", seconds=30)
        await beside.drafts.keep(key, "half done", seconds=30)

        assert await beside.documents.read(key) == "here"
        assert await beside.drafts.take(key) == "half done"
        cells = the_cells(backend).backends
        there = {one: await cells[one].documents.read(key) for one in cells}
        assert [one for one, text in there.items() if text is not None] == [name]


async def test_errands_about_a_request_are_where_it_is_and_come_from_everywhere(
    backend: Backend,
) -> None:
    requests = [await asked_in(backend, name) for name in ("00", "02")]
    for one in requests:
        await backend.errands.put("later", f"about {one.question_id}", about=one.question_id)

    due = await backend.errands.take("later", most=10, hold=60)
    for name in due.names:
        await backend.errands.done("later", name)

    assert set(due.names) == {f"about {one.question_id}" for one in requests}
    cells = the_cells(backend).backends
    for cell in cells.values():
        assert (await cell.errands.take("later", most=10, hold=60)).next_in is None


async def test_a_lease_has_one_owner_in_all_cells(backend: Backend) -> None:
    assert await backend.leases.hold("polling", "one", seconds=30)
    assert not await backend.leases.hold("polling", "other", seconds=30)
    assert await backend.leases.hold("polling", "one", seconds=30)


async def test_late_requests_of_all_cells_expire(backend: Backend) -> None:
    for name in ("00", "01", "02"):
        request = a_request(run=in_cell(backend, name))
        await backend.store.open(request, seconds=0.05, inbox="", book=None)
    await asyncio.sleep(timedelta(milliseconds=60).total_seconds())

    assert await backend.watch.expire() is None

    assert await backend.watch.pending() == []


DOORS: dict[str, Callable[[Backend], Awaitable[Any]]] = {
    "store.get": lambda backend: backend.store.get("q-1"),
    "store.settle": lambda backend: backend.store.settle("q-1", a_response()),
    "watch.pending": lambda backend: backend.watch.pending(),
    "rules.all": lambda backend: backend.rules.all(),
    "rules.book": lambda backend: backend.rules.book(RunRef(AGENT, "s-1")),
    "bus.rings": lambda backend: backend.bus.rings("inbox").__aenter__(),
    "bus.subscribe": lambda backend: backend.bus.subscribe(LOG_TOPIC).__aenter__(),
    "outbox.jobs": lambda backend: backend.outbox.jobs("desk").__aenter__(),
}


@pytest.mark.parametrize("door", DOORS)
def test_cells_of_another_loop_raise_at_once(door: str, address: str) -> None:
    home = asyncio.new_event_loop()
    opened = open_store(address)
    backend = home.run_until_complete(opened.__aenter__())
    home.run_until_complete(backend.store.get("q-1"))

    async def elsewhere() -> None:
        async with asyncio.timeout(5):
            await DOORS[door](backend)

    with pytest.raises(WrongLoopError):
        asyncio.run(elsewhere())

    home.run_until_complete(opened.__aexit__(None, None, None))
    home.close()
