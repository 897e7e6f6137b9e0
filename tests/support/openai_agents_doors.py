"""Agents of the OpenAI Agents SDK as a test says, behind each of its doors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, Tool, function_tool, set_trace_processors
from agents.testing import (
    ModelCall,
    ModelStep,
    ScriptedModel,
    assistant_message,
    function_call,
)
from support.doors import Door, Work
from support.thread_loop import loop_of_this_thread

from sayso import Gate
from sayso.calls import new_id
from sayso_agents.openai_agents import answered, decided, guard, run, submit


class Traced:
    """Runs are traced, and nobody is sent the traces."""

    @pytest.fixture(autouse=True)
    def traced(self) -> None:
        set_trace_processors([])


def model(work: Work, done: int = 0) -> ScriptedModel:
    """Calls what the work says, a turn after the other, but for those that were done before."""
    turns: list[Any] = [
        [function_call(c.name, dict(c.arguments), call_id=c.call_id) for c in turn]
        for turn in work.turns[done:]
    ]
    return ScriptedModel([*turns, [assistant_message("Done.")]])


def repeating() -> ScriptedModel:
    """Deploys release 42, and then says what came of it, in each run anew."""

    def respond(call: ModelCall) -> list[Any]:
        if "output" in call.input[-1]:
            return [assistant_message(call.input[-1]["output"])]
        return [function_call("deploy", {"release": 42}, call_id=new_id())]

    return ScriptedModel([ModelStep.respond(respond)] * 20)


def tools(work: Work, *, needs_approval: bool) -> list[Tool]:
    """The tools of the work."""
    made = function_tool(needs_approval=needs_approval)
    return [made(work.deploy), made(work.restart)]


def outputs(result: Any) -> dict[str, str]:
    """What the model was told of each call, by its id."""
    return {
        item["call_id"]: str(item["output"])
        for item in result.to_input_list()
        if item.get("type") == "function_call_output"
    }


def told(result: Any, work: Work) -> list[str]:
    """What the model was told of each call of the work."""
    said = outputs(result)
    return [said[call.call_id] for turn in work.turns for call in turn]


def config(work: Work) -> RunConfig:
    """A run of the conversation that the work is part of."""
    return RunConfig(group_id=work.session)


class Guarded(Door):
    """Tools that ask themselves."""

    def agent(self, sayso: Gate, work: Work) -> Agent[Any]:
        guarded = guard(sayso, tools(work, needs_approval=False))
        return Agent("deploy-bot", model=model(work), tools=guarded)

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        result = await Runner.run(self.agent(sayso, work), "Go", run_config=config(work))
        return told(result, work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        with loop_of_this_thread():
            result = Runner.run_sync(self.agent(sayso, work), "Go", run_config=config(work))
        return told(result, work)

    async def run_again(self, sayso: Gate, work: Work) -> None:
        """An agent as a tool, whose own run is interrupted: the SDK invokes the tool once more."""
        inner = Agent("expert", model=model(work), tools=tools(work, needs_approval=True))
        turns: list[Any] = [
            [function_call("ask", {"input": "it"}, call_id="a")],
            [assistant_message("Done.")],
        ]
        asking = guard(sayso, [inner.as_tool("ask", "Ask the expert.")])
        lead = Agent("lead", model=ScriptedModel(turns), tools=asking)
        result = await Runner.run(lead, "Go", run_config=config(work))
        while result.interruptions:
            state = result.to_state()
            for item in state.get_interruptions():
                state.approve(item)
            result = await Runner.run(lead, state, run_config=config(work))


class Streamed(Guarded):
    """The same while the run's events are read."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        result = Runner.run_streamed(self.agent(sayso, work), "Go", run_config=config(work))
        async for _ in result.stream_events():
            pass
        return told(result, work)


class Interrupted(Door):
    """Tools that interrupt their run."""

    carries_edits = False

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))
        return told(await run(sayso, made, "Go", run_config=config(work)), work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        return asyncio.run(self.run(sayso, work))

    async def run_again(self, sayso: Gate, work: Work) -> None:
        made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))
        result = await Runner.run(made, "Go", run_config=config(work))
        await answered(sayso, result, session=work.session)
        state = await answered(sayso, result, session=work.session)
        await Runner.run(made, state, run_config=config(work))

    async def start(self, sayso: Gate, work: Work) -> str:
        made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))
        result = await Runner.run(made, "Go", run_config=config(work))
        return await submit(sayso, result, session=work.session)

    async def go_on(self, sayso: Gate, work: Work, kept: str) -> list[str]:
        made = Agent("deploy-bot", model=model(work, 1), tools=tools(work, needs_approval=True))
        state = await decided(sayso, made, kept)
        return told(await run(sayso, made, state, run_config=config(work)), work)
