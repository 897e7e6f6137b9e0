"""What a waiting run costs: memory here and in Redis, registering, idling.

Run as a process of its own: ``python -m bench.waiting REDIS_URL COUNT``; prints JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
import time
import tracemalloc
from pathlib import Path

from sayso import Gate, RunRef, ToolCall
from sayso.questions.wire import encode
from sayso.stores.connect import open_store
from sayso.stores.redis.connection import Client

IDLE_SECONDS = 10.0
_AT_ONCE = 200
_WARM = 1_000
_PAGE = resource.getpagesize()


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


async def measure(url: str, count: int) -> dict[str, float]:
    """Memory and time for so many runs that wait at once."""
    async with (
        open_store(url) as backend,
        Gate.open(backend, run=RunRef("bench", "waiting"), timeout=86_400) as gate,
    ):
        client: Client = backend.store._client  # type: ignore[attr-defined]

        def ask(number: int) -> asyncio.Task[object]:
            call = ToolCall("run_command", {"command": f"deploy service-{number}"})
            return asyncio.create_task(gate.check(call, description="deploy one service"))

        warm = [ask(-number) for number in range(1, _WARM + 1)]
        await _all_open(client, len(warm))
        before, server_before = resident_bytes(), await _server_memory(client)
        traced = tracemalloc.get_traced_memory()[0]
        started = time.perf_counter()
        tasks = []
        for start in range(0, count, _AT_ONCE):
            tasks += [ask(number) for number in range(start, min(start + _AT_ONCE, count))]
            await _all_open(client, len(warm) + len(tasks))
        opened = time.perf_counter() - started
        after, server_after = resident_bytes(), await _server_memory(client)
        traced = tracemalloc.get_traced_memory()[0] - traced
        cpu = time.process_time()
        await asyncio.sleep(IDLE_SECONDS)
        idle = (time.process_time() - cpu) / IDLE_SECONDS
        first: list[bytes] = await client.command("ZRANGE", client.keys.due, 0, 0)
        record = await backend.store.get(first[0].decode())
        json_bytes = len(encode(record.request)) if record else 0
        return {
            "count": count,
            "resident_bytes_a_waiter": (after - before) / count,
            "python_bytes_a_waiter": traced / count,
            "redis_bytes_a_request_over_its_json": (server_after - server_before) / count
            - json_bytes,
            "registered_per_second": count / opened,
            "idle_cpu_percent": 100 * idle,
        }


async def _all_open(client: Client, count: int) -> None:
    while int(await client.command("ZCARD", client.keys.due)) < count:
        await asyncio.sleep(0)


async def _server_memory(client: Client) -> int:
    info: bytes = await client.command("INFO", "memory")
    line = next(line for line in info.decode().splitlines() if "used_memory:" in line)
    return int(line.partition(":")[2])


if __name__ == "__main__":
    if "--trace" in sys.argv:
        tracemalloc.start()

    async def _main() -> None:
        print(json.dumps(await measure(sys.argv[1], int(sys.argv[2]))), flush=True)
        # Cancelling 100,000 questions one by one is not what is measured here.
        os._exit(0)

    asyncio.run(_main())
