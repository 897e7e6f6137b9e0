"""The door for Pydantic AI: what every door promises, and what is its own."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any

import pytest
from e2e.asked import Asked
from e2e.hands import SlackHands
from pydantic import BaseModel, ConfigDict
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, DeferredToolRequests, RunContext
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import CombinedToolset, FunctionToolset
from support.conformance import (
    RAN,
    STAGING,
    AgainContract,
    DoorContract,
    KilledContract,
    OtherWayContract,
    SuspendedContract,
    SyncContract,
)
from support.doors import Work, agents_handle, deploy, restart
from support.fail_closed import allowing
from support.pydantic_ai_doors import Capable, Deferred, Unmarked, agent, calling, told
from support.scenes import cards

from sayso import ConfigError, Decision, Gate, ToolCall, WaitTimeoutError
from sayso_agents.pydantic_ai import SaysoApprovals


class Window(BaseModel):
    """A strict model takes a date from JSON, and refuses one that is a str."""

    model_config = ConfigDict(strict=True)
    begins: datetime


class TestPydanticAI(DoorContract, AgainContract, SyncContract, KilledContract, SuspendedContract):
    door = Deferred()

    async def test_an_agent_inside_a_tool_asks_for_the_same_run_and_says_who_it_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        inner, outer = Work([[deploy()]]), Work([[ToolCall("research", {}, "call_1")], [deploy()]])
        researcher = agent(inner, SaysoApprovals(sayso), name="researcher")
        lead = agent(outer, SaysoApprovals(sayso, exempt=["research"]), name="lead")

        @lead.tool_plain
        async def research() -> str:
            result = await researcher.run("Look it up")
            return str(told(result.all_messages(), inner))

        running = scene.ask(lead.run("Go", conversation_id=outer.session))
        assert "deploy-bot › researcher" in await slack.card()
        await slack.press("Always")
        await running

        # The session is one: what the sub-agent was always allowed, the other one is, too.
        assert (inner.ran, outer.ran) == ([RAN], [RAN])
        assert cards(scene) == 1

    async def test_what_is_approved_as_it_is_is_read_from_the_models_own_text(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        seen: list[Window] = []
        text = '{"window": {"begins": "2026-11-22T12:00:00Z"}, "why": "night"}'
        made = Agent(calling([[("plan", text)]]), capabilities=[SaysoApprovals(sayso)])

        @made.tool_plain(requires_approval=True)
        def plan(window: Window, why: str) -> str:
            seen.append(window)
            return "planned"

        running = scene.ask(made.run("Go"))
        await slack.press("Allow")
        await running

        assert [window.begins.hour for window in seen] == [12]

    async def test_the_model_is_told_what_a_person_changed(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert said.startswith("deploy is done: staging, 42\n\nA person changed this call")

    async def test_an_edit_that_the_tool_does_not_take_runs_nothing(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        wrong = json.dumps({"environment": "staging", "release": "the newest"})
        await slack.fill_in("Edit arguments…", {"Arguments": wrong})

        (said,) = await running
        assert work.ran == []
        assert "release" in said

    async def test_what_runs_later_is_what_was_approved_whatever_the_messages_say(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        kept = await self.door.start(sayso, work)
        await slack.press("Allow")
        await slack.ended("Approved")

        kept.messages = kept.messages.replace(b'"release":42', b'"release":43')
        assert b'"release":43' in kept.messages
        await self.door.go_on(sayso, work, kept)

        assert work.ran == [RAN]

    async def test_an_edit_of_a_run_that_was_put_aside_runs_as_edited(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        kept = await self.door.start(sayso, work)

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})
        (said,) = await self.door.go_on(sayso, work, kept)

        assert work.ran == [("deploy", STAGING)]
        assert "A person changed this call" in said

    async def test_a_run_that_is_handed_in_twice_is_asked_about_once(
        self, scene: Asked, slack: SlackHands, store_url: str
    ) -> None:
        work = Work([[deploy()]])
        ended = await agent(work, output_type=[str, DeferredToolRequests]).run("Go")
        kept = []
        for _ in range(2):
            with agents_handle(store_url) as sayso:
                kept.append(await SaysoApprovals[Any](sayso).submit(ended))
        await slack.press("Allow")
        await slack.ended("Approved")

        with agents_handle(store_url) as sayso:
            approvals, messages = SaysoApprovals[Any](sayso), ended.all_messages()
            answers = [await approvals.results(one, messages) for one in kept]

        assert answers[0] == answers[1]
        assert cards(scene) == 1

    async def test_whoever_is_in_a_hurry_leaves_the_question_open(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        kept = await self.door.start(sayso, work)
        await slack.card()

        messages = ModelMessagesTypeAdapter.validate_json(kept.messages)
        with pytest.raises(WaitTimeoutError):
            await SaysoApprovals[Any](sayso).results(kept.approvals, messages, timeout=0.1)

        await slack.press("Allow")
        await self.door.go_on(sayso, work, kept)
        assert work.ran == [RAN]

    async def test_what_is_not_a_run_that_waits_is_refused(self, sayso: Gate) -> None:
        approvals = SaysoApprovals[Any](sayso)
        ended = await agent(Work([])).run("Go")

        with pytest.raises(TypeError, match="nothing waits"):
            await approvals.submit(ended)
        for kept in ("", "{}", "null", "[" * 100_000):
            with pytest.raises(ValueError, match="not what submit gave"):
                await approvals.results(kept, [])

    async def test_what_was_approved_for_one_run_runs_no_tool_of_another(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        arguments = {"environment": "production", "release": 42}
        one, other = (Work([[ToolCall(tool, arguments, "call_0")]]) for tool in ("deploy", "drop"))
        kept = await self.door.start(sayso, one)
        await slack.press("Allow")
        await slack.ended("Approved")
        theirs = agent(other, output_type=[str, DeferredToolRequests])

        @theirs.tool_plain(requires_approval=True)
        def drop(environment: str, release: int) -> None:
            other.run("drop")

        messages = (await theirs.run("Go")).all_messages()
        for wrong in (messages, []):
            with pytest.raises(ValueError, match="not the messages of that run"):
                await SaysoApprovals[Any](sayso).results(kept.approvals, wrong)

        assert other.ran == []

    async def test_a_tool_that_wants_an_approval_says_why_on_the_card(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        approvals = SaysoApprovals[Any](sayso, exempt=["pay"])
        made = Agent(calling([[("pay", {"euros": 900})]]), capabilities=[approvals])

        @made.tool
        def pay(ctx: RunContext[Any], euros: int) -> str:
            """Pay a bill."""
            if not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"limit": "500 euros"})
            return f"paid {euros}"

        running = scene.ask(made.run("Go"))
        card = await slack.card()
        await slack.press("Allow")

        assert "Pay a bill." in card
        assert "limit: 500 euros" in card
        assert returned(await running) == ["paid 900"]

    async def test_calls_that_run_elsewhere_are_left_to_whoever_runs_them(
        self, sayso: Gate
    ) -> None:
        made: Agent[None, Any] = Agent(
            calling([[("fetch", {})]]),
            capabilities=[SaysoApprovals(sayso, exempt=["fetch"])],
            output_type=[str, DeferredToolRequests],
        )

        @made.tool_plain
        def fetch() -> str:
            raise CallDeferred

        requests: Any = (await made.run("Go")).output

        assert [part.tool_name for part in requests.calls] == ["fetch"]

    async def test_observers_are_told_who_answered(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        events = list[Any]()

        async def watch(_: Any, stream: Any) -> None:
            events.extend([event async for event in stream])

        made = reading(SaysoApprovals(sayso), asks=True)
        running = scene.ask(made.run("Go", event_stream_handler=watch))
        await slack.press("Allow")
        await running

        results = [one.results for one in events if one.event_kind == "deferred_tool_results"]
        assert [list(one.answered_by.values()) for one in results] == [[slack.actor()]]

    async def test_a_run_whose_events_are_read_is_asked_about_as_well(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        made, seen = reading(SaysoApprovals(sayso), asks=True), list[Any]()

        async def read() -> None:
            async with made.run_stream_events("Go") as events:
                seen.extend([event async for event in events])

        running = scene.ask(read())
        await slack.press("Deny")
        await running

        assert "was denied by a person" in seen[-1].result.output

    async def test_a_stream_of_text_runs_nothing_where_a_tool_is_marked_besides(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        async def read(made: Agent[None, str]) -> str:
            async with made.run_stream("Go") as result:
                return await result.get_output()

        with pytest.raises(UserError, match="deferred tool call"):
            await read(reading(SaysoApprovals(sayso), asks=True))
        running = scene.ask(read(reading(SaysoApprovals(sayso), asks=False)))
        await slack.press("Allow")

        assert "restart is done" in await running
        assert cards(scene) == 1

    async def test_runs_in_several_threads_at_once_have_an_answer_each(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        runs = [Work([[deploy()]]), Work([[restart()]])]
        running = [scene.ask(asyncio.to_thread(Capable().run_sync, sayso, one)) for one in runs]

        await slack.press("Allow")
        await slack.ended("Approved")
        await slack.press("Allow")
        await asyncio.gather(*running)

        assert [len(one.ran) for one in runs] == [1, 1]


class TestUnmarkedToolsOfPydanticAI(OtherWayContract):
    door = Unmarked()

    async def test_tools_that_are_exempt_run_unasked_and_no_others(self) -> None:
        work = Work([[deploy(), restart()]])

        with agents_handle("memory://", policy=no) as sayso:
            ours = SaysoApprovals[Any](sayso, exempt=["restart"])
            result = await agent(work, ours, asks=False).run("Go")

        assert work.ran == [("restart", {"service": "web"})]
        assert any("The call of deploy was denied" in text for text in returned(result))

    async def test_one_name_in_place_of_several_is_refused(self, sayso: Gate) -> None:
        with pytest.raises(ConfigError, match=r'exempt=\["restart"\]'):
            SaysoApprovals[Any](sayso, exempt="restart")

    @pytest.mark.parametrize("exempt", [None, 5, b"restart", iter(["restart"]), [None], ["re*"]])
    async def test_what_is_not_names_of_tools_is_refused(self, sayso: Gate, exempt: Any) -> None:
        with pytest.raises(ConfigError, match="exempt takes "):
            SaysoApprovals[Any](sayso, exempt=exempt)

    async def test_arguments_with_a_name_twice_are_a_denial_that_says_so(self) -> None:
        twice = '{"environment": "staging", "environment": "production", "release": 42}'
        work, turns = Work([[deploy()]]), iter([True, False])

        def answer(messages: Any, info: Any) -> ModelResponse:
            made = ToolCallPart("deploy", twice, "call_1")
            return ModelResponse([made if next(turns) else TextPart("Done.")])

        with agents_handle("memory://", policy=allowing) as sayso:
            capabilities = [SaysoApprovals[Any](sayso)]
            made = Agent(FunctionModel(answer), tools=[work.deploy], capabilities=capabilities)
            result = await made.run("Go")

        assert work.ran == []
        assert any("a name twice" in text for text in returned(result))

    @pytest.mark.parametrize("first", [True, False])
    async def test_a_tool_that_another_capability_adds_is_one_of_them(self, first: bool) -> None:
        work = Work([[restart()]])

        class Adds(AbstractCapability[Any]):
            def get_wrapper_toolset(self, toolset: Any) -> Any:
                return CombinedToolset([toolset, FunctionToolset([work.restart])])

        def made(*capabilities: Any) -> Agent[None, str]:
            calls = [[(call.name, dict(call.arguments))] for (call,) in work.turns]
            return Agent(calling(calls), capabilities=capabilities)

        with agents_handle("memory://", policy=no) as sayso:
            ours = SaysoApprovals[Any](sayso)
            result = await made(*([ours, Adds()] if first else [Adds(), ours])).run("Go")

        assert "did not run" in returned(result)[0]
        assert work.ran == []

    @pytest.mark.parametrize("is_exempt", [True, False])
    async def test_another_capability_cannot_approve_instead(self, is_exempt: bool) -> None:
        work = Work([[deploy()]])

        def approve(_: Any, requests: DeferredToolRequests) -> Any:
            return requests.build_results(approve_all=True)

        with agents_handle("memory://", policy=no) as sayso:
            theirs = HandleDeferredToolCalls[Any](approve)
            ours = SaysoApprovals[Any](sayso, exempt=["deploy"] if is_exempt else ())
            result = await agent(work, theirs, ours, asks=is_exempt).run("Go")

        assert "did not run" in returned(result)[0]
        assert work.ran == []


async def no(call: ToolCall, context: object) -> Decision:
    """Nothing may run."""
    return Decision.DENY


def reading(approvals: SaysoApprovals[Any], *, asks: bool) -> Agent[None, str]:
    """An agent of the framework's own test model, which can be streamed, and restarts a service."""
    made: Agent[None, str] = Agent(TestModel(), capabilities=[approvals])
    made.tool_plain(requires_approval=asks)(Work([]).restart)
    return made


def returned(result: Any) -> list[str]:
    """What the tools of a run returned."""
    parts = [part for message in result.all_messages() for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
