"""The real Claude Code with a model of ours, in a home and a project of its own."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import claude_agent_sdk
from support.claude_model import Model, calls, says

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.cli.main import main
from sayso_bots.hook.agents import CLAUDE_CODE

# It uses what is allowed here without asking: whatever does not stop a call lets it run.
ALLOWED = ("--allowedTools", "Bash")


def claude_command() -> Path:
    """The command that comes with its SDK."""
    command = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    assert command.exists(), "the package of the SDK holds no command"
    return command


@dataclass
class ClaudeCode:
    """One project of one user. ``ran`` is the file that the model's command makes."""

    model: Model
    home: Path
    project: Path
    env: Mapping[str, str]
    config: Path
    printed: str = field(default="", init=False)

    @property
    def ran(self) -> list[str]:
        """What the commands that ran have written."""
        file = self.project / "ran"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def settings(self) -> Path:
        """The user's settings."""
        return self.home / ".claude" / "settings.json"

    def writes(self, word: str, call_id: str = "toolu_1") -> Mapping[str, Any]:
        """A call that leaves a word in ``ran``."""
        return calls("Bash", call_id, command=f"echo {word} >> ran", description="a test")

    def use_hook(self, command: str, event: str = "PreToolUse", **more: Any) -> None:
        """Settings with this hook."""
        hook = {"type": "command", "command": command, **more}
        settings = {"hooks": {event: [{"matcher": "*", "hooks": [hook]}]}}
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(settings))

    def hook(self) -> dict[str, Any]:
        """The hook that was written into the settings."""
        hooks = json.loads(self.settings.read_text())["hooks"]
        (entries,) = (hooks[event] for event in hooks if event in CLAUDE_CODE.events)
        hook: dict[str, Any] = entries[-1]["hooks"][0]
        return hook

    def hooks(self) -> list[int]:
        """The processes of hooks that work in the project now, without their shells."""
        found = []
        for process in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                is_hook = b"hook" in words and b"claude-code" in words
                if is_hook and (process / "cwd").resolve() == self.project.resolve():
                    found.append(int(process.name))
        return found

    async def install(self, *options: str, config: bool = True) -> None:
        """``sayso hook install claude-code`` for the user, with these settings."""
        named = ("--config", str(self.config)) if config else ()
        words = ("hook", "install", "claude-code", *named, *options)
        code = await asyncio.to_thread(main, words, self.env)
        assert code == 0

    async def start(self, *options: str) -> asyncio.subprocess.Process:
        """Let it work on the model's turns."""
        return await asyncio.create_subprocess_exec(
            *(str(claude_command()), "-p", "go on", *(options or ALLOWED)),
            cwd=self.project,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def ended(self, process: asyncio.subprocess.Process) -> int | None:
        """Its exit code, when it has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, _ = await process.communicate()
        self.printed = out.decode()
        return process.returncode

    async def work(self, *turns: Any, options: tuple[str, ...] = ()) -> dict[str, str]:
        """Play the turns to the end; what the model was told of its calls."""
        self.model.plays(*turns, [says("done")])
        process = await self.start(*options)
        code = await self.ended(process)
        assert code == 0, self.printed
        return self.model.results


def claude_code(folder: Path, model: Model, env: Mapping[str, str]) -> ClaudeCode:
    """Claude Code in a folder, with the model, and with ``env`` for its hooks."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    own = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    whole = {
        **own,
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(folder),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "of-a-model-of-ours",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        **env,
    }
    return ClaudeCode(model, home, project, whole, folder / "sayso.toml")
