"""The client in TypeScript works as it is, run by Node."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.api_world import CI, World
from support.typescript import CLIENT, node

from sayso.calls import RunRef
from sayso.stores.branch_log import KEPT_BYTES
from sayso.testing import a_request
from sayso.testing.builders import PATIENCE_SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Runs two calls at once and prints both answers, in the order of the calls.
TWO_AT_ONCE = """
const { Branch } = await import(process.argv[1]);
const { SAYSO_URL, SAYSO_TOKEN, SAYSO_SESSION } = process.env;
const branch = new Branch(SAYSO_URL, SAYSO_TOKEN, "deploy-bot", SAYSO_SESSION);
const calls = ["first", "second"].map((command) => branch.mayRun("run_command", { command }));
const said = await Promise.all(calls);
console.log(JSON.stringify(said.map((ending) => [ending.approved, ending.reason ?? ""])));
process.exit(0);
"""


class Wire:
    """What is between a client and the bots, and can fail."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = ""
        self.posts: list[bytes] = []  # what the next posts are answered, b"" is an end without one
        self.streams: list[bytes] = []
        self.opened = 0
        self.break_first = asyncio.Event()
        self.seen = b""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Wire]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self.break_first.set()
            server.close()

    async def _connected(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            server, there = await asyncio.open_connection("127.0.0.1", self._port)
            first = asyncio.Event()
            ways = [
                asyncio.create_task(self._ask(client, there, back, first)),
                asyncio.create_task(self._answer(server, back, first)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            back.close()
            there.close()

    async def _ask(
        self,
        client: asyncio.StreamReader,
        there: asyncio.StreamWriter,
        back: asyncio.StreamWriter,
        first: asyncio.Event,
    ) -> None:
        while data := await client.read(65_536):
            line = data.partition(b"\r\n")[0]
            is_stream = line.startswith(b"GET ") and b"/events" in line
            faults = self.streams if is_stream else self.posts
            if (is_stream or line.startswith(b"POST ")) and faults:
                back.write(faults.pop(0))
                await back.drain()
                return
            if is_stream:
                self.opened += 1
                if self.opened == 1:
                    first.set()
            there.write(data)

    async def _answer(
        self, server: asyncio.StreamReader, back: asyncio.StreamWriter, first: asyncio.Event
    ) -> None:
        while data := await server.read(65_536):
            back.write(data)
            self.seen += data
            if first.is_set() and b"\nid: " in data:
                await self.break_first.wait()
                return


@asynccontextmanager
async def wire_to(world: World) -> AsyncIterator[Wire]:
    async with Wire(int(world.url.rpartition(":")[2])).open() as wire:
        yield wire


async def start(
    world: World, *words: str, url: str = "", token: str = CI
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        node(),
        *(words or (str(CLIENT),)),
        env={
            "SAYSO_URL": url or world.url,
            "SAYSO_TOKEN": token,
            "SAYSO_SESSION": world.session_id,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def said(process: asyncio.subprocess.Process) -> str:
    """What the client printed when it was done."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


@pytest.mark.parametrize(("button", "code"), [("Allow", 0), ("Deny", 1)])
async def test_the_client_asks_and_gets_the_answer_of_a_person(
    world: World, button: str, code: int
) -> None:
    process = await start(world)
    card = await world.card("terraform apply")
    await world.playground.slack.press(card, button, by="alice")
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, err = await process.communicate()

    assert process.returncode == code, err.decode()
    ending = json.loads(out)
    assert ending["type"] == "PERMISSION_RESPONSE"
    assert ending["approved"] is (button == "Allow")
    assert ending["decidedBy"] == "slack:U0ALICE"


async def test_a_refusal_is_an_error_with_its_reason(world: World) -> None:
    process = await start(world, token="sayso_wrong" + "x" * 40)
    async with asyncio.timeout(PATIENCE_SECONDS):
        _, err = await process.communicate()

    assert process.returncode != 0
    assert "401 Unauthorized: this token is not known" in err.decode()


async def test_of_two_calls_at_once_none_loses_its_answer_when_a_connection_breaks(
    world: World,
) -> None:
    async with wire_to(world) as wire:
        process = await start(world, "--eval", TWO_AT_ONCE, str(CLIENT), url=wire.url)
        for command, button in (("first", "Allow"), ("second", "Deny")):
            await world.playground.slack.press(await world.card(command), button, by="alice")
        # One of them has heard of both answers, the other one of nothing yet.
        async with asyncio.timeout(PATIENCE_SECONDS):
            while wire.seen.count(b"event: PERMISSION_RESPONSE") < 2:
                await asyncio.sleep(0.01)
        wire.break_first.set()

        assert json.loads(await said(process)) == [[True, ""], [False, ""]]


async def test_an_answer_whose_event_is_gone_is_looked_up(world: World) -> None:
    async with wire_to(world) as wire:
        process = await start(world, url=wire.url)
        card = await world.card("terraform apply")
        await world.playground.slack.press(card, "Allow", by="alice")
        async with await world.follow("0") as stream:
            while (await stream.next()).type != "PERMISSION_RESPONSE":
                pass
        run = RunRef("deploy-bot", world.session_id)
        for number in range(17):
            request = a_request(f"{world.session_id}-{number}", run=run)
            await world.backend.store.open(request, seconds=60, inbox="", book=None)
            large = request.model_copy(update={"description": "x" * (KEPT_BYTES // 16)})
            await world.backend.log.append(run, request.question_id, "request", large)
        wire.break_first.set()

        assert json.loads(await said(process))["approved"] is True


async def test_what_passes_is_tried_again(world: World) -> None:
    busy = (
        b"HTTP/1.1 429 x\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
        b'Content-Length: 41\r\n\r\n{"status":429,"code":"x","detail":"busy"}'
    )
    gateway = b"HTTP/1.1 502 x\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"
    async with wire_to(world) as wire:
        wire.streams, wire.posts = [b"", busy, gateway], [b"", busy, gateway]
        process = await start(world, url=wire.url)
        wire.break_first.set()
        card = await world.card("terraform apply")
        await world.playground.slack.press(card, "Allow", by="alice")

        assert json.loads(await said(process))["approved"] is True
    assert not wire.streams
    assert not wire.posts
