"""An agent of the Claude Agent SDK with the package's hooks, and a model that the test plays."""

from __future__ import annotations

from typing import Any

from agentapprovalprotocol.claude_agent_sdk import ApprovalHooks, resumer
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from common import Scene, Woken, play


def options_with(approvals: ApprovalHooks, scene: Scene) -> ClaudeAgentOptions:
    told = scene.told
    return approvals.options(ClaudeAgentOptions(cwd=told["project"], env=told["env"]))


async def run(options: ClaudeAgentOptions) -> Any:
    async for message in query(prompt="go on", options=options):
        if isinstance(message, ResultMessage):
            return message
    return None


async def waiting(scene: Scene) -> None:
    await run(options_with(ApprovalHooks(*scene.provider), scene))


async def paused(scene: Scene) -> None:
    woken = Woken(scene, "claude-agent-sdk")
    async with woken.receiving() as provider:
        options = options_with(ApprovalHooks(*provider, mode="async"), scene)
        woken.resumer = resumer(options)
        message = await run(options)
        assert message.stop_reason == "tool_deferred", message
        await woken.over()


play(waiting=waiting, paused=paused)
