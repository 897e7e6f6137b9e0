"""Agents of Pydantic AI as a test says, behind the capability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from support.doors import Door, Work
from support.thread_loop import loop_of_this_thread

from sayso import Gate
from sayso_agents.pydantic_ai import SaysoApprovals

Call = tuple[str, Any] | tuple[str, Any, str]
"""The name of a tool, its arguments as an object or as text, and the id of the call."""


def calling(turns: Sequence[Sequence[Call]]) -> FunctionModel:
    """A model that makes these calls, a turn after the other, and then ends."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        if turn >= len(turns):
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart(*call) for call in turns[turn]])

    return FunctionModel(respond)


def repeating() -> FunctionModel:
    """Deploys release 42, and then says what came of it, in each run anew."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                return ModelResponse(parts=[TextPart(str(part.content))])
        return ModelResponse(parts=[ToolCallPart("deploy", {"release": 42})])

    return FunctionModel(respond)


def agent(work: Work, *capabilities: Any, asks: bool = True, **options: Any) -> Agent[None, Any]:
    """An agent with the tools of the work, which need an approval."""
    turns = [[(c.name, dict(c.arguments), c.call_id) for c in turn] for turn in work.turns]
    made: Agent[None, Any] = Agent(calling(turns), capabilities=capabilities, **options)
    for tool in (work.deploy, work.restart):
        made.tool_plain(requires_approval=asks)(tool)
    return made


def told(messages: list[ModelMessage], work: Work) -> list[str]:
    """What the model was told of each call."""
    returns = {
        part.tool_call_id: str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    return [returns[call.call_id] for turn in work.turns for call in turn]


class Capable(Door):
    """Tools that say that they need an approval."""

    def agent(self, sayso: Gate, work: Work) -> Agent[None, Any]:
        return agent(work, SaysoApprovals(sayso))

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        result = await self.agent(sayso, work).run("Go", conversation_id=work.session)
        return told(result.all_messages(), work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        with loop_of_this_thread():
            result = self.agent(sayso, work).run_sync("Go", conversation_id=work.session)
        return told(result.all_messages(), work)


class Unmarked(Capable):
    """Tools that say nothing."""

    def agent(self, sayso: Gate, work: Work) -> Agent[None, Any]:
        return agent(work, SaysoApprovals(sayso), asks=False)


@dataclass
class PutAside:
    """What is kept of a run: strings, as a database keeps them."""

    approvals: str
    messages: bytes


class Deferred(Capable):
    """Runs that end while people are asked."""

    async def start(self, sayso: Gate, work: Work) -> PutAside:
        result = await agent(work, output_type=[str, DeferredToolRequests]).run(
            "Go", conversation_id=work.session
        )
        kept = await SaysoApprovals[Any](sayso).submit(result)
        return PutAside(kept, result.all_messages_json())

    async def run_again(self, sayso: Gate, work: Work) -> None:
        result = await agent(work, output_type=[str, DeferredToolRequests]).run("Go")
        approvals = SaysoApprovals[Any](sayso)
        await approvals.results(await approvals.submit(result), result.all_messages())
        answers = await approvals.results(await approvals.submit(result), result.all_messages())
        await agent(work).run(message_history=result.all_messages(), deferred_tool_results=answers)

    async def go_on(self, sayso: Gate, work: Work, kept: PutAside) -> list[str]:
        approvals = SaysoApprovals[Any](sayso)
        messages = ModelMessagesTypeAdapter.validate_json(kept.messages)
        result = await agent(work, approvals).run(
            message_history=messages,
            deferred_tool_results=await approvals.results(kept.approvals, messages),
        )
        return told(result.all_messages(), work)
