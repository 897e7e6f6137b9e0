"""Allow-once between processes: of many that reach for it, exactly one has it."""

from __future__ import annotations

import asyncio
import sys

from sayso.calls import RunRef
from sayso.stores.redis import redis_backend

_RACER = """
import asyncio, sys
from sayso.calls import RunRef
from sayso.stores.redis import redis_backend
async def main(url):
    async with redis_backend(url) as backend:
        await backend.leases.ping()
        print("ready", flush=True)
        sys.stdin.readline()
        print(await backend.rules.spend(RunRef("deploy-bot", "s-1"), "rule-1"), flush=True)
asyncio.run(main(sys.argv[1]))
"""
PROCESSES = 20


async def test_of_twenty_processes_exactly_one_has_what_may_be_had_once(store_url: str) -> None:
    racers = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _RACER,
            store_url,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(PROCESSES)
    ]
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert await racer.stdout.readline() == b"ready\n"
        answers = await asyncio.gather(*(racer.communicate(b"go\n") for racer in racers))
    finally:
        for racer in racers:
            if racer.returncode is None:
                racer.kill()

    said = [out.decode().strip() for out, _ in answers]
    assert sorted(said) == ["False"] * (PROCESSES - 1) + ["True"]
    async with redis_backend(store_url) as backend:
        assert not await backend.rules.spend(RunRef("deploy-bot", "s-1"), "rule-1")
