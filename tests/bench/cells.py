"""What a decision costs Redis with 1 to 6 cells on a real cluster of three, and who pays.

``PYTHONPATH=tests .venv/bin/python -m bench.cells [--decisions N] [--rounds N] [--json FILE]``

A decision is a question of a gate that is taken from the outbox, shown, pressed, settled and heard.
CPU is what the servers say of themselves, over all nodes. Each round measures every store once, in
turn; ratios are those of one round. ``room`` is how many times the decisions of one store fit until
the fullest node is full, where each node has a core of its own. Of each cell, so many questions
are open at a time: what comes together shares a round trip, which is what a full node sees.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
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
from sayso.stores.connect import open_backend
from sayso.stores.ports import Copy, Job
from sayso.testing import a_response

STORES = {"one store": 0, "1 cell": 1, "2 cells": 2, "3 cells": 3, "4 cells": 4, "6 cells": 6}
_AT_ONCE = 50


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


async def _rounds(nodes: Sequence[Valkey], count: int, decisions: int) -> list[dict[str, Any]]:
    rounds = []
    for number in range(count + 1):
        names = list(STORES)[number % len(STORES) :] + list(STORES)[: number % len(STORES)]
        measured = {name: await _measured(nodes, STORES[name], decisions) for name in names}
        # The first one loads scripts and warms the servers.
        rounds += [measured] if number else []
    return rounds


async def _measured(nodes: Sequence[Valkey], cells: int, decisions: int) -> list[float]:
    """Microseconds of CPU a decision, of each node."""
    for server in nodes:
        async with Redis.from_url(server.url) as client:
            await client.flushall()
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in nodes)
    url = f"redis+cluster://:{PASSWORD}@{hosts}"
    address = " ".join(written(url, f"0{cell}") for cell in range(cells)) or url
    async with AsyncExitStack() as stack:
        agents, bots = [await stack.enter_async_context(open_backend(address)) for _ in range(2)]
        jobs = await stack.enter_async_context(bots.outbox.jobs("bench"))
        desk = asyncio.create_task(_work(bots, jobs))
        try:
            at_once = _AT_ONCE * max(1, cells)
            await _decisions(agents, at_once, at_once)
            before = [await _cpu(server) for server in nodes]
            await _decisions(agents, decisions, at_once)
            after = [await _cpu(server) for server in nodes]
        finally:
            desk.cancel()
            await asyncio.gather(desk, return_exceptions=True)
    used = zip(before, after, strict=True)
    return [(later - earlier) * 1e6 / decisions for earlier, later in used]


async def _decisions(agents: Backend, count: int, at_once: int) -> None:
    room = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with room:
            gate = Gate(agents, GateOptions(RunRef("bench", new_id())))
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


async def _cpu(server: Valkey) -> float:
    async with Redis.from_url(server.url) as client:
        said = await client.info("cpu")
    return float(said["used_cpu_user"]) + float(said["used_cpu_sys"])


def summary(rounds: Sequence[Mapping[str, Sequence[float]]]) -> list[dict[str, Any]]:
    """For each store the medians of the rounds, and the least and the largest ratio to one."""
    found = []
    for name in STORES:
        ratios = [sum(one[name]) / sum(one["one store"]) for one in rounds]
        found.append(
            {
                "store": name,
                "redis_cpu_us_a_decision": median(sum(one[name]) for one in rounds),
                "against_one": median(ratios),
                "least": min(ratios),
                "largest": max(ratios),
                "fullest_node": median(max(one[name]) / sum(one[name]) for one in rounds),
                "room": median(max(one["one store"]) / max(one[name]) for one in rounds),
            }
        )
    return found


def _print(rounds: Sequence[Mapping[str, Sequence[float]]]) -> None:
    print(f"{'':10} {'us a decision':>14} {'against one':>12} {'fullest node':>13} {'room':>6}")
    for row in summary(rounds):
        spread = f"{row['least']:.2f}-{row['largest']:.2f}"
        print(
            f"{row['store']:10} {row['redis_cpu_us_a_decision']:14.0f} {row['against_one']:7.2f} "
            f"{spread:>9} {row['fullest_node']:9.0%} {row['room']:8.2f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
