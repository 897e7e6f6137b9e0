"""`sayso acp` between a client and an agent of the protocol's own package, unmodified."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import RequestPermissionResponse, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import AllowedOutcome
from support.people import Answering, People, allow, silent

from sayso import Outcome

AGENT = Path(__file__).with_name("agent_of_the_test.py")


class Editor:
    """An editor whose person answers as is said."""

    def __init__(self, answers: Callable[[], Awaitable[str]]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def request_permission(
        self, options: Any, session_id: str, tool_call: Any, **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call.tool_call_id)
        option = await self._answers()
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=option)
        )

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        return None


async def _never() -> str:
    await asyncio.Event().wait()
    return "never"


async def _yes() -> str:
    return "yes"


@asynccontextmanager
async def a_session(
    store_url: str, folder: Path, editor: Editor, *options: str
) -> AsyncIterator[tuple[ClientSideConnection, str]]:
    """The editor's connection to an agent behind ``sayso acp``."""
    client: Any = editor
    env = {**os.environ, "SAYSO_STORE_URL": store_url, "SAYSO_API_TOKEN": "secret"}
    words = ("-m", "sayso_bots", "acp", *options, "--", sys.executable, str(AGENT))
    async with spawn_agent_process(client, sys.executable, *words, env=env, cwd=folder) as (
        connection,
        _,
    ):
        await connection.initialize(protocol_version=1)
        session = await connection.new_session(cwd=str(folder), mcp_servers=[])
        yield connection, session.session_id


@pytest.mark.parametrize(
    ("in_chat", "in_editor", "by"), [(allow, _never, "slack:U0ALICE"), (silent, _yes, "acp:editor")]
)
async def test_whoever_answers_first_lets_the_agent_go_on(
    store_url: str,
    tmp_path: Path,
    in_chat: Answering,
    in_editor: Callable[[], Awaitable[str]],
    by: str,
) -> None:
    editor = Editor(in_editor)
    with People(store_url, in_chat) as people:
        session = a_session(store_url, tmp_path, editor)
        async with session as (connection, name), asyncio.timeout(30):
            await connection.prompt(name, [text_block("make deploy")])
            ending = await asyncio.to_thread(people.ended.get, timeout=20)

    assert (ending.outcome, ending.decided_by) == (Outcome.APPROVED, by)
    # Nothing that could answer questions is in the agent's environment.
    assert (tmp_path / "ran").read_text() == "make deploy []"


async def test_a_denial_in_chat_lets_nothing_run(store_url: str, tmp_path: Path) -> None:
    editor = Editor(_yes)

    def deny(request: Any) -> Any:
        return request.deny(by="slack:U0ALICE", at=request.expires_at)

    with People(store_url, deny):
        session = a_session(store_url, tmp_path, editor, "--chat-only")
        async with session as (connection, name), asyncio.timeout(30):
            said = await connection.prompt(name, [text_block("make deploy")])

    assert said.stop_reason == "end_turn"
    assert editor.asked == []
    assert not (tmp_path / "ran").exists()


async def test_without_a_store_nothing_runs(tmp_path: Path) -> None:
    editor = Editor(_yes)
    session = a_session("redis://localhost:1/0", tmp_path, editor, "--patience", "1s")
    async with session as (connection, name), asyncio.timeout(30):
        await connection.prompt(name, [text_block("make deploy")])

    assert editor.asked == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", ["acp", "mcp-proxy"])
def test_whoever_starts_it_with_files_is_told_so_in_a_line(
    store_url: str, tmp_path: Path, command: str
) -> None:
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "sayso_bots", command, "--", "cat"],
            env={**os.environ, "SAYSO_STORE_URL": store_url},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=50,
        )

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "sayso: stdin and stdout must be pipes: what speaks the protocol starts this"
    )
    assert "Traceback" not in done.stderr
