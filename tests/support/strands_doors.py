"""Agents of Strands as a test says, behind the door."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from strands import Agent, tool
from strands.models.model import Model
from strands.types.content import ContentBlockStartToolUse, Messages
from strands.types.streaming import StreamEvent
from support.doors import Door, Work

from sayso import Gate, ToolCall
from sayso.calls import new_id
from sayso_agents.strands import SaysoHooks

Turn = Sequence[ToolCall] | str


class Scripted(Model):
    """Answers what it is told to, by the conversation so far."""

    def __init__(self, answer: Callable[[Messages], Turn]) -> None:
        self._answer = answer

    def update_config(self, **model_config: Any) -> None:
        """There is none."""

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Messages, *_: Any, **__: Any) -> AsyncIterator[StreamEvent]:
        turn = self._answer(messages)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for call in turn:
            use: ContentBlockStartToolUse = {"toolUseId": call.call_id, "name": call.name}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            text = json.dumps(dict(call.arguments))
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": text}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def playing(work: Work) -> Scripted:
    """Calls what the work says, a turn after the other."""
    turns = iter([*work.turns, ()])
    return Scripted(lambda _: next(turns) or "Done.")


def repeating() -> Scripted:
    """Deploys release 42, and then says what came of it, in each run anew."""

    def answer(messages: Messages) -> Turn:
        said = results(messages[-1:])
        if not said:
            return [ToolCall("deploy", {"release": 42}, new_id())]
        return "\n".join(said.values())

    return Scripted(answer)


def results(messages: Messages) -> Mapping[str, str]:
    """What the model was told of each call, by its id."""
    return {
        block["toolResult"]["toolUseId"]: "\n".join(
            part["text"] for part in block["toolResult"]["content"]
        )
        for message in messages
        for block in message["content"]
        if "toolResult" in block
    }


def told(agent: Agent, work: Work) -> list[str]:
    """What the model was told of each call of the work."""
    said = results(agent.messages)
    return [said[call.call_id] for turn in work.turns for call in turn]


def made(sayso: Gate, work: Work, **more: Any) -> Agent:
    """An agent for the work, behind the door."""
    return Agent(
        model=playing(work),
        tools=[tool(work.deploy), tool(work.restart)],
        hooks=[SaysoHooks(sayso, session=work.session)],
        callback_handler=None,
        **more,
    )


class Hooked(Door):
    """An agent with the hooks."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        agent = made(sayso, work)
        await agent.invoke_async("Go")
        return told(agent, work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        agent = made(sayso, work)
        agent("Go")
        return told(agent, work)
