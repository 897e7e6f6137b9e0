"""Runs of the OpenAI Agents SDK that tools interrupt: answered at once, or later."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from agents import (
    Agent,
    HostedMCPTool,
    RunConfig,
    Runner,
    ShellTool,
    trace,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from e2e.asked import Asked
from e2e.hands import SlackHands
from openai.types.responses import ResponseFunctionShellToolCall
from openai.types.responses.response_output_item import McpApprovalRequest
from support.conformance import (
    RAN,
    AgainContract,
    DoorContract,
    KilledContract,
    SuspendedContract,
    SyncContract,
)
from support.doors import Work, agents_handle, deploy, restart
from support.openai_agents_doors import (
    Interrupted,
    Traced,
    model,
    tools,
)
from support.scenes import cards

from sayso import Gate, WaitTimeoutError
from sayso_agents.openai_agents import answered, decided, run, submit

MCP: Any = "mcp_approval_request"


class TestInterruptedRuns(
    Traced, DoorContract, AgainContract, SyncContract, KilledContract, SuspendedContract
):
    door = Interrupted()

    async def test_an_agent_inside_a_tool_interrupts_the_run_and_says_who_it_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy(), restart()]])
        inner = Agent("researcher", model=model(work), tools=tools(work, needs_approval=True))
        turns: list[Any] = [
            [function_call("research", {"input": "it"}, call_id="o")],
            [assistant_message("Done.")],
        ]
        inside: list[Any] = [inner.as_tool("research", "Look it up.")]
        lead = Agent("lead", model=ScriptedModel(turns), tools=inside)

        running = scene.ask(run(sayso, lead, "Go"))
        assert "deploy-bot › researcher" in await slack.card()
        await slack.press("Deny 1")
        await slack.press("Allow 2")
        await running

        assert [tool for tool, _ in work.ran] == ["restart"]
        assert cards(scene) == 1

    async def test_a_shell_runs_the_commands_that_were_shown_or_none(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        ran: list[list[str]] = []

        def execute(request: Any) -> str:
            ran.append(request.data.action.commands)
            return "done"

        def call(name: str, *commands: str) -> Any:
            return ResponseFunctionShellToolCall.model_validate(
                {
                    "id": name,
                    "call_id": name,
                    "type": "shell_call",
                    "status": "completed",
                    "action": {"commands": commands},
                }
            )

        turns: list[Any] = [[call("a", "rm -rf /")], [call("b", "ls")], [assistant_message("Ok")]]
        shell: list[Any] = [ShellTool(executor=execute, needs_approval=True)]
        made = Agent("deploy-bot", model=ScriptedModel(turns), tools=shell)
        running = scene.ask(run(sayso, made, "Go"))

        assert "rm -rf /" in await slack.card()
        await slack.press("Deny")
        await slack.ended("Denied")
        await slack.press("Allow")
        await running

        assert ran == [["ls"]]

    async def test_a_tool_of_a_server_is_named_with_its_server(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        call = McpApprovalRequest(
            id="m", arguments='{"id": 7}', name="close", server_label="tracker", type=MCP
        )
        turns: list[Any] = [[call], [assistant_message("Ok")]]
        server: Any = {"type": "mcp", "server_label": "tracker", "server_url": "http://x"}
        scripted = ScriptedModel(turns)
        made = Agent("deploy-bot", model=scripted, tools=[HostedMCPTool(tool_config=server)])

        running = scene.ask(run(sayso, made, "Go"))
        assert "tracker.close" in await slack.card()
        await slack.press("Deny")
        await running

        answers = [one for one in scripted.calls[-1].input if one.get("approve") is not None]
        assert [one["approve"] for one in answers] == [False]

    async def test_a_run_whose_events_are_read_goes_on_with_what_was_answered(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()], [deploy()]])
        made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))

        async def go() -> Any:
            result = Runner.run_streamed(made, "Go")
            async for _ in result.stream_events():
                pass
            while result.interruptions:
                result = Runner.run_streamed(made, await answered(sayso, result))
                async for _ in result.stream_events():
                    pass
            return result

        running = scene.ask(go())
        await slack.press("Always")
        await running

        # One run is one session: what was always allowed is not asked about again.
        assert work.ran == [RAN, RAN]
        assert cards(scene) == 1

    async def test_a_run_that_is_handed_in_twice_is_asked_about_once(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))
        ended = await Runner.run(made, "Go")
        kept = []
        for _ in range(2):
            with agents_handle(store_url) as sayso:
                kept.append(await submit(sayso, ended))
        await slack.press("Deny")
        await slack.ended("Denied")

        with agents_handle(store_url) as sayso:
            for one in kept:
                await decided(sayso, made, one)

        assert cards(scene) == 1

    async def test_two_runs_of_one_trace_that_read_the_same_are_asked_about_each(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[replace(deploy(), call_id="functions.deploy:0")]])
        made = Agent("deploy-bot", tools=tools(work, needs_approval=True))
        with trace("one trace"):
            first = await Runner.run(made, "Go", run_config=RunConfig(model=model(work)))
            second = await Runner.run(made, "Go", run_config=RunConfig(model=model(work)))

        asking = asyncio.create_task(answered(sayso, first))
        await slack.press("Allow")
        await asking
        await slack.ended("Approved")
        kept = await submit(sayso, second)
        await slack.press("Deny")
        state = await decided(sayso, made, kept)
        await Runner.run(made, state, run_config=RunConfig(model=model(work, 1)))

        assert cards(scene) == 2
        assert work.ran == []

    async def test_whoever_is_in_a_hurry_leaves_the_question_open(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        kept = await self.door.start(sayso, work)
        await slack.card()

        with pytest.raises(WaitTimeoutError):
            await decided(sayso, Agent("deploy-bot"), kept, timeout=0.1)

        await slack.press("Allow")
        await self.door.go_on(sayso, work, kept)
        assert work.ran == [RAN]

    async def test_a_state_that_was_changed_approves_nothing(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        kept = json.loads(await self.door.start(sayso, work))
        await slack.press("Allow")
        await slack.ended("Approved")

        changed = kept["state"].replace('\\"release\\":42', '\\"release\\":43')
        assert changed != kept["state"]
        kept["state"] = changed

        with pytest.raises(ValueError, match="another call"):
            await self.door.go_on(sayso, work, json.dumps(kept))
        assert work.ran == []

    async def test_what_submit_did_not_give_is_refused(self, sayso: Gate) -> None:
        for kept in ("", "{}", "null", "[" * 100_000):
            with pytest.raises(ValueError, match="not what submit gave"):
                await decided(sayso, Agent("deploy-bot"), kept)

    async def test_a_conversation_of_the_sdk_is_the_session(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        async def go() -> None:
            work = Work([[deploy()]])
            made = Agent("deploy-bot", model=model(work), tools=tools(work, needs_approval=True))
            await run(sayso, made, "Go", run_config=RunConfig(group_id="thread-7"))

        running = scene.ask(go())
        await slack.press("Always")
        await running
        await go()

        assert cards(scene) == 1
