"""`sayso serve --workers`: several processes behind one port, like one to whoever calls it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from support.commands import ROUTES, Process, Run, deliver_to, env_of, process
from support.playing import a_playground

from sayso.calls import new_id
from sayso.testing import until
from sayso_bots.server.workers import Pauses
from sayso_playground import DeliverTwice, Playground

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Bots:
    """Two workers, and who plays with them."""

    playground: Playground
    process: Process
    url: str
    store_url: str
    lines: list[str]

    @property
    def pid(self) -> int:
        return self.process.process.pid

    def workers(self) -> Collection[int]:
        """The processes that the parent has started and that live."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return {int(pid) for pid in children.split()}

    async def ready(self) -> dict[str, Any]:
        """What /readyz says."""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.url}/readyz") as answer,
        ):
            said: dict[str, Any] = await answer.json()
            return said

    async def is_whole(self) -> bool:
        """Whether every worker knows that all are ready."""
        return not any([(await self.ready())["problems"] for _ in range(2)])

    async def asked(self, command: str, press: str) -> int:
        """The exit code of a question that somebody presses on."""
        env = {"SAYSO_STORE_URL": self.store_url}
        arguments = ("run_command", "--arg", f"command={command}", "--timeout", "30s")
        async with process("ask", "--quiet", *arguments, env=env) as asking:
            card = await self.playground.slack.message_where(lambda m: command in m.all_text)
            await self.playground.slack.press(card, press, by="alice")
            return (await asking.ended()).code


async def seen(true: Callable[[], bool]) -> None:
    """Wait until something is so."""

    async def is_true() -> bool:
        return true()

    await until(is_true)


@asynccontextmanager
async def two_workers(config: Path, store_url: str, **env: str) -> AsyncIterator[Bots]:
    async with a_playground() as playground:
        env = {**env_of(playground, SAYSO_STORE_URL=store_url), **env}
        env = {name: value for name, value in env.items() if value}
        command = ("serve", "--config", str(config), "--workers", "2")
        async with process(*command, env=env) as bots:
            url = (await bots.line_with("serves on")).split()[3]
            if "SLACK_APP_TOKEN" not in env:
                deliver_to(playground, url)
            lines: list[str] = []
            room = Bots(playground, bots, url, store_url, lines)
            reading = asyncio.create_task(_read(bots, lines))
            try:
                await until(room.is_whole)
                yield room
            finally:
                reading.cancel()


async def _read(bots: Process, lines: list[str]) -> None:
    assert bots.process.stderr is not None
    while line := await bots.process.stderr.readline():
        lines.append(line.decode().rstrip("\n"))


def in_namespace(redis_url: str) -> str:
    return f"{redis_url}{'&' if '?' in redis_url else '?'}namespace=workers-{new_id()}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bots(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bots]:
    config = tmp_path_factory.mktemp("workers") / "sayso.toml"
    config.write_text(ROUTES)
    async with two_workers(config, in_namespace(redis_url)) as working:
        yield working


async def test_a_question_is_answered_whichever_worker_takes_the_press(bots: Bots) -> None:
    assert len(bots.workers()) == 2
    assert [await bots.asked(f"ls {n}", "Allow") for n in range(4)] == [0, 0, 0, 0]


async def test_the_same_signed_press_at_two_workers_decides_once(bots: Bots) -> None:
    before = len(bots.playground.slack.deliveries)
    bots.playground.slack.misbehave("callback", DeliverTwice())

    assert await bots.asked("ls twice", "Deny") == 1

    await seen(lambda: len(bots.playground.slack.deliveries) == before + 2)
    statuses = sorted(one.status or 0 for one in bots.playground.slack.deliveries[before:])
    assert statuses == [200, 409]


async def test_all_workers_read_the_policy_again_when_they_are_told(bots: Bots) -> None:
    os.kill(bots.pid, signal.SIGHUP)

    # No file has changed: each of them reads because it was told.
    await seen(lambda: sum("the policy was read again" in line for line in bots.lines) == 2)


async def test_a_worker_that_dies_is_said_and_started_again_while_the_other_serves(
    bots: Bots,
) -> None:
    before = bots.workers()
    lost = min(before)
    told = len(bots.lines)

    os.kill(lost, signal.SIGKILL)
    await seen(lambda: len(bots.workers()) == 1)
    missing = await bots.ready()
    code = await bots.asked("ls alone", "Allow")
    await until(bots.is_whole)

    assert (missing["ready"], missing["degraded"]) == (True, ["workers"])
    assert missing["problems"] == {"workers": "1 of 2 are ready"}
    assert code == 0
    assert len(bots.workers()) == 2
    assert bots.workers() != before
    (line,) = [line for line in bots.lines[told:] if "started again" in line]
    assert re.search(r"worker [12] of 2 ended with 137; it is started again in 0\.5 s", line)


