"""What a decision costs Redis with 1 to 6 cells on a real cluster of three, and who pays.

``PYTHONPATH=tests .venv/bin/python -m bench.cells [--decisions N] [--rounds N] [--json FILE]``

A decision is a question of a gate that is taken from the outbox, shown, pressed, settled and heard.
CPU and commands are what the servers say of themselves, over all nodes. Each round measures every
store once, in turn; ratios are those of one round. *Apart* is as many stores that know nothing of
each other, on the same nodes and with the same to do: what a decision is dearer there comes of
several servers on few cores, each of which wakes up for less. ``room`` is how many times the
decisions of one store fit until the fullest node is full, where each node has a core of its own. Of
each cell, so many questions are open at a time: what comes together shares a round trip, which is
what a full node sees.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

from redis.asyncio import Redis
from support.topologies import PASSWORD, cluster_node, joined
from support.valkey_server import Valkey

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.calls import new_id
from sayso.chats.places import Place
from sayso.stores.addresses import written
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.ports import Copy, Job
from sayso.testing import a_response

# How many namespaces, none of which is the usual one, and whether each is a store of its own.
STORES = {
    "one store": (0, False),
    **{f"{count} {'cell' if count == 1 else 'cells'}": (count, False) for count in (1, 2, 3, 4, 6)},
    **{f"{count} apart": (count, True) for count in (2, 3, 4, 6)},
}
_AT_ONCE = 50
_CPU, _COMMANDS = "cpu_us", "commands"
Measured = Mapping[str, Sequence[float]]
"""By figure, a value for each node."""


async def main() -> None:
    """Measure, print a table, and write all figures where that is asked for."""
    parser = argparse.ArgumentParser(prog="bench.cells")
    parser.add_argument("--decisions", type=int, default=1_500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    nodes = [cluster_node() for _ in range(3)]
    try:
        for server, _ in nodes:
            server.options |= {"appendonly": "no"}
            server.start()
        await joined(nodes)
        rounds = await _rounds([server for server, _ in nodes], args.rounds, args.decisions)
    finally:
        for server, _ in nodes:
            server.close()
    _print(rounds)
    if args.json:
        args.json.write_text(json.dumps(rounds, indent=1))


async def _rounds(nodes: Sequence[Valkey], count: int, decisions: int) -> list[dict[str, Measured]]:
    rounds: list[dict[str, Measured]] = []
    for number in range(count + 1):
        names = list(STORES)[number % len(STORES) :] + list(STORES)[: number % len(STORES)]
        measured: dict[str, Measured] = {
            name: await _measured(nodes, name, decisions) for name in names
        }
        # The first one loads scripts and warms the servers.
        rounds += [measured] if number else []
    return rounds


async def _measured(nodes: Sequence[Valkey], name: str, decisions: int) -> dict[str, list[float]]:
    """What a decision takes of each node: microseconds of CPU, and commands."""
    for server in nodes:
        async with Redis.from_url(server.url) as client:
            await client.flushall()
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in nodes)
    url = f"redis+cluster://:{PASSWORD}@{hosts}"
    cells, is_apart = STORES[name]
    addresses = [written(url, f"0{cell}") for cell in range(cells)] or [url]
    stores = addresses if is_apart else [" ".join(addresses)]
    at_once = _AT_ONCE * len(addresses)
    async with AsyncExitStack() as stack:
        agents = [await stack.enter_async_context(_served(address)) for address in stores]
        await _decisions(agents, at_once, at_once)
        before = [await _said(server) for server in nodes]
        await _decisions(agents, decisions, at_once)
        after = [await _said(server) for server in nodes]
    return {
        figure: [
            (later[figure] - earlier[figure]) / decisions
            for earlier, later in zip(before, after, strict=True)
        ]
        for figure in (_CPU, _COMMANDS)
    }


@asynccontextmanager
async def _served(address: str) -> AsyncIterator[Backend]:
    """The agents' side of a store, while bots work on it."""
    async with (
        open_store(address) as agents,
        open_store(address) as bots,
        bots.outbox.jobs("bench") as jobs,
    ):
        desk = asyncio.create_task(_work(bots, jobs))
        try:
            yield agents
        finally:
            desk.cancel()
            await asyncio.gather(desk, return_exceptions=True)


