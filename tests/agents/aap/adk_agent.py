"""An agent of Google's Agent Development Kit with the package's plugin."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from agentapprovalprotocol.adk import ApprovalPlugin, check_coverage, resumer
from common import ARGUMENTS, SAYS, TOOL, Scene, Woken, pay, play, say
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

APP, USER = "pay_app", "user-1"


class Scripted(BaseLlm):
    """Calls the tool, then says that it is done."""

    call_id: str

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        told = [part.function_response for part in parts if part.function_response]
        for one in told:
            say("told", text=str(one.response))
        answer = [types.Part(text="done")]
        if not told:
            call = types.FunctionCall(id=self.call_id, name=TOOL, args=ARGUMENTS)
            answer = [types.Part(text=SAYS), types.Part(function_call=call)]
        yield LlmResponse(content=types.Content(role="model", parts=answer))


def runner_with(approvals: ApprovalPlugin, scene: Scene) -> Runner:
    model = Scripted(model="scripted", call_id=scene.call_id)
    agent = LlmAgent(name="payer", model=model, tools=[pay])
    resumable = ResumabilityConfig(is_resumable=scene.how == "paused")
    app = App(name=APP, root_agent=agent, plugins=[approvals], resumability_config=resumable)
    check_coverage(app, approvals)
    return Runner(app=app, session_service=InMemorySessionService())


async def run(runner: Runner, scene: Scene) -> None:
    sessions = runner.session_service
    await sessions.create_session(app_name=APP, user_id=USER, session_id=scene.thread)
    message = types.Content(role="user", parts=[types.Part(text="pay")])
    async for _ in runner.run_async(user_id=USER, session_id=scene.thread, new_message=message):
        pass


async def waiting(scene: Scene) -> None:
    await run(runner_with(ApprovalPlugin(*scene.provider), scene), scene)


async def paused(scene: Scene) -> None:
    woken = Woken(scene, "adk")
    async with woken.receiving() as provider:
        runner = runner_with(ApprovalPlugin(*provider, mode="async"), scene)
        woken.resumer = resumer(runner)
        await run(runner, scene)
        await woken.over()


play(waiting=waiting, paused=paused)
