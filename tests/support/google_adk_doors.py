"""Agents of Google ADK as a test says, behind the door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from support.doors import Door, Work

from sayso import Gate, ToolCall
from sayso.calls import new_id
from sayso_agents.google_adk import SaysoPlugin

APP, USER = "deploy_bot", "user-1"
GO = types.Content(role="user", parts=[types.Part(text="Go")])
Turn = Sequence[ToolCall] | str


class Scripted(BaseLlm):
    """Answers what it is told to, by the conversation so far."""

    answer: Callable[[list[types.Content]], Turn]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        turn = self.answer(llm_request.contents)
        parts = [types.Part(text=turn)] if isinstance(turn, str) else [_part(one) for one in turn]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def _part(call: ToolCall) -> types.Part:
    made = types.FunctionCall(id=call.call_id, name=call.name, args=dict(call.arguments))
    return types.Part(function_call=made)


def playing(work: Work) -> Scripted:
    """Calls what the work says, a turn after the other."""
    turns = iter([*work.turns, ()])
    return Scripted(model="scripted", answer=lambda _: next(turns) or "Done.")


def repeating() -> Scripted:
    """Deploys release 42, and then says what came of it, in each run anew."""

    def answer(contents: list[types.Content]) -> Turn:
        for part in contents[-1].parts or []:
            if part.function_response is not None:
                return text_of(part.function_response.response)
        return [ToolCall("deploy", {"release": 42}, new_id())]

    return Scripted(model="scripted", answer=answer)


def text_of(response: dict[str, Any] | None) -> str:
    """What the model was told of a call."""
    return "\n".join(map(str, (response or {}).values()))


def runner_of(agent: LlmAgent, plugins: list[BasePlugin]) -> Runner:
    """A runner of an app with plugins."""
    app = App(name=APP, root_agent=agent, plugins=plugins)
    return Runner(app=app, session_service=InMemorySessionService())


async def run(
    agent: LlmAgent, plugins: list[BasePlugin], *, session: str = "s-1", user: str = USER
) -> dict[str, str]:
    """Run an agent to its end: what its model was told of each call, by its id."""
    runner = runner_of(agent, plugins)
    names: dict[str, Any] = {"user_id": user, "session_id": session}
    await runner.session_service.create_session(app_name=APP, **names)
    return responses([event async for event in runner.run_async(**names, new_message=GO)])


def responses(events: Iterable[Event]) -> dict[str, str]:
    """What the model was told of each call, by its id."""
    found = [one for event in events for one in event.get_function_responses()]
    return {one.id or "": text_of(one.response) for one in found}


def told(said: dict[str, str], work: Work) -> list[str]:
    """What the model was told of each call of the work."""
    return [said[call.call_id] for turn in work.turns for call in turn]


class Plugged(Door):
    """A runner with the plugin."""

    cannot_name = frozenset({"a number", "an object", "a truth value", "an empty text"})

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        agent = LlmAgent(name="lead", model=playing(work), tools=[work.deploy, work.restart])
        said = await run(agent, [SaysoPlugin(sayso)], session=work.session or new_id())
        return told(said, work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        agent = LlmAgent(name="lead", model=playing(work), tools=[work.deploy, work.restart])
        runner = runner_of(agent, [SaysoPlugin(sayso)])
        names: dict[str, Any] = {"user_id": USER, "session_id": work.session or new_id()}
        asyncio.run(runner.session_service.create_session(app_name=APP, **names))
        return told(responses(runner.run(**names, new_message=GO)), work)
