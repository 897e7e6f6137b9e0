"""However many streams are opened, the bots stay reachable, and the log stays short."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from support.api_world import (
    CI,
    REVIEWER,
    TOML,
    a_body,
)
from support.commands import Process, deliver_to, env_of
from support.playing import a_playground

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.process.resources import room_in
from sayso_bots.server.limits import quiet_accepting

_BRANCH = "/agents/deploy-bot/sessions/s-42/branches/main"


async def serve_with(limit: str, config: Path, env: dict[str, str]) -> Process:
    """``sayso serve`` under a limit of a shell's."""
    command = f"ulimit {limit}; exec {sys.executable} -m sayso_bots serve --config {config}"
    return Process(
        await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "USER": "tester", **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    )


async def opened(url: str, token: str) -> tuple[int, asyncio.StreamWriter]:
    """A stream that is left open, or the refusal."""
    reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
    head = f"GET {_BRANCH}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    writer.write(head.encode())
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            line = await reader.readline()
        except ConnectionError:
            line = b""
    return int(line.split()[1]) if line else 0, writer


@pytest.mark.parametrize(
    ("files", "connections", "streams"),
    [(200, 134, 90), (1_024, 896, 768), (20_000, 19_872, 10_000), (1_000_000, 999_872, 10_000)],
)
def test_the_open_files_are_shared_out(files: int, connections: int, streams: int) -> None:
    room = room_in(files)

    assert (room.connections, room.streams) == (connections, streams)


async def test_many_streams_leave_the_bots_reachable(store_url: str, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    async with a_playground() as playground, aiohttp.ClientSession() as session:
        bots = await serve_with("-n 200", config, env_of(playground, SAYSO_STORE_URL=store_url))
        held = []
        try:
            url = (await bots.line_with("serves on")).split()[3]
            deliver_to(playground, url)
            mine = [await opened(url, CI) for _ in range(60)]
            theirs = [await opened(url, REVIEWER) for _ in range(60)]
            held = [writer for _, writer in (*mine, *theirs)]
            async with session.post(
                f"{url}{_BRANCH}/requests", json=a_body(), headers={"Authorization": f"Bearer {CI}"}
            ) as asked:
                status, said = asked.status, await asked.json()
            card = await playground.slack.message_where(lambda one: "deploy-bot" in one.all_text)
            await playground.slack.press(card, "Allow", by="alice")
            further = [await opened(url, CI) for _ in range(150)]
            held += [writer for _, writer in further]
            bots.process.terminate()
            done = await bots.ended()
        finally:
            if bots.process.returncode is None:
                bots.process.kill()
                await bots.process.wait()
            for writer in held:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    statuses = [status for status, _ in mine]
    assert statuses == [200] * 45 + [429] * 15
    assert [status for status, _ in theirs] == [200] * 45 + [503] * 15
    assert (status, said["response"]) == (201, None)
    assert {status for status, _ in further} <= {503, 429}
    assert 503 in {status for status, _ in further}
    assert done.code == 0
    assert len(done.err.splitlines()) < 30
    assert "Traceback" not in done.err


async def test_that_no_connection_can_be_accepted_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop = asyncio.get_running_loop()
    error = OSError(errno.EMFILE, "Too many open files")
    with quiet_accepting(loop), caplog.at_level(logging.INFO):
        for _ in range(500):
            message = "socket.accept() out of system resource"
            loop.call_exception_handler({"message": message, "exception": error})
        loop.call_exception_handler({"message": "something else"})

    (one, other) = [record.getMessage() for record in caplog.records]
    assert one == "no connection can be accepted: too many open files; raise `ulimit -n`"
    assert other == "something else"


async def test_as_many_files_are_opened_as_may_be(store_url: str, tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    async with a_playground() as playground:
        bots = await serve_with("-S -n 250", config, env_of(playground, SAYSO_STORE_URL=store_url))
        await bots.line_with("serves on")
        limits = resource.prlimit(bots.process.pid, resource.RLIMIT_NOFILE)
        bots.process.terminate()
        done = await bots.ended()

    assert limits == (hard, hard)
    assert done.code == 0
