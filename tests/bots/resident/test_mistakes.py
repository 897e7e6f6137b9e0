"""What is wrong with a command concerns nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.hooked import READS, Machine, a_machine, decision, ended, event, until_asked

from sayso.stores.backend import Backend
from sayso.testing import a_response


async def test_mistakes_are_told_by_the_command_itself(machine: Machine) -> None:
    for words in (("read", "--bogus"), ("read", "--timeout", "soon"), ("read", "--arg", "x")):
        helped = await machine.run("ask", *words)
        alone = await machine.run("ask", *words, SAYSO_HELPER="off")

        assert helped == alone
        assert helped.code == 2


async def test_a_mistake_of_one_command_ends_neither_the_helper_nor_the_questions_of_others(
    machine: Machine, backend: Backend
) -> None:
    helper = machine.helper()
    async with machine.started("hook", "claude-code") as hook:
        answering = asyncio.ensure_future(ended(hook, event("write")))
        asked = await until_asked(backend)

        await machine.run("ask", "--help")
        await machine.run("ask", "read", "--bogus")
        await machine.hook(event("read"), "--bogus")

        # A helper that ends needs a while for it. Whoever waited there asks once more.
        await backend.store.settle(asked.permission_id, a_response(asked))
        assert decision(await answering)[0] == "allow"

    assert machine.helper() == helper
    assert machine.listens()


async def test_help_is_given_by_the_command_itself(
    tmp_path: Path, runtime: Path, store_url: str
) -> None:
    machine = a_machine(tmp_path, runtime, READS, SAYSO_STORE_URL=store_url)
    machine.socket.parent.mkdir(mode=0o700)
    asked: list[object] = []

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(writer)
        writer.close()

    async with await asyncio.start_unix_server(answer, machine.socket):
        for option in ("--help", "-h"):
            done = await machine.run("ask", option)
            assert (done.code, "Exit codes" in done.out) == (2, True)
        assert asked == []
        await machine.run("ask", "read")
    assert len(asked) == 1
