"""Several ``sayso serve`` on one store share a port."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from support.commands import ROUTES, Process, Run, deliver_to, env_of, process
from support.ports import free_port

from sayso.errors import ConfigError
from sayso.testing import until
from sayso_bots.server.webserver import bind_port
from sayso_playground import DeliverTwice, Playground

SHARED = f"[server]\nreuse_port = true\n{ROUTES}"


@asynccontextmanager
async def served(config: Path, env: dict[str, str]) -> AsyncIterator[Process]:
    """Bots that have said that they serve."""
    async with process("serve", "--config", str(config), env=env) as bots:
        await bots.line_with("serves on")
        yield bots


async def asked(playground: Playground, store_url: str, command: str) -> int:
    """The exit code of a question that somebody allows."""
    arguments = ("run_command", "--arg", f"command={command}", "--timeout", "30s")
    async with process("ask", *arguments, env={"SAYSO_STORE_URL": store_url}) as asking:
        card = await playground.slack.message_where(lambda message: command in message.all_text)
        await playground.slack.press(card, "Allow", by="alice")
        return (await asking.ended()).code


async def statuses_of(url: str, count: int) -> set[int]:
    """What so many calls are answered, each on a connection of its own."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:

        async def status() -> int:
            async with session.get(f"{url}/healthz") as answer:
                return answer.status

        return set(await asyncio.gather(*(status() for _ in range(count))))


async def test_two_processes_on_one_port_answer_and_one_of_them_may_go(
    playground: Playground, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(SHARED)
    port = free_port()
    env = env_of(playground, SAYSO_STORE_URL=store_url, SAYSO_PORT=str(port))
    url = f"http://127.0.0.1:{port}"
    deliver_to(playground, url)
    async with served(config, env) as first, served(config, env) as second:
        both = await statuses_of(url, 20)
        codes = [await asked(playground, store_url, f"ls {number}") for number in range(3)]
        first.process.send_signal(signal.SIGTERM)
        ended = await first.ended()
        alone = await statuses_of(url, 20)
        codes.append(await asked(playground, store_url, "ls alone"))
        second.process.send_signal(signal.SIGTERM)
        await second.ended()

    assert both == alone == {200}
    assert codes == [0, 0, 0, 0]
    assert ended.code == 0


async def is_delivered_twice(playground: Playground) -> bool:
    """Whether both deliveries of a press were answered."""
    return [one.status is not None for one in playground.slack.deliveries] == [True, True]


async def test_the_same_signed_press_at_two_processes_decides_once(
    playground: Playground, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(SHARED)
    env = env_of(playground, SAYSO_STORE_URL=store_url, SAYSO_PORT=str(free_port()))
    deliver_to(playground, f"http://127.0.0.1:{env['SAYSO_PORT']}")
    playground.slack.misbehave("callback", DeliverTwice())
    async with served(config, env), served(config, env):
        code = await asked(playground, store_url, "ls twice")
        await until(lambda: is_delivered_twice(playground))

    assert code == 0
    assert sorted(one.status or 0 for one in playground.slack.deliveries) == [200, 409]


async def test_a_port_that_is_not_shared_is_refused_with_the_setting_to_make(
    playground: Playground, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    port = str(free_port())
    env = env_of(playground, SAYSO_STORE_URL=store_url, SAYSO_PORT=port)
    async with (
        served(config, env),
        process("serve", "--config", str(config), env=env) as second,
    ):
        done = await second.ended()

    assert done.code == 2
    assert f"port {port} on 127.0.0.1 is in use" in done.err
    assert "server.reuse_port = true in all that share it" in done.err


def test_memory_shares_no_port(run: Run, playground: Playground) -> None:
    env = env_of(playground, SAYSO_STORE_URL="memory://")

    done = run("serve", env=env, toml=SHARED)

    assert done.code == 2
    assert "server.reuse_port is for several processes, and memory:// serves one" in done.err


def test_a_platform_that_shares_no_port_is_told_what_to_do_instead() -> None:
    with (
        pytest.raises(ConfigError, match="give each process a port of its own"),
        bind_port("127.0.0.1", 0, reuse_port=True, can_share=False),
    ):
        pass
