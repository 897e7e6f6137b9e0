"""`sayso serve` at its end: no press in flight is lost."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from support.commands import (
    ROUTES,
    deliver_to,
    env_of,
    process,
    served,
)
from support.live import is_live

from sayso import Gate, RunRef, ToolCall
from sayso.events import Resolution
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import RequestStore, Settled
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.server import serving
from sayso_playground import Playground

RUN = RunRef("an-agent", "a-session")


async def test_a_press_right_before_the_end_counts_and_its_card_is_repaired(
    playground: Playground, tmp_path: Path, store_url: str
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = env_of(playground, SAYSO_STORE_URL=store_url)
    async with (
        served(playground, config, env) as working,
        process("ask", "x", "--timeout", "30s", env=env) as asking,
    ):
        card = await playground.slack.message_where(lambda m: is_live(m.buttons))
        press = await playground.slack.press(card, "Allow", by="alice")
        working.process.send_signal(signal.SIGTERM)
        stopped = await working.ended()
        asked = await asking.ended()
    async with served(playground, config, env):
        repaired = await playground.slack.message_where(lambda m: "Approved" in m.all_text)

    assert press.status == 200
    assert (asked.code, asked.out) == (0, "approved by slack:U0ALICE\n")
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, "sayso: stopped")
    assert repaired.ts == card.ts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_stops_when_it_is_told(
    number: signal.Signals, playground: Playground, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = env_of(playground, SAYSO_STORE_URL="memory://")
    async with served(playground, config, env) as working:
        working.process.send_signal(number)
        done = await working.ended()

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-2:] == [
        "sayso: stopping; presses in flight are finished first",
        "sayso: stopped",
    ]


async def test_a_second_signal_ends_it_at_once(playground: Playground, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = env_of(playground, SAYSO_STORE_URL="memory://")
    async with served(playground, config, env) as working:
        said = next(line for line in working.lines if "serves on" in line)
        url = urlsplit(said.split()[3])
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        # A call whose body never comes holds the end up; the answer says that it is taken.
        writer.write(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n")
        writer.write(b"Expect: 100-continue\r\n\r\n")
        assert b"100 Continue" in await reader.readline()
        working.process.send_signal(signal.SIGTERM)
        await working.line_with("stopping")
        working.process.send_signal(signal.SIGINT)
        done = await working.ended()
        writer.close()

    assert done.code == 130


class SlowStore:
    """A store that takes its time for the answer of a person, and says when it has begun."""

    def __init__(self, store: RequestStore) -> None:
        self._store = store
        self.began, self.go_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def settle(self, question_id: str, ending: Resolution, **more: Any) -> Settled:
        self.began.set()
        await self.go_on.wait()
        return await self._store.settle(question_id, ending, **more)


async def test_a_press_in_flight_is_stored_and_answered_when_the_bots_stop(
    playground: Playground,
) -> None:
    settings = build_settings(parse_source(ROUTES, env_of(playground, SAYSO_STORE_URL="memory://")))
    async with memory_backend() as memory:
        store = SlowStore(memory.store)
        backend = replace(memory, store=cast("RequestStore", store))
        async with Gate.open(backend, run=RUN) as gate:
            asking = asyncio.create_task(gate.check(ToolCall("x")))
            async with serving(settings, backend=backend) as working:
                deliver_to(playground, working.url)
                card = await playground.slack.message_where(lambda m: is_live(m.buttons))
                pressing = asyncio.create_task(playground.slack.press(card, "Allow", by="alice"))
                await store.began.wait()
                asyncio.get_running_loop().call_later(0.2, store.go_on.set)
            press = await pressing
            verdict = await asking

    assert press.status == 200
    assert verdict.approved
