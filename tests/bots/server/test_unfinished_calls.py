"""Calls that are never finished: they are given up, and leave room and a short log."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web
from support.api_world import CI, REVIEWER, TOML, a_body
from support.commands import WEBHOOK_SECRET, Process, deliver_to, env_of
from support.playing import a_playground

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.limits import CallTimeouts
from sayso_bots.server.server import serving
from sayso_bots.server.webserver import answering, bind_port, url_of
from sayso_playground import Playground

SHORT = CallTimeouts(call=0.2, answer=0.2)
PATHS = (
    "/slack/events",
    "/telegram/webhook",
    "/agents/a/sessions/b/branches/c/requests",
    "/agents/a/sessions/b/branches/c/responses",
    "/agents/a/sessions/b/branches/c/events/tickets",
)
# What lets a call come as far as its body.
PROVED = (
    f"Content-Type: application/json\r\nAuthorization: Bearer {REVIEWER}\r\n"
    f"X-Telegram-Bot-Api-Secret-Token: {WEBHOOK_SECRET}\r\n"
)
LENGTH, CHUNKED = "Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"


async def _read(request: web.Request) -> web.Response:
    return web.Response(text=f"{len(await request.read())} bytes")


async def _large(request: web.Request) -> web.Response:
    return web.Response(body=b"x" * int(request.query["size"]))


@asynccontextmanager
async def a_server(timeouts: CallTimeouts = SHORT, **limits: Any) -> AsyncIterator[str]:
    """The web server with an endpoint that reads its body, and one with a large answer."""
    routes = [web.post("/read", _read), web.get("/large", _large)]
    with bind_port("127.0.0.1", 0) as sockets:
        for taken in sockets:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        async with answering(sockets, routes, timeouts=timeouts, **limits):
            yield url_of(sockets)


@asynccontextmanager
async def bots_on(playground: Playground, toml: str) -> AsyncIterator[str]:
    """The bots in this process, on memory."""
    settings = build_settings(parse_source(toml, env_of(playground, SAYSO_STORE_URL="memory://")))
    async with serving(settings) as working:
        yield working.url


@asynccontextmanager
async def serve_with(limit: str, config: Path, env: dict[str, str]) -> AsyncIterator[Process]:
    """``sayso serve`` under a limit of a shell's."""
    command = f"ulimit {limit}; exec {sys.executable} -m sayso_bots serve --config {config}"
    started = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "USER": "tester", **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Process(started)
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


