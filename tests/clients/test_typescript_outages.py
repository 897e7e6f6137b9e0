"""The client in TypeScript while connections break, replies are lost and bots start anew."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.api_world import TOML, World
from support.commands import deliver_to, env_of, process
from support.playing import a_playground
from support.ports import free_port
from support.typescript import Project
from support.typescript_calls import CHECK, ask, asked

from sayso.stores.connect import open_store
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.server.webserver import bind_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

TWO_AT_ONCE = f"""{CHECK}
const calls = ["first", "second"].map((command) => ({{
  name: "run_command", arguments: {{ command }},
}}));
const said = await Promise.all(calls.map((call) => sayso.check(call)));
console.log(JSON.stringify(said.map((verdict) => verdict.outcome)));
"""
EVENTS = f"""{CHECK}
const seen = [];
for await (const event of sayso.events({{ lastEventId: "0" }})) {{
  seen.push([event.type, event.lastEventId]);
  if (seen.length === 4) break;
}}
console.log(JSON.stringify(seen));
"""

EVENTS_OF_ONE_WHO_NOTICES = EVENTS.replace('"0" }', '"0", silence: 0.3 }')

# What is asked first takes the longest on its way.
IN_ORDER = f"""{CHECK}
const late = async (address, init) => {{
  if (init.body?.includes("first")) await new Promise((done) => setTimeout(done, 300));
  return fetch(address, init);
}};
const asking = new Sayso({{ url, token, agent: "deploy-bot", session, fetch: late }});
for (const command of ["first", "second", "third"]) {{
  asking.check({{ name: "run_command", arguments: {{ command }} }});
}}
const seen = [];
for await (const event of sayso.events({{ lastEventId: "0" }})) {{
  seen.push(event.data.arguments.command);
  if (seen.length === 3) break;
}}
console.log(JSON.stringify(seen));
process.exit();
"""
# It is aborted as soon as the first try has failed.
LEAVING = f"""{CHECK}
const stopping = new AbortController();
let left;
const refused = async (...how) => {{
  try {{
    return await fetch(...how);
  }} catch (error) {{
    left ??= performance.now();
    stopping.abort(new Error("the user went away"));
    throw error;
  }}
}};
const asking = new Sayso({{ url, token, agent: "deploy-bot", session, fetch: refused }});
const {{ signal }} = stopping;
const reason = await asking.check(call, {{ signal }}).catch((error) => error.message);
console.log(JSON.stringify([reason, performance.now() - left]));
process.exit();
"""


class Wire:
    """What is between a client and the bots, and can fail."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = ""
        self.posts: list[bytes] = []  # what the next posts are answered, b"" is an end without one
        self.looks: list[bytes] = []
        self.lost_replies = 0
        self.seen = b""
        self._open: set[asyncio.StreamWriter] = set()
        self._silent: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Wire]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self.cut()

    def cut(self) -> None:
        """All connections break."""
        for writer in self._open:
            writer.transport.abort()

    def fall_silent(self) -> None:
        """Nothing comes through the connections of now any more, and neither end is told."""
        self._silent |= self._open

    async def _connected(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            server, there = await asyncio.open_connection("127.0.0.1", self._port)
            self._open |= {back, there}
            ways = [
                asyncio.create_task(self._ask(client, there, back)),
                asyncio.create_task(self._answer(server, back)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for writer in (back, there):
                writer.close()
            self._open -= {back, there}

    async def _ask(
        self,
        client: asyncio.StreamReader,
        there: asyncio.StreamWriter,
        back: asyncio.StreamWriter,
    ) -> None:
        while data := await client.read(65_536):
            line = data.partition(b"\r\n")[0]
            is_post = line.startswith(b"POST ")
            faults = self.posts if is_post else self.looks if b"?wait=" in line else []
            if faults:
                back.write(faults.pop(0))
                await back.drain()
                return
            there.write(data)

    async def _answer(self, server: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        while data := await server.read(65_536):
            if self.lost_replies and data.startswith(b"HTTP/1.1 201 "):
                self.lost_replies -= 1
                return
            if back not in self._silent:
                back.write(data)
                self.seen += data


@asynccontextmanager
async def wire_to(world: World) -> AsyncIterator[Wire]:
    async with Wire(int(world.url.rpartition(":")[2])).open() as wire:
        yield wire


async def test_of_two_calls_at_once_none_loses_its_answer_when_connections_break(
    world: World, project: Project
) -> None:
    async with wire_to(world) as wire:
        node = await ask(project, world, TWO_AT_ONCE, url=wire.url)
        first, second = [await asked(world, command) for command in ("first", "second")]
        wire.cut()  # while both wait
        await world.respond(first)
        await world.respond(second, approved=False)

        assert await node.said() == ["approved", "denied"]


async def test_what_passes_is_tried_again_and_asks_once(world: World, project: Project) -> None:
    busy = (
        b"HTTP/1.1 429 x\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
        b'Content-Length: 41\r\n\r\n{"status":429,"code":"x","detail":"busy"}'
    )
    gateway = b"HTTP/1.1 502 x\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"
    page = b"HTTP/1.1 200 x\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"
    async with wire_to(world) as wire:
        wire.posts, wire.looks = [b"", gateway, busy], [b"", page]
        node = await ask(project, world, url=wire.url)
        await world.playground.slack.press(await world.card("terraform apply"), "Allow", by="alice")

        assert (await node.said())["allowed"] is True
    assert (wire.posts, wire.looks) == ([], [])


async def test_an_answer_to_a_lost_question_is_not_asked_twice(
    world: World, project: Project
) -> None:
    """The bots have taken the question, and their reply is lost on the way."""
    async with wire_to(world) as wire:
        wire.lost_replies = 1
        node = await ask(project, world, url=wire.url)
        await world.playground.slack.press(await world.card("terraform apply"), "Allow", by="alice")

        assert (await node.said())["allowed"] is True
    assert wire.lost_replies == 0


async def test_while_nobody_serves_nothing_is_allowed(world: World, project: Project) -> None:
    node = await ask(project, world, url=f"http://127.0.0.1:{free_port()}", HOW={"patience": 0.5})

    said = await node.said()

    assert said["error"] == "UnreachableError"
    assert "ECONNREFUSED" in said["message"]


async def test_an_abort_while_nobody_serves_ends_the_check_at_once(
    world: World, project: Project
) -> None:
    node = await ask(project, world, LEAVING, url=f"http://127.0.0.1:{free_port()}")

    reason, milliseconds = await node.said()

    assert reason == "the user went away"
    assert milliseconds < 1_000


async def test_calls_are_asked_in_the_order_in_which_they_were_made(
    world: World, project: Project
) -> None:
    node = await ask(project, world, IN_ORDER)

    assert await node.said() == ["first", "second", "third"]


async def test_a_wait_goes_on_where_the_bots_are_started_anew(
    project: Project, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    with bind_port("127.0.0.1", 0) as sockets:
        port = sockets[0].getsockname()[1]
    async with a_playground() as playground, open_store(store_url) as backend:
        env = env_of(playground, SAYSO_STORE_URL=store_url, SAYSO_PORT=str(port))
        world = World(f"http://127.0.0.1:{port}", playground, None, backend, None)  # type: ignore[arg-type]
        async with process("serve", "--config", str(config), env=env) as first:
            await first.line_with("serves on")
            deliver_to(playground, world.url)
            node = await ask(project, world)
            card = await world.card("terraform apply")
            first.process.terminate()
            await first.ended()
        async with process("serve", "--config", str(config), env=env) as second:
            await second.line_with("serves on")
            await playground.slack.press(card, "Allow", by="alice")
            said = await node.said()

    assert said["allowed"] is True


@pytest.mark.parametrize("how", ["it breaks", "it says nothing any more"])
async def test_events_are_followed_across_a_connection_that_is_lost(
    world: World, project: Project, how: str
) -> None:
    async with wire_to(world) as wire:
        first = await world.asked()
        await world.respond(first["permissionId"])
        breaks = how == "it breaks"
        node = await ask(
            project, world, EVENTS if breaks else EVENTS_OF_ONE_WHO_NOTICES, url=wire.url
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"PERMISSION_APPROVED" not in wire.seen:
                await asyncio.sleep(0.01)
        wire.cut() if breaks else wire.fall_silent()
        await world.asked()
        seen = await node.said()

    assert [kind for kind, _ in seen] == [
        *("PERMISSION_REQUEST", "PERMISSION_RESPONSE", "PERMISSION_APPROVED"),
        "PERMISSION_REQUEST",
    ]
    assert len({position for _, position in seen}) == 4
