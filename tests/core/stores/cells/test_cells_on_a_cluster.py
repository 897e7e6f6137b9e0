"""Cells on a real cluster of three: they are spread over its nodes, and each stands alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from redis.asyncio import Redis
from support.cells import asked_in, in_cell
from support.topologies import PASSWORD, cluster_node, joined
from support.valkey_server import Valkey

from sayso import Gate, ToolCall
from sayso.agent.options import GateOptions
from sayso.errors import StoreUnreachableError
from sayso.stores.addresses import namespace_of, slot_of, written
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.redis.keys import Keys
from sayso.testing import a_response, soon, until

CALL = ToolCall("bash", {"command": "terraform apply"})


@pytest.fixture
async def nodes() -> AsyncIterator[Sequence[Valkey]]:
    """Three nodes that own all slots; what one of them has not, the others need not."""
    made = [cluster_node() for _ in range(3)]
    for server, _ in made:
        server.options |= {"cluster_require_full_coverage": "no", "cluster_node_timeout": "1000"}
    try:
        for server, _ in made:
            server.start()
        await joined(made)
        yield [server for server, _ in made]
    finally:
        for server, _ in made:
            server.close()


def address(nodes: Sequence[Valkey], number: int) -> str:
    """So many cells on the cluster, in the namespaces that they have when none is given."""
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in nodes)
    url = f"redis+cluster://:{PASSWORD}@{hosts}?socket_timeout=1"
    return " ".join(written(url, f"0{cell}") for cell in range(number))


async def held(server: Valkey) -> set[str]:
    """The namespaces of which a node has keys."""
    async with Redis.from_url(server.url) as client:
        keys: Any = await client.keys("sayso:{*")
    return {key.decode().partition("{")[2].partition("}")[0] for key in keys}


async def decide(backend: Backend, bots: Backend, cell: str, jobs: Any) -> None:
    """Ask in a cell and answer there."""
    gate = Gate(backend, GateOptions(in_cell(backend, cell)))
    check = asyncio.create_task(gate.check(CALL))
    job = await soon(jobs)
    record = await bots.store.get(job.question_id)
    assert record is not None
    assert record.request.run == gate.run
    answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission
    assert (await bots.store.settle(job.question_id, answer)).heard == 1
    assert (await asyncio.wait_for(check, 20)).approved
    await bots.outbox.done(job)
    ended = await soon(jobs)
    assert ended.kind == "end"
    await bots.outbox.done(ended)


@pytest.mark.parametrize(("number", "spread"), [(1, [1]), (2, [1, 1]), (4, [1, 1, 2])])
async def test_cells_are_spread_over_the_nodes_and_decide_right(
    nodes: Sequence[Valkey], number: int, spread: Sequence[int]
) -> None:
    where = address(nodes, number)
    async with (
        open_store(where) as agents,
        open_store(where) as bots,
        bots.outbox.jobs("desk") as jobs,
    ):
        for cell in range(number):
            await decide(agents, bots, f"0{cell}", jobs)

    namespaces = [await held(server) for server in nodes]
    assert sorted(len(some) for some in namespaces if some) == spread
    assert set.union(*namespaces) == {namespace_of(f"0{cell}") for cell in range(number)}


async def test_a_node_that_is_killed_takes_its_cells_with_it_and_no_others_until_it_is_back(
    nodes: Sequence[Valkey],
) -> None:
    where = address(nodes, 2)
    async with (
        open_store(where) as agents,
        open_store(where) as bots,
        bots.outbox.jobs("desk") as jobs,
    ):
        for cell in ("00", "01"):
            await decide(agents, bots, cell, jobs)
        waiting = await asked_in(agents, "01")
        assert (await soon(jobs)).question_id == waiting.question_id
        [victim] = [one for one in nodes if namespace_of("01") in await held(one)]
        victim.kill()

        await decide(agents, bots, "00", jobs)
        with pytest.raises(StoreUnreachableError):
            await asked_in(agents, "01")
        await asyncio.to_thread(victim.start)

        async def is_back() -> bool:
            try:
                return await bots.store.get(waiting.question_id) is not None
            except StoreUnreachableError:
                return False

        await until(is_back)
        settled = await bots.store.settle(waiting.question_id, a_response(waiting))
        assert settled.first


async def test_a_slot_is_what_the_cluster_itself_says(nodes: Sequence[Valkey]) -> None:
    names = ["sayso", *(namespace_of(f"0{cell}") for cell in range(1, 6))]
    client: Any
    async with Redis.from_url(nodes[0].url) as client:
        said = [
            await client.execute_command("CLUSTER", "KEYSLOT", Keys(name).due) for name in names
        ]

    assert [slot_of(name) for name in names] == said


@pytest.mark.parametrize(("cells", "most"), [(2, 1), (3, 1), (4, 2), (6, 2), (9, 4), (12, 4)])
def test_any_number_of_cells_is_spread_evenly_over_three_nodes(cells: int, most: int) -> None:
    bounds = (5_461, 10_923)
    slots = [slot_of(namespace_of(f"0{'0123456789ab'[cell]}")) for cell in range(cells)]

    spread = Counter(sum(slot >= bound for bound in bounds) for slot in slots)

    assert max(spread.values()) <= most


def test_the_namespaces_of_cells_are_the_same_in_every_version() -> None:
    assert [namespace_of(f"0{cell}") for cell in range(4)] == [
        "sayso",
        "sayso-01-322",
        "sayso-02-115",
        "sayso-03-16",
    ]
    assert all(Keys(namespace_of(name)).namespace for name in ("0z", "10", "zz"))