async def _decisions(stores: Sequence[Backend], count: int, at_once: int) -> None:
    room = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with room:
            # As a session falls into any cell.
            gate = Gate(random.choice(stores), GateOptions(RunRef("bench", new_id())))
            call = ToolCall("deploy", {"target": "staging", "number": number})
            verdict = await gate.check(call, timeout=60)
            if not verdict.approved:
                raise RuntimeError(verdict.reason)

    await asyncio.gather(*(one(number) for number in range(count)))


async def _work(bots: Backend, jobs: Any) -> None:
    async with asyncio.TaskGroup() as group:
        async for job in jobs:
            group.create_task(_do(bots, job))


async def _do(bots: Backend, job: Job) -> None:
    record = await bots.store.get(job.question_id)
    if job.kind == "ask" and record is not None and record.ending is None:
        copy = Copy(
            await bots.copies.new_handle(job.question_id), job.question_id, Place("slack", "C0OPS")
        )
        await bots.copies.issue(copy)
        await bots.copies.mark(copy)
        answer = a_response(record.request)  # type: ignore[arg-type]  # it is a permission
        await bots.store.settle(
            job.question_id, answer, handle=copy.handle, delivery=f"bench:{copy.handle}"
        )
    await bots.outbox.done(job)


async def _said(server: Valkey) -> dict[str, float]:
    """What a server says that it has done: its CPU, and its commands, also those of scripts."""
    async with Redis.from_url(server.url) as client:
        cpu, stats = await client.info("cpu"), await client.info("stats")
    return {
        _CPU: (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])) * 1e6,
        _COMMANDS: float(stats["total_commands_processed"]),
    }


def summary(rounds: Sequence[Mapping[str, Measured]]) -> list[dict[str, Any]]:
    """For each store the medians of the rounds, and the least and the largest ratio to one."""
    found = []
    for name, (count, is_apart) in STORES.items():
        if is_apart:
            continue
        mine, ratios = _cpus(rounds, name), _ratios(rounds, name, "one store")
        found.append(
            {
                "store": name,
                "redis_cpu_us_a_decision": median(map(sum, mine)),
                "commands_a_decision": median(sum(one[name][_COMMANDS]) for one in rounds),
                "against_one": median(ratios),
                "least": min(ratios),
                "largest": max(ratios),
                "against_apart": median(_ratios(rounds, name, _apart(count))),
                "fullest_node": median(max(cpu) / sum(cpu) for cpu in mine),
                "room": median(
                    max(one) / max(other)
                    for one, other in zip(_cpus(rounds, "one store"), mine, strict=True)
                ),
            }
        )
    return found


def _apart(count: int) -> str:
    """As many stores that know nothing of each other."""
    return f"{count} apart" if count > 1 else "one store"


def _cpus(rounds: Sequence[Mapping[str, Measured]], name: str) -> Sequence[Sequence[float]]:
    return [one[name][_CPU] for one in rounds]


def _ratios(rounds: Sequence[Mapping[str, Measured]], name: str, base: str) -> Sequence[float]:
    pairs = zip(_cpus(rounds, name), _cpus(rounds, base), strict=True)
    return [sum(one) / sum(other) for one, other in pairs]


def _print(rounds: Sequence[Mapping[str, Measured]]) -> None:
    print(
        f"{'':10} {'us a decision':>14} {'against one':>12} {'against as many apart':>32} "
        f"{'commands':>9} "
        f"{'fullest node':>13} {'room':>6}"
    )
    for row in summary(rounds):
        spread = f"{row['least']:.2f}-{row['largest']:.2f}"
        print(
            f"{row['store']:10} {row['redis_cpu_us_a_decision']:14.0f} {row['against_one']:12.2f} "
            f"{spread:>10} {row['against_apart']:21.2f} "
            f"{row['commands_a_decision']:9.1f} {row['fullest_node']:13.0%} "
            f"{row['room']:6.2f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
