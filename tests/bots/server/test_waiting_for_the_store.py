"""`sayso serve` that starts while the store is away."""

from __future__ import annotations

import logging
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from support.commands import ROUTES, env_of, process
from support.ports import free_port
from support.valkey_server import Valkey

from sayso.clock import utc_now
from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.server.waiting import wait_for_store
from sayso_playground import Playground


class AwayFor(MemoryKeyValue):
    """A store that answers after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__(utc_now)
        self.looks = looks

    async def get(self, key: str) -> str | None:
        self.looks -= 1
        if self.looks >= 0:
            raise StoreUnreachableError("no Redis answers")
        return await super().get(key)


class Seconds:
    """A clock that a pause moves on."""

    def __init__(self) -> None:
        self.now = 50.0

    async def pause(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture
async def memory() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


STORE = StoreSettings("redis://h")


async def test_a_start_waits_for_the_store_with_a_line_every_five_seconds(
    memory: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = Seconds()
    backend = replace(memory, key_value=AwayFor(12))

    with caplog.at_level(logging.INFO):
        found = await wait_for_store(backend, STORE, [], pause=seconds.pause, clock=seconds)

    assert (found.level, seconds.now) == ("ok", 62.0)
    assert [record.getMessage() for record in caplog.records] == [
        f"store.url: no Redis answers; waiting for it, for {left} more"
        for left in ("5m", "4m 55s", "4m 50s")
    ]


async def test_a_start_gives_up_after_five_minutes(memory: Backend) -> None:
    seconds, late = Seconds(), Seconds()
    in_time = replace(memory, key_value=AwayFor(300))
    too_late = replace(memory, key_value=AwayFor(301))

    found = await wait_for_store(in_time, STORE, [], pause=seconds.pause, clock=seconds)
    with pytest.raises(StoreUnreachableError, match=r"store\.url: no Redis answers"):
        await wait_for_store(too_late, STORE, [], pause=late.pause, clock=late)

    assert found.level == "ok"
    assert seconds.now == late.now == 350.0


async def test_serve_that_starts_while_redis_is_away_works_once_it_is_there(
    playground: Playground, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    server, port = Valkey(), free_port()
    url = f"http://127.0.0.1:{port}"
    env = env_of(playground, SAYSO_STORE_URL=server.url, SAYSO_PORT=str(port))
    try:
        async with (
            process("serve", "--config", str(config), env=env) as bots,
            aiohttp.ClientSession() as session,
        ):
            await bots.line_with("waiting for it, for 5m more")
            async with session.get(f"{url}/healthz") as alive:
                assert alive.status == 200
            async with session.get(f"{url}/readyz") as ready:
                assert (ready.status, (await ready.json())["ready"]) == (503, False)
            async with session.post(f"{url}/telegram/webhook", json={}) as update:
                assert (update.status, update.headers["Retry-After"]) == (503, "5")
            server.start()
            await bots.line_with("serves on")
            async with session.get(f"{url}/readyz") as ready:
                assert (ready.status, (await ready.json())["ready"]) == (200, True)
            bots.process.send_signal(signal.SIGTERM)
            done = await bots.ended()
    finally:
        server.close()

    assert done.code == 0
    assert server.password not in "".join(bots.lines) + done.err


async def test_serve_that_waits_for_redis_can_be_stopped(
    playground: Playground, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = env_of(playground, SAYSO_STORE_URL="redis://127.0.0.1:1/0")
    async with process("serve", "--config", str(config), env=env) as bots:
        said = await bots.line_with("waiting for it")
        bots.process.send_signal(signal.SIGTERM)
        done = await bots.ended()

    assert said.endswith("; waiting for it, for 5m more")
    assert (done.code, done.err.splitlines()[-1]) == (0, "sayso: stopped")
