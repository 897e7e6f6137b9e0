"""Crews as a test says, behind each of the doors for CrewAI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import BaseTool, tool
from pydantic import Field
from support.doors import Door, Work

from sayso import Gate, ToolCall
from sayso.calls import new_id
from sayso_agents.crewai import akickoff, guard, guard_tools


class Scripted(BaseLLM):
    """Calls what it is told to, a turn after the other; notes what it was told of each call."""

    turns: list[Sequence[ToolCall]] = Field(default_factory=list)
    said: dict[str, str] = Field(default_factory=dict)
    repeats: bool = False

    def call(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        return self._answer(messages)

    async def acall(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        return self._answer(messages)

    def supports_function_calling(self) -> bool:
        return True

    def _answer(self, messages: Any) -> Any:
        results = [one for one in messages if one.get("role") == "tool"]
        self.said.update({one["tool_call_id"]: str(one["content"]) for one in results})
        if self.repeats:
            if results:
                return str(results[-1]["content"])
            return [_wire(ToolCall("deploy", {"release": 42}, new_id()))]
        return [_wire(call) for call in self.turns.pop(0)] if self.turns else "Done."


def _wire(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
    return {"id": call.call_id, "type": "function", "function": function}


def playing(work: Work) -> Scripted:
    """Calls what the work says, a turn after the other."""
    return Scripted(model="scripted", turns=list(work.turns))


def repeating() -> Scripted:
    """Deploys release 42, and then says what came of it, in each run anew."""
    return Scripted(model="scripted", repeats=True)


def tools_of(work: Work) -> list[BaseTool]:
    """The tools of the work."""
    return [tool("deploy")(work.deploy), tool("restart")(work.restart)]


def crew_of(model: Scripted, tools: list[BaseTool], **more: Any) -> Crew:
    """A crew of one agent."""
    agent = Agent(
        role="Deployer", goal="deploy", backstory="deploys", llm=model, tools=tools, **more
    )
    return Crew(agents=[agent], tasks=[Task(description="Go", expected_output="it", agent=agent)])


def told(model: Scripted, work: Work) -> list[str]:
    """What the model was told of each call of the work."""
    return [model.said[call.call_id] for turn in work.turns for call in turn]


class Guarded(Door):
    """Tools that ask themselves."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        model = playing(work)
        guarded = guard(sayso, tools_of(work), session=work.session)
        await akickoff(sayso, crew_of(model, guarded), session=work.session)
        return told(model, work)

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        model = playing(work)
        crew_of(model, guard(sayso, tools_of(work), session=work.session)).kickoff()
        return told(model, work)


class Hooked(Door):
    """A hook before every tool."""

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        model = playing(work)
        with guard_tools(sayso, session=work.session):
            # What was run before is no answer for the next call: it has to be asked about.
            crew = crew_of(model, tools_of(work), cache=False)
            await akickoff(sayso, crew, session=work.session)
        return told(model, work)
