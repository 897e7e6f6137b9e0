"""Allow-once between processes: of many that reach for it, exactly one has it."""

from __future__ import annotations

import asyncio
import sys

from sayso.calls import RunRef
from sayso.stores.redis import redis_backend
from sayso.stores.session_state import SessionState

_RACE = """
import asyncio, multiprocessing, os, sys
from sayso.calls import RunRef
from sayso.stores.redis import redis_backend
from sayso.stores.session_state import SessionState
async def run(url, start):
    async with redis_backend(url) as backend:
        await backend.outbox.count_workers()
        start.wait()
        had = await SessionState(backend.key_value).spend(RunRef("deploy-bot", "s-1"), "rule-1")
        os.write(1, f"{had}\\n".encode())  # in one piece, whoever else writes
def racer(url, start):
    asyncio.run(run(url, start))
fork, racers = multiprocessing.get_context("fork"), int(sys.argv[2])
start = fork.Barrier(racers)
started = [fork.Process(target=racer, args=(sys.argv[1], start)) for _ in range(racers)]
for one in started:
    one.start()
for one in started:
    one.join()
"""
PROCESSES = 20


async def test_of_twenty_processes_exactly_one_has_what_may_be_had_once(store_url: str) -> None:
    race = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _RACE, store_url, str(PROCESSES)), stdout=asyncio.subprocess.PIPE
    )
    try:
        said = (await race.communicate())[0].decode().split()
    finally:
        if race.returncode is None:
            race.kill()

    assert sorted(said) == ["False"] * (PROCESSES - 1) + ["True"]
    async with redis_backend(store_url) as backend:
        state = SessionState(backend.key_value)
        assert not await state.spend(RunRef("deploy-bot", "s-1"), "rule-1")
