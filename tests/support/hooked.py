"""``sayso hook claude-code`` and ``sayso ask`` as real processes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.commands import Done, start_command

from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS

Install = Callable[..., Done]
"""``sayso hook install claude-code`` with options and variables."""

READS = """
[[policy]]
allow = [{ tool = "read" }]
deny = [{ tool = "rm" }]
"""


def event(tool: str = "Bash", call_id: str = "toolu_1", **arguments: Any) -> bytes:
    """A call before it runs, as Claude Code tells of it."""
    said = {
        "hook_event_name": "PreToolUse",
        "session_id": "s-1",
        "cwd": "/work/shop",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": call_id,
    }
    return json.dumps(said).encode()


def decision(done: Done) -> tuple[str, str]:
    """What the hook decided, and why."""
    said = json.loads(done.out)["hookSpecificOutput"]
    return said["permissionDecision"], said["permissionDecisionReason"]


@dataclass
class Machine:
    """A user with settings and a store."""

    folder: Path
    env: Mapping[str, str]

    @asynccontextmanager
    async def started(
        self,
        *words: str,
        stdout: int = asyncio.subprocess.PIPE,
        env: Mapping[str, str] | None = None,
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A command that does not outlive the block."""
        process = await start_command(
            *words,
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=asyncio.subprocess.PIPE,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def run(self, *words: str, text: bytes = b"", **env: str) -> Done:
        """A command to its end."""
        async with self.started(*words, env=env) as process:
            return await ended(process, text)

    async def hook(self, text: bytes, *options: str, **env: str) -> Done:
        """The hook, to its end."""
        return await self.run("hook", "claude-code", *options, text=text, **env)


async def ended(process: asyncio.subprocess.Process, text: bytes = b"") -> Done:
    """The process, when it has read this and ended."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, err = await process.communicate(text)
    return Done(process.returncode or 0, (out or b"").decode(), err.decode())


async def until_asked(backend: Backend) -> PermissionRequestEvent:
    """The open question, as soon as there is one."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (waiting := await backend.store.list_requests()):
            await asyncio.sleep(0.01)
    record = await backend.store.get(waiting[0].request.question_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    return record.request


async def until(condition: Any) -> None:
    """Wait for what another process does."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def a_machine(folder: Path, toml: str, **env: str) -> Machine:
    """A machine with these settings."""
    config = folder / "sayso.toml"
    config.write_text(toml)
    own = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    whole = {
        **own,
        "HOME": str(folder),
        "USER": "tester",
        "XDG_RUNTIME_DIR": str(folder),
        "SAYSO_CONFIG": str(config),
        **env,
    }
    return Machine(folder, whole)
