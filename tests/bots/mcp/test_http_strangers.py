"""Requests over HTTP that no client of the protocol sends, and more clients than there is room."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import AsyncExitStack
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import pytest
from support.mcp_machine import Machine
from support.mcp_room import McpRoom, call, modern
from support.mcp_serving import ACCEPT, BEGIN, Served, served

from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.mcp.http_transport import PATH, HttpTransport
from sayso_bots.mcp.messages import read
from sayso_bots.mcp.upstreams import MAX_SESSIONS, ProcessUpstream, TooManySessionsError
from sayso_bots.server.webserver import answering, bind_port, url_of

DAY_SECONDS = 86_400.0
TOKEN = "of-this-test-and-of-no-other-one-at-all"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
# A server that costs little: it answers everything with the same.
_RESULT = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s"}}'
SMALL = f'while read -r line; do echo \'{{"jsonrpc":"2.0","id":1,"result":{_RESULT}}}\'; done'


async def raw_status(proxy: Served, *headers: bytes) -> int:
    """The status of a request with just these headers."""
    parts = urlsplit(proxy.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    lines = [f"POST {parts.path} HTTP/1.1".encode(), *headers, b"Content-Length: 2", b"", b"{}"]
    writer.write(b"\r\n".join(lines))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return int((await reader.readline()).split()[1])
    finally:
        writer.close()


class Answer(NamedTuple):
    status: int
    session: str
    text: str


async def post(web: aiohttp.ClientSession, url: str, message: object, session: str = "") -> Answer:
    """Post a message in a session, over a connection of its own."""
    headers = {**ACCEPT, "Connection": "close"}
    if session:
        headers["Mcp-Session-Id"] = session
    async with web.post(url, json=message, headers=headers) as response:
        name = response.headers.get("Mcp-Session-Id", "")
        return Answer(response.status, name, await response.text())


UNREADABLE: dict[tuple[bytes, ...], int] = {
    (b"Host: localhost", b"Authorization: Bearer \xff\xfe"): 401,
    (b"Host: localhost", b"Authorization: \xc3"): 401,
    (b"Host: [",): 403,
    (b"Host: \xff",): 403,
    (b"Host: localhost", b"Origin: http://["): 403,
    (b"Host: localhost", b"Origin: http://[::1"): 403,
    (b"Host: localhost", b"Origin: \xff"): 403,
}


async def test_headers_that_nobody_can_read_are_refused_and_the_next_client_is_served(
    machine: Machine,
) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with served(machine, *machine.proxied(), SAYSO_MCP_TOKEN=TOKEN) as proxy:
        for headers, status in UNREADABLE.items():
            assert await raw_status(proxy, *headers) == status, headers
            assert (await proxy.post(call("look", meta=modern()), bearer))[0] == 200
        proxy.process.send_signal(signal.SIGTERM)
        assert proxy.process.stderr is not None
        said = await proxy.process.stderr.read()

    assert b"Traceback" not in said


async def test_without_a_token_of_ours_any_proof_reaches_the_server(machine: Machine) -> None:
    async with served(machine, *machine.proxied()) as proxy:
        proof = b"Authorization: Bearer \xff"
        assert await raw_status(proxy, b"Host: localhost", proof) == 400  # {} is no message


async def test_who_comes_when_there_is_no_room_takes_the_place_of_who_was_away_longest(
    machine: Machine,
) -> None:
    words = ("mcp-proxy", "--agent", "wiki", "--", "sh", "-c", SMALL)
    async with served(machine, *words) as proxy, aiohttp.ClientSession() as web:
        sessions = [(await post(web, proxy.url, BEGIN)).session for _ in range(MAX_SESSIONS)]
        assert (await post(web, proxy.url, PING, sessions[0])).status == 200

        assert (await post(web, proxy.url, BEGIN)).status == 200
        assert (await post(web, proxy.url, PING, sessions[0])).status == 200
        assert (await post(web, proxy.url, PING, sessions[1])).status == 404


class ShiftedLoop(asyncio.SelectorEventLoop):
    """A loop in which a day can pass at once."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def test_a_client_that_was_away_for_a_day_reads_that_its_session_is_over_and_begins_anew() -> None:
    loop = ShiftedLoop()

    async def talk() -> tuple[Answer, ...]:
        upstream = ProcessUpstream(("sh", "-c", SMALL), os.environ)
        async with memory_backend() as backend, aiohttp.ClientSession() as web:
            http = HttpTransport(McpRoom(backend).proxy, upstream, token="", names=())
            with bind_port("127.0.0.1", 0) as sockets:
                async with answering(sockets, http.routes(), handler_cancellation=True):
                    url = f"{url_of(sockets)}{PATH}"
                    session = (await post(web, url, BEGIN)).session
                    in_time = await post(web, url, PING, session)
                    loop.ahead += DAY_SECONDS
                    late = await post(web, url, PING, session)
                    answers = (in_time, late, await post(web, url, BEGIN))
            await upstream.close()
        return answers

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        answers = runner.run(talk())

    assert [answer.status for answer in answers] == [200, 404, 200]
    assert "session" in json.loads(answers[1].text)["error"]["message"].casefold()


def test_sessions_in_use_end_for_nobody() -> None:
    """However long they last, and however many clients come."""
    loop = ShiftedLoop()
    begin, ping = read(json.dumps(BEGIN).encode()), read(json.dumps(PING).encode())

    async def talk() -> None:
        upstream = ProcessUpstream(("sh", "-c", SMALL), os.environ)
        async with AsyncExitStack() as clients:
            for _ in range(MAX_SESSIONS):
                first = await clients.enter_async_context(upstream.connect(begin, {}))
            loop.ahead += DAY_SECONDS
            async with upstream.connect(ping, {"Mcp-Session-Id": first.session}) as again:
                assert again.server is first.server
            with pytest.raises(TooManySessionsError):
                await clients.enter_async_context(upstream.connect(begin, {}))
        async with upstream.connect(begin, {}) as another:
            assert another.session != first.session
        await upstream.close()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(talk())