@asynccontextmanager
async def connected(
    url: str, source: tuple[str, int] | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(
        urlsplit(url).hostname, urlsplit(url).port, local_addr=source
    )
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@contextmanager
def held(url: str, sent: bytes, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """A connection that says this much, reads little, and is torn down at the end."""
    with socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.bind((source, 0))
        caller.connect((urlsplit(url).hostname, urlsplit(url).port))
        caller.sendall(sent)
        yield caller


def head_of(path: str, headers: str = LENGTH) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode()


CALL = head_of("/read", "Content-Length: 4\r\nConnection: close\r\n") + b"abcd"


async def answer_to(url: str, sent: bytes) -> tuple[int, str]:
    """The status of all that is answered until the server closes, and its text."""
    async with connected(url) as (reader, writer), asyncio.timeout(PATIENCE_SECONDS):
        writer.write(sent)
        return status_of((await reader.read()).decode())


def status_of(answer: str) -> tuple[int, str]:
    return (int(answer.split()[1]) if answer else 0), answer


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_a_call_has_ten_seconds_and_an_answer_sixty() -> None:
    assert CallTimeouts() == CallTimeouts(call=10, answer=60)


@pytest.mark.parametrize("headers", [LENGTH, CHUNKED])
async def test_a_body_that_is_not_finished_is_given_up(
    headers: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with a_server() as url:
        status, answer = await answer_to(url, head_of("/read", headers))

    assert status == 408
    assert json.loads(answer.partition("\r\n\r\n")[2])["code"] == "TooSlow"
    assert said(caplog) == ["a call did not arrive in time (from 127.0.0.1)"]


async def test_an_upload_that_broke_is_not_said_to_be_late(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with a_server() as url:
        async with connected(url, ("127.0.0.2", 0)) as (reader, writer):
            writer.write(head_of("/read", f"{CHUNKED}Expect: 100-continue\r\n"))
            await reader.readuntil(b"100 Continue\r\n\r\n")
            writer.write(b"5\r\nha")
            writer.close()
        # The time of a later call is over after that of this one.
        status, _ = await answer_to(url, head_of("/read"))

    assert status == 408
    late = [line for line in said(caplog) if "in time" in line]
    assert late == ["a call did not arrive in time (from 127.0.0.1)"]


async def test_a_body_that_trickles_in_is_given_up_as_well() -> None:
    async with a_server() as url, connected(url) as (reader, writer):
        writer.write(head_of("/read"))
        reading = asyncio.create_task(reader.readline())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not reading.done():
                writer.write(b"x")
                await asyncio.wait({reading}, timeout=0.05)
        answer = reading.result()

    assert answer.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("sent", [b"", b"POST /read HTTP/1.1\r\nHost:"])
async def test_headers_that_are_not_finished_are_given_up(sent: bytes) -> None:
    async with a_server() as url:
        status, _ = await answer_to(url, sent)

    assert status == (408 if sent else 0)


async def test_the_second_call_of_a_connection_has_to_be_finished_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    head = head_of("/read", "Content-Length: 2\r\nExpect: 100-continue\r\n")
    async with a_server() as url, connected(url) as (reader, writer):
        writer.write(head)
        await reader.readuntil(b"100 Continue\r\n\r\n")  # its body comes apart from its headers
        writer.write(b"{}")
        first = await reader.readuntil(b"2 bytes")
        writer.write(b"POST /re")
        async with asyncio.timeout(PATIENCE_SECONDS):
            second = await reader.read()

    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 408")
    assert said(caplog) == ["a call did not arrive in time (from 127.0.0.1)"]


async def test_what_is_finished_in_time_is_answered_however_it_arrives() -> None:
    head = head_of("/read", "Content-Length: 4\r\n")
    async with (
        a_server(CallTimeouts(call=PATIENCE_SECONDS)) as url,
        connected(url) as (reader, writer),
    ):
        for _ in range(3):
            for part in (head[:30], head[30:], b"ab", b"cd"):
                writer.write(part)
                await writer.drain()
            answer = await reader.readuntil(b"4 bytes")
            assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("size", "more"), [(8_000_000, ""), (60_000, "Connection: close\r\n")])
async def test_an_answer_that_nobody_reads_is_given_up(size: int, more: str) -> None:
    asking = f"GET /large?size={size} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode()
    async with a_server(each=1) as url:
        with held(url, asking):
            refused, _ = await answer_to(url, CALL)
            async with asyncio.timeout(PATIENCE_SECONDS):
                # Its source may have one connection: there is room when that one is gone.
                while (await answer_to(url, CALL))[0] != 200:
                    await asyncio.sleep(0.01)

    assert refused == 503


async def test_one_source_leaves_room_for_the_others(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        a_server(CallTimeouts(), most_connections=8, each=6) as url,
        AsyncExitStack() as stack,
    ):
        loop = asyncio.get_running_loop()
        flood = [stack.enter_context(held(url, head_of("/read"), "127.0.0.2")) for _ in range(20)]
        refused = []
        for caller in flood[6:]:
            caller.setblocking(False)
            refused.append(await loop.sock_recv(caller, 4_096))
        status, _ = await answer_to(url, CALL)

    assert status == 200
    assert {answer[:12] for answer in refused} == {b"HTTP/1.1 503"}
    assert all(b'"TooManyConnections"' in answer for answer in refused)
    [line] = said(caplog)
    assert line.startswith("more than 6 connections of one source; further ones are closed, see")
    assert line.endswith("server.connections_per_source (from 127.0.0.2)")


async def test_all_sources_together_have_no_more_connections_than_there_is_room_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        a_server(CallTimeouts(), most_connections=8, each=6) as url,
        AsyncExitStack() as stack,
    ):
        for source in ("127.0.0.2", "127.0.0.3"):
            for _ in range(4):
                stack.enter_context(held(url, head_of("/read"), source))
        status, answer = await answer_to(url, CALL)

    assert status == 503
    assert '"TooManyConnections"' in answer
    assert said(caplog) == ["more than 8 connections; further ones are closed"]


async def test_a_connection_that_is_gone_makes_room_again() -> None:
    async with a_server(CallTimeouts(), most_connections=8, each=1) as url:
        statuses = [(await answer_to(url, CALL))[0] for _ in range(5)]

    assert statuses == [200] * 5


@pytest.mark.parametrize("path", PATHS)
async def test_a_dropped_post_writes_no_traceback(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with a_playground() as playground, bots_on(playground, TOML) as url:
        caplog.clear()
        for count in range(8):
            for headers in (LENGTH, CHUNKED):
                sent = head_of(path, f"{headers}{PROVED}") + b"SECRETS"[:count]
                with held(url, sent):
                    await alive(url)
        await alive(url)

    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "SECRET" not in caplog.text
    assert len(said(caplog)) <= 3


async def alive(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz") as answer:
        assert answer.status == 200


async def test_half_bodies_do_not_take_a_server_with_400_files_down(
    store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(f"{TOML}[server]\nconnections_per_source = 100\n")
    branch = "/agents/deploy-bot/sessions/s-42/branches/main"
    headers = {"Authorization": f"Bearer {CI}"}
    async with a_playground() as playground, AsyncExitStack() as stack:
        flood = stack.enter_context(ExitStack())
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        bots = await stack.enter_async_context(serve_with("-n 400", config, env))
        url = (await bots.line_with("serves on")).split()[3]
        deliver_to(playground, url)
        for number in range(320):
            half = head_of(PATHS[number % len(PATHS)], f"{PROVED}{LENGTH}") + b"{"
            with suppress(ConnectionError):
                flood.enter_context(held(url, half, "127.0.0.2"))
        session = await stack.enter_async_context(aiohttp.ClientSession(url, headers=headers))
        async with session.post(f"{branch}/requests", json=a_body()) as asked:
            request_id = (await asked.json())["request"]["permissionId"]
        card = await playground.slack.message_where(
            lambda message: "deploy-bot" in message.all_text
        )
        await playground.slack.press(card, "Allow", by="alice")
        async with session.get(f"{branch}/requests/{request_id}") as shown:
            answered = (await shown.json())["response"]
        flood.close()
        bots.process.terminate()
        done = await bots.ended()

    assert answered["approved"] is True
    assert done.code == 0
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) < 30
