"""The door for Strands Agents: what every door promises, and what is its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, HookProvider, HookRegistry
from strands.tools.executors import SequentialToolExecutor
from support.agent_pages import ANSWERS, all_do_as_was_said
from support.conformance import RAN, STAGING, DoorContract, KilledContract, SyncContract
from support.doors import Work, agents_handle, deploy
from support.fail_closed import allowing
from support.scenes import cards
from support.strands_doors import Hooked, made, playing, repeating, told

from sayso import Decision, Gate, ToolCall
from sayso_agents.strands import SaysoHooks


class Meddling(HookProvider):
    """Another hook: does something to each call before it runs, or after."""

    def __init__(self, before: Any = None, after: Any = None) -> None:
        self._before, self._after = before, after

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        if self._before:
            registry.add_callback(BeforeToolCallEvent, self._before)
        if self._after:
            registry.add_callback(AfterToolCallEvent, self._after)


class TestStrands(DoorContract, SyncContract, KilledContract):
    door = Hooked()

    async def test_the_model_is_told_what_a_person_changed(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert said.startswith("A person changed this call")
        assert said.endswith("deploy is done: staging, 42")

    async def test_an_agent_inside_a_tool_asks_for_the_same_run_and_says_who_it_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        inner, outer = Work([[deploy()]]), Work([[ToolCall("look_up", {}, "call_1")], [deploy()]])
        researcher = made(sayso, inner, name="researcher")

        @tool
        async def look_up() -> str:
            """Look it up."""
            await researcher.invoke_async("Go")
            return "found"

        lead = made(sayso, outer)
        lead.tool_registry.process_tools([look_up])
        running = scene.ask(lead.invoke_async("Go"))
        await slack.press("Allow")
        await slack.ended("Approved")
        assert "deploy-bot › look_up › researcher" in await slack.card()
        await slack.press("Always")
        await running

        # The session is one: what the sub-agent was always allowed, the other one is, too.
        assert (inner.ran, outer.ran) == ([RAN], [RAN])
        assert cards(scene) == 2

    async def test_a_direct_call_of_a_tool_is_asked_about(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([])
        agent = made(sayso, work)
        running = scene.ask(agent.invoke_async("Go"))
        await running

        calling = scene.ask(_directly(agent))
        await slack.press("Deny")

        assert "denied" in await calling
        assert work.ran == []


async def _directly(agent: Agent) -> str:
    result = await asyncio.to_thread(agent.tool.deploy, environment="production", release=42)
    return str(result)


async def refused(before: Any, policy: Any = None) -> tuple[Work, list[str], list[ToolCall]]:
    """A run beside another hook: the work, what was told, and what the policy was asked."""
    seen: list[ToolCall] = []

    async def allow(call: ToolCall, context: object) -> Decision:
        seen.append(call)
        return Decision.ALLOW

    work = Work([[deploy()]])
    with agents_handle("memory://", policy=policy or allow) as sayso:
        agent = made(sayso, work)
        agent.hooks.add_hook(Meddling(before))
        await agent.invoke_async("Go")
    return work, told(agent, work), seen


async def test_people_see_what_another_hook_made_of_a_call() -> None:
    def change(event: BeforeToolCallEvent) -> None:
        event.tool_use = {**event.tool_use, "input": STAGING}

    work, _, seen = await refused(change)

    assert [dict(call.arguments) for call in seen] == [STAGING]
    assert work.ran == [("deploy", STAGING)]


async def test_nobody_is_asked_about_a_call_that_another_hook_cancelled() -> None:
    def cancel(event: BeforeToolCallEvent) -> None:
        event.cancel_tool = "not today"

    work, said, seen = await refused(cancel)

    assert (work.ran, said, seen) == ([], ["not today"], [])


async def test_another_tool_that_a_hook_puts_in_its_place_does_not_run() -> None:
    def swap(event: BeforeToolCallEvent) -> None:
        event.selected_tool = event.agent.tool_registry.registry["restart"]

    work, (said,), seen = await refused(swap)

    assert (work.ran, seen) == ([], [])
    assert "restart" in said


async def test_a_retry_is_asked_about_anew() -> None:
    asked_about: list[str] = []

    async def once(call: ToolCall, context: object) -> Decision:
        asked_about.append(call.name)
        return Decision.ALLOW if len(asked_about) == 1 else Decision.DENY

    def retry(event: AfterToolCallEvent) -> None:
        event.retry = event.cancel_message is None

    work = Work([[deploy()]])
    with agents_handle("memory://", policy=once) as sayso:
        agent = made(sayso, work)
        agent.hooks.add_hook(Meddling(after=retry))
        await agent.invoke_async("Go")

    assert work.ran == [RAN]
    assert len(asked_about) == 2


async def test_each_run_of_an_agent_is_a_session_of_its_own_unless_it_is_named() -> None:
    sessions: list[str] = []

    async def noting(call: ToolCall, context: Any) -> Decision:
        sessions.append(context.run.session_id)
        return Decision.ALLOW

    with agents_handle("memory://", policy=noting) as sayso:
        hooks = SaysoHooks(sayso)
        work = Work([[deploy(), deploy()], [], [deploy(), deploy()]])
        agent = Agent(
            model=playing(work), tools=[tool(work.deploy)], hooks=[hooks], callback_handler=None
        )
        for _ in range(2):
            await agent.invoke_async("Go")

    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert all(len(session) >= 20 for session in sessions)


async def test_a_direct_call_of_a_tool_is_a_run_of_its_own() -> None:
    sessions: list[str] = []

    async def noting(call: ToolCall, context: Any) -> Decision:
        sessions.append(context.run.session_id)
        return Decision.ALLOW

    with agents_handle("memory://", policy=noting) as sayso:
        agent = made(sayso, Work([[deploy()]], session=None))
        for _ in range(2):
            await _directly(agent)
        await agent.invoke_async("Go")

    assert len(set(sessions)) == 3


class Unreadable(Agent):
    """An agent whose session manager does not say which session it is."""

    @property
    def session_id(self) -> str:
        raise RuntimeError("the session is gone")


async def test_a_session_that_raises_when_it_is_read_is_a_denial_that_names_the_cause() -> None:
    work = Work([[deploy()]], session=None)
    with agents_handle("memory://", policy=allowing) as sayso:
        agent = Unreadable(
            model=playing(work),
            tools=[tool(work.deploy)],
            hooks=[SaysoHooks(sayso)],
            callback_handler=None,
        )
        vars(agent)["_session_manager"] = object()
        await agent.invoke_async("Go")

    (said,) = told(agent, work)
    assert work.ran == []
    assert "the session is gone" in said


@pytest.mark.parametrize("description", [None, 5])
async def test_a_description_that_is_no_text_is_none(description: Any) -> None:
    work = Work([[deploy()]])
    with agents_handle("memory://", policy=allowing) as sayso:
        agent = made(sayso, work)
        agent.tool_registry.registry["deploy"].tool_spec["description"] = description
        await agent.invoke_async("Go")

    assert work.ran == [RAN]


async def test_nothing_is_left_of_a_run_once_it_has_ended() -> None:
    paths: list[tuple[str, ...]] = []

    async def noting(call: ToolCall, context: Any) -> Decision:
        paths.append(tuple(context.path))
        return Decision.ALLOW

    with agents_handle("memory://", policy=noting) as sayso:
        for _ in range(2):
            agent = made(sayso, Work([[deploy()]]), tool_executor=SequentialToolExecutor())
            await agent.invoke_async("Go")

    assert paths == [(), ()]


@pytest.mark.parametrize(("button", "printed"), ANSWERS)
async def test_the_program_on_the_page_asks_and_does_as_was_said(
    store_url: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    button: str,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_STORE_URL", store_url)
    async with asked(store_url) as scene:
        await all_do_as_was_said("strands", repeating(), scene, capsys, button, printed)
