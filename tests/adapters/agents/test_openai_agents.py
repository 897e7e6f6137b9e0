"""The door for the OpenAI Agents SDK: what every door promises, and what is its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents import (
    Agent,
    Runner,
    ShellTool,
    WebSearchTool,
    function_tool,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from e2e.asked import Asked
from e2e.hands import SlackHands
from support.conformance import (
    RAN,
    STAGING,
    AgainContract,
    DoorContract,
    KilledContract,
    OtherWayContract,
    SyncContract,
    all_ended,
)
from support.doors import Work, deploy
from support.openai_agents_doors import (
    Guarded,
    Streamed,
    Traced,
    model,
    outputs,
    told,
    tools,
)
from support.scenes import cards

from sayso import Gate, ToolCall, connect
from sayso_agents.openai_agents import guard, run


class TestGuardedTools(Traced, DoorContract, AgainContract, SyncContract, KilledContract):
    door = Guarded()

    async def test_the_model_is_told_what_a_person_changed(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert said.startswith("deploy is done: staging, 42\n\nA person changed this call")

    async def test_a_tool_that_takes_too_long_withdraws_its_card(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        slow = function_tool(timeout=1.0)(work.deploy)
        made = Agent("deploy-bot", model=model(work), tools=guard(sayso, [slow]))

        result = await Runner.run(made, "Go")

        assert "timed out" in told(result, work)[0]
        assert work.ran == []
        await slack.ended("Cancelled")

    async def test_the_agent_that_a_run_was_handed_to_stands_on_the_card(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        expert = Agent(
            "release-expert",
            model=model(work),
            tools=guard(sayso, tools(work, needs_approval=False)),
        )
        turns: list[Any] = [[function_call("transfer_to_release_expert", {}, call_id="h")]]
        first = Agent("deploy-bot", model=ScriptedModel(turns), handoffs=[expert])

        running = scene.ask(Runner.run(first, "Go"))
        assert "deploy-bot › release-expert" in await slack.card()
        await slack.press("Allow")
        await running

        assert work.ran == [RAN]

    async def test_an_agent_inside_a_tool_asks_for_the_same_run_and_says_who_it_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        inner = Agent(
            "researcher", model=model(work), tools=guard(sayso, tools(work, needs_approval=False))
        )
        turns: list[Any] = [
            [function_call("research", {"input": "it"}, call_id="o")],
            [assistant_message("Done.")],
        ]
        inside = guard(sayso, [inner.as_tool("research", "Look it up.")])
        lead = Agent("lead", model=ScriptedModel(turns), tools=inside)

        running = scene.ask(Runner.run(lead, "Go"))
        assert "Look it up." in await slack.card()
        await slack.press("Allow")
        await slack.ended("Approved")
        assert "deploy-bot › lead › researcher" in await slack.card()
        await slack.press("Allow")
        await running

        assert work.ran == [RAN]

    async def test_a_tool_that_asks_itself_is_asked_about_once(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        asking = guard(sayso, tools(work, needs_approval=True))
        made = Agent("deploy-bot", model=model(work), tools=asking)

        running = scene.ask(run(sayso, made, "Go"))
        await slack.press("Allow")
        await running

        assert work.ran == [RAN]
        assert cards(scene) == 1

    async def test_without_a_group_each_run_is_a_session_of_its_own(
        self, scene: Asked, slack: SlackHands, sayso: Gate, store_url: str
    ) -> None:
        async def go(handle: Gate) -> None:
            work = Work([[deploy()]])
            asking = guard(handle, tools(work, needs_approval=False))
            await Runner.run(Agent("deploy-bot", model=model(work), tools=asking), "Go")

        for shown in (1, 2):
            running = scene.ask(go(sayso))
            await slack.press("Always")
            await running
            await all_ended(scene)
            assert cards(scene) == shown

        with connect(store_url, session="s-1") as named:
            running = scene.ask(go(named))
            await slack.press("Always")
            await running
            await go(named)
        assert cards(scene) == 3

    async def test_arguments_that_are_no_object_or_not_a_clear_one_run_nothing(
        self, sayso: Gate
    ) -> None:
        work = Work([])
        wrong = ("[1]", "3", "{", '"x"', '{"release": 1, "release": 2}')
        turns: list[Any] = [
            [function_call("deploy", text, call_id=text) for text in wrong],
            [assistant_message("Done.")],
        ]
        asking = guard(sayso, tools(work, needs_approval=False))
        made = Agent("deploy-bot", model=ScriptedModel(turns), tools=asking)

        result = await Runner.run(made, "Go")

        assert all("did not run" in text for text in outputs(result).values())
        assert len(outputs(result)) == len(wrong)
        assert work.ran == []

    async def test_a_tool_that_returns_an_object_tells_the_model_why_it_did_not_run(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        schema = {
            "type": "object",
            "properties": {"done": {"type": "boolean"}},
            "required": ["done"],
            "additionalProperties": False,
        }

        async def deploy(environment: str, release: int) -> dict[str, Any]:
            return {"done": True}

        work = Work([[ToolCall("deploy", {"environment": "e", "release": n}) for n in (1, 2)]])
        typed = guard(sayso, [function_tool(output_json_schema=schema)(deploy)])
        made = Agent("deploy-bot", model=model(work), tools=typed)
        running = scene.ask(Runner.run(made, "Go"))
        await slack.press("Deny 1")
        await slack.press("Allow 2")

        said = sorted(told(await running, work))
        assert "was denied by a person" in said[0]
        assert json.loads(said[1]) == {"done": True}

    def test_what_runs_elsewhere_cannot_be_guarded(self, sayso: Gate) -> None:
        for tool in (WebSearchTool(), ShellTool(executor=lambda _: "")):
            with pytest.raises(TypeError, match="cannot stand before"):
                guard(sayso, [tool])

    def test_the_tools_that_were_handed_in_stay_as_they_were(self, sayso: Gate) -> None:
        (mine,) = [function_tool(needs_approval=True)(Work([]).deploy)]
        before = mine.on_invoke_tool

        (guarded,) = guard(sayso, [mine])

        assert guarded is not mine
        assert (mine.on_invoke_tool, mine.needs_approval) == (before, True)


class TestGuardedToolsWhileEventsAreRead(Traced, OtherWayContract):
    door = Streamed()
