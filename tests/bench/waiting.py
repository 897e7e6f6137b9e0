"""Runs that wait: the memory and the idle processor time that each one takes in its process.

A process of its own measures: ``python -m bench.waiting SIDE REDIS_PATH COUNT``; it prints JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

from bench.everyday import answer_key
from bench.processes import a_world
from bench.question import EVERYDAY, SAYSO
from redis.asyncio import Redis

from sayso import Gate, RunRef, ToolCall
from sayso.stores.connect import open_store

_IDLE_SECONDS = 5.0
_AT_ONCE = 200
_PAGE = resource.getpagesize()


def measure_waiting(count: int = 5_000) -> dict[str, dict[str, float]]:
    """Return the figures of each side with so many runs that wait at once."""
    rows = {}
    for side in (SAYSO, EVERYDAY):
        with a_world() as world:
            words = ["-m", "bench.waiting", side, world.redis_path, str(count)]
            done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, check=True)
        rows[side] = json.loads(done.stdout)
    return rows


def _resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


async def _measure_ours(path: str, count: int) -> None:
    redis = Redis(unix_socket_path=path, socket_timeout=None)
    async with (
        open_store(f"unix://{path}?namespace=waiting") as backend,
        Gate.open(backend, run=RunRef("bench", "waiting"), timeout=86_400, patience=3_600) as gate,
    ):

        def wait(number: int) -> asyncio.Task[object]:
            call = ToolCall("run_command", {"command": f"deploy service-{number}"})
            return asyncio.create_task(gate.check(call, description="deploy one service"))

        async def have_opened(most: int) -> None:
            while await redis.dbsize() < most:
                await asyncio.sleep(0.01)

        await _figures(wait, have_opened, count)


async def _measure_theirs(path: str, count: int) -> None:
    agent = Redis(unix_socket_path=path, socket_timeout=None, max_connections=100_000)
    redis = Redis(unix_socket_path=path)

    def wait(number: int) -> asyncio.Task[object]:
        return asyncio.create_task(agent.blpop([answer_key(str(number))], timeout=0))  # type: ignore[arg-type]  # redis-py types both of its clients in one

    async def have_opened(most: int) -> None:
        while (await redis.info("clients"))["blocked_clients"] < most:
            await asyncio.sleep(0.01)

    await _figures(wait, have_opened, count)


async def _figures(
    wait: Callable[[int], asyncio.Task[object]],
    have_opened: Callable[[int], Awaitable[None]],
    count: int,
) -> NoReturn:
    """Start the runs, the first ones only to get warm, and look at this process."""
    tasks = [wait(number) for number in range(_AT_ONCE)]
    await have_opened(len(tasks))
    before = _resident_bytes()
    while len(tasks) < _AT_ONCE + count:
        tasks += [wait(number) for number in range(len(tasks), len(tasks) + _AT_ONCE)]
        await have_opened(len(tasks))
    after, cpu = _resident_bytes(), time.process_time()
    await asyncio.sleep(_IDLE_SECONDS)
    idle = (time.process_time() - cpu) / _IDLE_SECONDS
    row = {"kilobytes": (after - before) / count / 1e3, "idle_percent": 100 * idle}
    print(json.dumps(row), flush=True)
    # Withdrawing thousands of questions one by one is not measured here.
    os._exit(0)


if __name__ == "__main__":
    side, redis_path, most = sys.argv[1:]
    measure = _measure_ours if side == SAYSO else _measure_theirs
    asyncio.run(measure(redis_path, int(most)))