async def test_calls_that_wait_for_a_worker_cost_their_parent_next_to_nothing(bots: Bots) -> None:
    for worker in bots.workers():
        os.kill(worker, signal.SIGKILL)
    await seen(lambda: not bots.workers())
    before = _cpu_seconds(bots.pid)

    # One after the other, so that the parent has taken some when the others come.
    calls = [await asyncio.open_connection(*_address(bots.url)) for _ in range(20)]
    for _, writer in calls:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: bots\r\nConnection: close\r\n\r\n")
    answers = await asyncio.gather(*(reader.readline() for reader, _ in calls))

    assert set(answers) == {b"HTTP/1.1 200 OK\r\n"}
    assert _cpu_seconds(bots.pid) - before < 0.25
    for _, writer in calls:
        writer.close()
    await until(bots.is_whole)


def _cpu_seconds(pid: int) -> float:
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


async def test_connections_are_shared_out_evenly(bots: Bots) -> None:
    connections = [await asyncio.open_connection(*_address(bots.url)) for _ in range(20)]

    await seen(lambda: _connections(bots) == [10, 10])

    for _, writer in connections:
        writer.close()


async def test_all_end_in_order_with_one_word_and_one_code(redis_url: str, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    async with two_workers(config, in_namespace(redis_url)) as bots:
        workers = bots.workers()
        # As systemd does it, and so does Ctrl-C: all of them hear of it, and the parent tells them.
        for pid in (bots.pid, *workers):
            os.kill(pid, signal.SIGTERM)
        code = await asyncio.wait_for(bots.process.process.wait(), 20)
        await seen(lambda: bots.lines[-1:] == ["sayso: stopped"])

    assert code == 0
    assert [line for line in bots.lines if line.startswith("sayso: stop")] == [
        "sayso: stopping; presses in flight are finished first",
        "sayso: stopped",
    ]
    assert not any(_lives(pid) for pid in workers)


async def test_workers_whose_parent_is_gone_end_by_themselves(
    redis_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    async with two_workers(config, in_namespace(redis_url)) as bots:
        workers = bots.workers()
        os.kill(bots.pid, signal.SIGKILL)

        await seen(lambda: not any(_lives(pid) for pid in workers))


async def test_one_of_them_polls_and_all_answer_over_sockets(
    redis_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(f'[slack]\nmode = "socket"\n[telegram]\nmode = "polling"\n{ROUTES}')
    env = {"SLACK_APP_TOKEN": "xapp-of-the-playground", "TELEGRAM_WEBHOOK_SECRET": ""}
    async with a_playground() as elsewhere:
        env["SLACK_APP_TOKEN"] = elsewhere.config.slack_app_token
    async with two_workers(config, in_namespace(redis_url), **env) as bots:
        codes = [await bots.asked(f"ls {n}", "Allow") for n in range(3)]

    assert codes == [0, 0, 0]
    assert sum("polling Telegram for updates" in line for line in bots.lines) == 1
    assert not any("Conflict" in line for line in bots.lines)


async def test_what_is_wrong_at_the_start_is_one_line_and_the_code_of_one_process(
    redis_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    async with a_playground() as playground:
        env = env_of(playground, SAYSO_STORE_URL=redis_url, SAYSO_WORKERS="3")
        env["SLACK_BOT_TOKEN"] = "xoxb-nobody-knows-this"
        async with process("serve", "--config", str(config), env=env) as bots:
            done = await bots.ended()

    settings, error = done.err.splitlines()
    assert (done.code, settings) == (2, f"sayso: settings: {config}")
    assert "invalid_auth" in error


async def test_memory_serves_one_process(run: Run, playground: Playground) -> None:
    env = env_of(playground, SAYSO_STORE_URL="memory://")

    by_setting = run("check", env=env, toml=f"[server]\nworkers = 2\n{ROUTES}")
    by_option = run("serve", "--workers", "2", env=env, toml=ROUTES)

    said = "is 2, and memory:// serves one process; name a Redis, or leave it at 1"
    assert f"server.workers {said}" in by_setting.out + by_setting.err
    assert (by_option.code, by_option.err) == (2, f"sayso: --workers {said}\n")


async def test_pauses_grow_until_a_worker_has_served() -> None:
    pauses = Pauses()

    assert [pauses.next(1) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert [pauses.next(61), pauses.next(1)] == [0.5, 1]


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def _connections(bots: Bots) -> list[int]:
    """How many connections to their port each worker has."""
    port = f":{_address(bots.url)[1]:04X}"
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    established = {row[9] for row in rows if row[1].endswith(port) and row[3] == "01"}
    held: Counter[int] = Counter()
    for pid in bots.workers():
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inode = re.match(r"socket:\[(\d+)\]", str(entry.readlink()))
            except FileNotFoundError:
                continue
            held[pid] += inode is not None and inode[1] in established
    return sorted(held.values())


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
