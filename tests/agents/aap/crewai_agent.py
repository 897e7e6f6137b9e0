"""A CrewAI crew with the package's hooks."""

from __future__ import annotations

import json
from typing import Any

from agentapprovalprotocol.crewai import ApprovalHooks
from common import ARGUMENTS, TOOL, Scene, pay, play, say
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool


class Scripted(BaseLLM):
    """Calls the tool, then says that it is done."""

    call_id: str = ""

    def call(self, messages: Any, tools: Any = None, **more: Any) -> Any:
        told = [one["content"] for one in messages if one.get("role") == "tool"]
        for one in told:
            say("told", text=str(one))
        if told:
            return "done"
        function = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
        return [{"id": self.call_id, "type": "function", "function": function}]

    def supports_function_calling(self) -> bool:
        return True


def waiting(scene: Scene) -> None:
    model = Scripted(model="scripted", call_id=scene.call_id)
    who: dict[str, Any] = {"role": "Payer", "goal": "pay", "backstory": "pays"}
    payer = Agent(**who, llm=model, tools=[tool(TOOL)(pay)], max_iter=3)
    task = Task(description="pay", expected_output="done", agent=payer)
    with ApprovalHooks(*scene.provider):
        Crew(agents=[payer], tasks=[task]).kickoff()


play(waiting=waiting)
