"""A Pydantic AI agent with the package's capability."""

from __future__ import annotations

from typing import Any

from agentapprovalprotocol.pydantic_ai import ApprovalCapability, resumer
from common import ARGUMENTS, SAYS, TOOL, Scene, Woken, pay, play, say
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


def agent_with(approvals: ApprovalCapability, scene: Scene) -> Agent[Any, Any]:
    def model(messages: Any, info: Any) -> ModelResponse:
        told = [part for part in messages[-1].parts if getattr(part, "tool_name", None) == TOOL]
        if not told:
            return ModelResponse(
                parts=[TextPart(SAYS), ToolCallPart(TOOL, ARGUMENTS, scene.call_id)]
            )
        for part in told:
            say("told", text=part.content if isinstance(part, ToolReturnPart) else str(part))
        return ModelResponse(parts=[TextPart("done")])

    kinds = [str, DeferredToolRequests]
    return Agent(FunctionModel(model), tools=[pay], capabilities=[approvals], output_type=kinds)


def waiting_in_a_thread(scene: Scene) -> None:
    agent = agent_with(ApprovalCapability(*scene.provider), scene)
    agent.run_sync("pay", conversation_id=scene.thread)


async def waiting(scene: Scene) -> None:
    agent = agent_with(ApprovalCapability(*scene.provider), scene)
    await agent.run("pay", conversation_id=scene.thread)


async def paused(scene: Scene) -> None:
    kept: dict[str, Any] = {}

    def keep(conversation: Any) -> None:
        kept[conversation.conversation_id] = conversation

    woken = Woken(scene, "pydantic-ai")
    async with woken.receiving() as provider:
        agent = agent_with(ApprovalCapability(*provider, mode="async"), scene)
        woken.resumer = resumer(agent, load=kept.get, save=keep)
        result = await agent.run("pay", conversation_id=scene.thread)
        assert isinstance(result.output, DeferredToolRequests)
        keep(result.conversation)
        await woken.over()


play(waiting=waiting, waiting_in_a_thread=waiting_in_a_thread, paused=paused)
