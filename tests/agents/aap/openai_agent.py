"""An agent of the OpenAI Agents SDK, protected by the package."""

from __future__ import annotations

import json
from typing import Any

from agentapprovalprotocol.openai_agents import Approvals
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from common import ARGUMENTS, SAYS, TOOL, Scene, Woken, pay, play, say
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

set_tracing_disabled(True)


def text(words: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=words, annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[part]
    )


class Scripted(Model):
    """Calls the tool, then says that it is done."""

    def __init__(self, call_id: str) -> None:
        self._call_id = call_id

    async def get_response(self, *rest: Any, **given: Any) -> ModelResponse:
        items = given["input"] if isinstance(given["input"], list) else []
        told = [one for one in items if one.get("type") == "function_call_output"]
        for one in told:
            say("told", text=one["output"])
        if told:
            return ModelResponse(output=[text("done")], usage=Usage(), response_id=None)
        arguments = json.dumps(ARGUMENTS)
        call = ResponseFunctionToolCall(
            type="function_call", name=TOOL, call_id=self._call_id, arguments=arguments
        )
        return ModelResponse(output=[text(SAYS), call], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **given: Any) -> Any:
        raise NotImplementedError


def agent_of(scene: Scene) -> Agent[Any]:
    return Agent(name="Payer", model=Scripted(scene.call_id), tools=[function_tool(pay)])


def waiting_in_a_thread(scene: Scene) -> None:
    Runner.run_sync(Approvals(*scene.provider).protect(agent_of(scene)), "pay")


async def waiting(scene: Scene) -> None:
    await Runner.run(Approvals(*scene.provider).protect(agent_of(scene)), "pay")


async def paused(scene: Scene) -> None:
    kept: dict[str, str] = {}
    woken = Woken(scene, "openai-agents")
    async with woken.receiving() as provider:
        approvals = Approvals(*provider, mode="async", save=kept.__setitem__, load=kept.get)
        agent = approvals.protect(agent_of(scene))
        woken.resumer = approvals.resumer(agent)
        result = await approvals.run(agent, "pay", run_id=scene.thread)
        assert result.interruptions
        await woken.over()


play(waiting=waiting, waiting_in_a_thread=waiting_in_a_thread, paused=paused)
