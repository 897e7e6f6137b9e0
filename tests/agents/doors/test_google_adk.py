"""The door for Google ADK: what every door promises, and what is its own."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from google.adk.agents import LlmAgent
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.function_tool import FunctionTool
from support.agent_pages import ANSWERS, all_do_as_was_said
from support.conformance import RAN, STAGING, DoorContract, KilledContract, SyncContract
from support.doors import Work, agents_handle, deploy
from support.fail_closed import allowing
from support.google_adk_doors import Plugged, playing, repeating, run, told
from support.scenes import cards

from sayso import Decision, Gate, Rule, RulePolicy, ToolCall
from sayso_agents.google_adk import SaysoPlugin


class Noting:
    """A policy that allows, and notes what it was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[ToolCall, Any]] = []

    async def __call__(self, call: ToolCall, context: object) -> Decision:
        self.seen.append((call, context))
        return Decision.ALLOW


class TestGoogleADK(DoorContract, SyncContract, KilledContract):
    door = Plugged()

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
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        inner = Work([[deploy()]])
        outer = Work([[ToolCall("researcher", {"request": "it"}, "call_1")], [deploy()]])
        researcher = LlmAgent(name="researcher", model=playing(inner), tools=[inner.deploy])
        tools: list[Any] = [AgentTool(researcher), outer.deploy]
        lead = LlmAgent(name="lead", model=playing(outer), tools=tools)
        policy = RulePolicy(allow=[Rule("researcher")])
        with agents_handle(store_url, policy=policy) as sayso:
            running = scene.ask(run(lead, [SaysoPlugin(sayso)]))
            assert "deploy-bot › researcher" in await slack.card()
            await slack.press("Always")
            await running

        # The session is one: what the sub-agent was always allowed, the other one is, too.
        assert (inner.ran, outer.ran) == ([RAN], [RAN])
        assert cards(scene) == 1


async def test_a_sub_agent_that_takes_over_says_who_it_is() -> None:
    inner = Work([[deploy()]])
    outer = Work([[ToolCall("transfer_to_agent", {"agent_name": "researcher"}, "call_1")]])
    researcher = LlmAgent(name="researcher", model=playing(inner), tools=[inner.deploy])
    lead = LlmAgent(name="lead", model=playing(outer), sub_agents=[researcher])
    noting = Noting()
    with agents_handle("memory://", policy=noting) as sayso:
        await run(lead, [SaysoPlugin(sayso)])

    assert [(call.name, context.path) for call, context in noting.seen] == [
        ("transfer_to_agent", ()),
        ("deploy", ("researcher",)),
    ]
    assert len({context.run for _, context in noting.seen}) == 1


async def test_sessions_of_the_same_name_are_those_of_each_user() -> None:
    noting = Noting()
    with agents_handle("memory://", policy=noting) as sayso:
        for user in ("alice", "bob", "bob", "bob/s-1"):
            work = Work([[deploy()]])
            agent = LlmAgent(name="lead", model=playing(work), tools=[work.deploy])
            await run(agent, [SaysoPlugin(sayso)], user=user)

    alice, bob, again, other = (context.run.session_id for _, context in noting.seen)
    assert bob == again
    assert len({alice, bob, other}) == 3


async def test_a_session_that_raises_when_it_is_read_is_a_denial_that_names_the_cause() -> None:
    class Gone:
        invocation_id, function_call_id, user_id = "i-1", "call_1", "user-1"

        @property
        def session(self) -> Any:
            raise RuntimeError("the session is gone")

        def get_invocation_context(self) -> Any:
            return SimpleNamespace(agent=None)

    def ping() -> None:
        """Ping."""

    with agents_handle("memory://", policy=allowing) as sayso:
        said = await SaysoPlugin(sayso).before_tool_callback(
            tool=FunctionTool(ping), tool_args={}, tool_context=cast("Any", Gone())
        )

    assert said is not None
    assert "the session is gone" in said["error"]


async def test_what_a_policy_puts_in_is_what_the_agents_own_callbacks_see() -> None:
    seen: list[dict[str, Any]] = []

    async def staging(call: ToolCall, context: object) -> Decision:
        return Decision.ALLOW.with_arguments(STAGING)

    def callback(tool: object, args: dict[str, Any], tool_context: object) -> None:
        seen.append(dict(args))

    work = Work([[deploy()]])
    agent = LlmAgent(
        name="lead", model=playing(work), tools=[work.deploy], before_tool_callback=callback
    )
    with agents_handle("memory://", policy=staging) as sayso:
        await run(agent, [SaysoPlugin(sayso)])

    assert (seen, work.ran) == ([STAGING], [("deploy", STAGING)])


async def test_a_tool_that_fails_leaves_nothing_behind() -> None:
    def broken(environment: str, release: int) -> str:
        """Deploy a release."""
        raise RuntimeError("no network")

    broken.__name__ = "deploy"
    work, noting = Work([[deploy()]]), Noting()
    agent = LlmAgent(name="lead", model=playing(work), tools=[broken])
    after = Work([[deploy()]])
    with agents_handle("memory://", policy=noting) as sayso:
        plugin = SaysoPlugin(sayso)
        with pytest.raises(RuntimeError, match="no network"):
            await run(agent, [plugin])
        lead = LlmAgent(name="lead", model=playing(after), tools=[after.deploy])
        said = await run(lead, [plugin])

    assert told(said, after) == ["deploy is done: production, 42"]
    assert [context.path for _, context in noting.seen] == [(), ()]


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
        await all_do_as_was_said("google-adk", repeating(), scene, capsys, button, printed)
