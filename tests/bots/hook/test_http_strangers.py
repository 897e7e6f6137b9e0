"""Other programs beside Claude Code's HTTP hook: they neither block it nor read its token."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, closing

from support.hook_server import TOKEN, HookServer, hook_server, until_it_answers
from support.hooked import Machine, event

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.hook.http_hook import DECIDE_PATH

FEW_FILES = 'ulimit -S -n 64; exec "$@"'
MANY_CONNECTIONS = 100


async def connect(
    server: HookServer,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = server.address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def test_the_token_of_a_broken_call_is_quoted_neither_in_the_answer_nor_in_the_log(
    machine: Machine,
) -> None:
    async with hook_server(machine) as server:
        reader, writer = await connect(server)
        with closing(writer):
            lines = (f"POST {DECIDE_PATH} HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}\1")
            writer.write("\r\n".join((*lines, "", "")).encode())
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await reader.read()
        await server.stop()
        assert server.process.stderr is not None
        log = await server.process.stderr.read()

    assert b" 400 " in answer
    assert TOKEN.encode() not in answer + log


async def test_idle_connections_do_not_keep_a_call_from_its_decision(machine: Machine) -> None:
    serve = (sys.executable, "-P", "-m", "sayso_bots", "hook", "serve", "--listen", "127.0.0.1:0")
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", FEW_FILES, "sh", *serve),
        cwd=machine.folder,
        env={**machine.env, "SAYSO_HOOK_TOKEN": TOKEN},
        stderr=asyncio.subprocess.PIPE,
    )
    async with AsyncExitStack() as stack:
        server = await until_it_answers(process)
        stack.push_async_callback(server.stop)
        for _ in range(MANY_CONNECTIONS):
            _, writer = await connect(server)
            stack.enter_context(closing(writer))
        status, _ = await server.post(event("read"))

    assert status == 200
