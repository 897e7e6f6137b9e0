"""Agents of Microsoft Agent Framework as a test says, behind each of its doors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    tool,
)
from support.doors import Door, Work

from sayso import Gate, ToolCall
from sayso.calls import new_id
from sayso_agents.agent_framework import SaysoMiddleware, run

Turn = Sequence[ToolCall] | str
UNNAMED = frozenset({"an empty text"})
"""The framework makes up an id in its place."""


class Scripted(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Answers what it is told to, by the conversation so far; notes what it was told."""

    def __init__(self, answer: Callable[[Sequence[Message]], Turn]) -> None:
        super().__init__()
        self._answer = answer
        self.said: dict[str, str] = {}
        self.heard = ""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Awaitable[ChatResponse[Any]]:
        return self._response(messages)

    async def _response(self, messages: Sequence[Message]) -> ChatResponse[Any]:
        self.said |= results(messages)
        self.heard = "\n".join(message.text for message in messages)
        turn = self._answer(messages)
        contents = [Content.from_text(turn)] if isinstance(turn, str) else [*map(_wire, turn)]
        return ChatResponse(messages=[Message("assistant", contents)])


def _wire(call: ToolCall) -> Content:
    return Content.from_function_call(
        call.call_id, call.name, arguments=json.dumps({**call.arguments})
    )


def results(messages: Sequence[Message]) -> dict[str, str]:
    """What the model was told of each call, by its id."""
    return {
        content.call_id or "": str(content.result)
        for message in messages
        for content in message.contents
        if content.type == "function_result"
    }


def _called(message: Message) -> set[str]:
    return {content.name or "" for content in message.contents if content.type == "function_call"}


def playing(work: Work) -> Scripted:
    """Calls what the work says, a turn after the other."""
    turns = iter([*work.turns, ()])
    return Scripted(lambda _: next(turns, ()) or "Done.")


def repeating() -> Scripted:
    """Deploys release 42, and then says what came of it, in each run anew."""

    def answer(messages: Sequence[Message]) -> Turn:
        called = max(
            (number for number, one in enumerate(messages) if "deploy" in _called(one)), default=-1
        )
        said = results(messages[called + 1 :]) if called >= 0 else {}
        if not said:
            return [ToolCall("deploy", {"release": 42}, new_id())]
        heard = [message.text for message in messages[called + 1 :] if message.role == "user"]
        return "\n".join([*said.values(), *heard])

    return Scripted(answer)


def tools_of(work: Work, *, approved: bool = False) -> list[FunctionTool]:
    """The tools of the work."""
    mode: Any = "always_require" if approved else "never_require"
    return [tool(one, approval_mode=mode) for one in (work.deploy, work.restart)]


class Inline(Door):
    """An agent with the middleware."""

    cannot_name = UNNAMED

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        model = playing(work)
        agent = Agent(model, tools=tools_of(work), middleware=[SaysoMiddleware(sayso)])
        named = None if work.session is None else AgentSession(session_id=work.session)
        await agent.run("Go", session=named)
        return [model.said[call.call_id] for turn in work.turns for call in turn]

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        return asyncio.run(self.run(sayso, work))


class Approving(Door):
    """Tools that want an approval. The framework says of a no what it will: ours is beside it."""

    cannot_name = UNNAMED
    carries_edits = False
    words_of_its_own = True

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        model = playing(work)
        agent = Agent(model, tools=tools_of(work, approved=True))
        await run(sayso, agent, "Go", session=AgentSession(session_id=work.session))
        told = [model.said[call.call_id] for turn in work.turns for call in turn]
        return [one if " is done" in one else f"{one}\n{model.heard}" for one in told]
