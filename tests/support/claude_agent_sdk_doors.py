"""The Claude Agent SDK as a test says: its callback alone, and its real command.

The command starts in seconds and has a model server of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    PermissionResultAllow,
    ToolAnnotations,
    ToolPermissionContext,
    create_sdk_mcp_server,
    query,
    tool,
)
from support.claude_model import Model, calls, model_served, says
from support.doors import Door, Work

from sayso import Gate, ToolCall
from sayso_agents.claude_agent_sdk import can_use_tool

SERVED = "mcp__work__"
"""What Claude Code puts before the names of the tools of our server."""


def environment(home: Path, url: str) -> dict[str, str]:
    """What the command is told: its home, and where its model is."""
    return {
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "of-a-model-of-ours",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


@contextmanager
def a_project(model: Model) -> Iterator[ClaudeAgentOptions]:
    """Options for one run in a project of its own, with nobody's settings."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        project.mkdir()
        yield ClaudeAgentOptions(
            cwd=project, env=environment(home, model.url), setting_sources=[], max_turns=9
        )


def server(work: Work) -> Mapping[str, Any]:
    """The tools of the work, on a server inside this process."""
    # Claude Code makes calls of one message one after the other unless they only look.
    looks = ToolAnnotations(readOnlyHint=True)

    def told(result: str) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": result}]}

    @tool("deploy", "Deploy a release.", {"environment": str, "release": int}, annotations=looks)
    async def deploy(given: dict[str, Any]) -> dict[str, Any]:
        return told(await work.deploy(**given))

    @tool("restart", "Restart a service.", {"service": str}, annotations=looks)
    async def restart(given: dict[str, Any]) -> dict[str, Any]:
        return told(await work.restart(**given))

    return {"work": create_sdk_mcp_server("work", tools=[deploy, restart])}


class Calling(Door):
    """The callback as the SDK calls it, without Claude Code."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        decide = can_use_tool(sayso, session=work.session)

        async def make(call: ToolCall) -> str:
            context = ToolPermissionContext(tool_use_id=call.call_id)
            result = await decide(f"{SERVED}{call.name}", {**call.arguments}, context)
            if not isinstance(result, PermissionResultAllow):
                return result.message
            arguments = call.arguments if result.updated_input is None else result.updated_input
            return str(await getattr(work, call.name)(**arguments))

        told: list[str] = []
        for turn in work.turns:
            told += await asyncio.gather(*map(make, turn))
        return told


class Asking(Door):
    """Claude Code asks by ``can_use_tool``."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        async with model_served() as model:
            model.plays(
                *(
                    [calls(f"{SERVED}{one.name}", one.call_id, **one.arguments) for one in turn]
                    for turn in work.turns
                ),
                [says("Done.")],
            )
            with a_project(model) as options:
                options.mcp_servers = dict(server(work))
                options.can_use_tool = can_use_tool(sayso, session=work.session)
                async for _ in query(prompt="Go", options=options):
                    pass
            return [model.results[one.call_id] for turn in work.turns for one in turn]
