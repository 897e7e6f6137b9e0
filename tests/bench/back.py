"""How soon waiting gates are right again when Redis is back after an outage.

Run as a process of its own: ``python -m bench.back COUNT``; prints JSON. Redis is killed while so
many gates wait. They are right again when their inbox listens and has looked for all of them; then
some are answered, and each must have its verdict.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from statistics import median

from support.valkey_server import Valkey

from sayso import Gate, RunRef, ToolCall
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_response

_ANSWERED = 200
_OUTAGES = 5
_AWAY_SECONDS = 3.0
_MOST_SECONDS = 120.0


async def measure(count: int) -> dict[str, float]:
    """The seconds from Redis being back to an inbox that listens again and has looked for all."""
    server = Valkey(appendonly="yes", appendfsync="everysec")
    server.start()
    try:
        async with (
            open_store(server.url) as agents,
            open_store(server.url) as bots,
            Gate.open(agents, run=RunRef("bench", "back"), timeout=3_600) as gate,
        ):
            tasks = [
                asyncio.create_task(gate.check(ToolCall("tool", {"n": number})))
                for number in range(count)
            ]
            await _open(bots, count)
            listening = [await _outage(server, agents) for _ in range(_OUTAGES)]
            records = (await bots.watch.pending())[:_ANSWERED]
            started = time.perf_counter()
            for one in records:
                answer = a_response(one.request)  # type: ignore[arg-type]  # a permission
                await bots.store.settle(one.request.question_id, answer)
            async with asyncio.timeout(_MOST_SECONDS):
                while sum(task.done() for task in tasks) < len(records):
                    await asyncio.sleep(0.001)
            resumed = time.perf_counter() - started
            for task in tasks:
                task.cancel()
    finally:
        server.close()
    return {
        "count": count,
        "right_again_after_seconds": median(listening),
        "right_again_after_seconds_at_worst": max(listening),
        "answers_resumed_per_second": len(records) / resumed,
    }


async def _outage(server: Valkey, agents: Backend) -> float:
    server.kill()
    await asyncio.sleep(_AWAY_SECONDS)
    server.start()
    started = time.perf_counter()
    await agents.inbox.listening()
    return time.perf_counter() - started


async def _open(backend: Backend, count: int) -> None:
    while len(await backend.watch.pending()) < count:
        await asyncio.sleep(0.1)


if __name__ == "__main__":

    async def _main() -> None:
        print(json.dumps(await measure(int(sys.argv[1]))), flush=True)
        # Withdrawing 10,000 questions one by one is not what is measured here.
        os._exit(0)

    asyncio.run(_main())
