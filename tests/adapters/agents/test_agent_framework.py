"""The doors for Microsoft Agent Framework: what every door promises, and what is their own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    Executor,
    FunctionInvocationContext,
    FunctionMiddleware,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
    tool,
)
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from pydantic import BaseModel
from support.agent_framework_doors import Approving, Inline, playing, tools_of
from support.conformance import (
    RAN,
    STAGING,
    DoorContract,
    KilledContract,
    OtherWayContract,
    SyncContract,
)
from support.doors import Work, agents_handle, deploy
from support.fail_closed import Double, allowing, raising
from support.scenes import cards
from support.unanswered import expire_now

from sayso import Decision, Gate, RulePolicy, ToolCall
from sayso.errors import RequestUnansweredError
from sayso.stores.connect import open_store
from sayso_agents.agent_framework import SaysoMiddleware, run_workflow


class Target(BaseModel):
    """What a workflow wants to be told."""

    environment: str
    release: int


class Asking(Executor):
    """Asks for one thing, and gives what it was told."""

    def __init__(self, wanted: Any) -> None:
        super().__init__("asking")
        self._wanted = wanted

    @handler
    async def begin(self, text: str, ctx: WorkflowContext[str, str]) -> None:
        await ctx.request_info(text, self._wanted)

    @response_handler
    async def yes_or_no(self, asked: str, given: bool, ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(repr(given))

    @response_handler
    async def words(self, asked: str, given: str, ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(repr(given))

    @response_handler
    async def data(self, asked: str, given: Target, ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(repr(given))


def asking(wanted: Any) -> Workflow:
    return WorkflowBuilder(start_executor=Asking(wanted)).build()


class TestAgentFramework(DoorContract, SyncContract, KilledContract):
    door = Inline()

    async def test_the_model_is_told_what_a_person_changed(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert "deploy is done: staging, 42" in said
        assert "A person changed this call" in said

    async def test_an_agent_inside_a_tool_asks_for_the_same_run_and_says_who_it_is(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        inner = Work([[deploy()]])
        outer = Work([[ToolCall("research", {}, "call_1")], [deploy()]])
        guarded = [SaysoMiddleware(sayso)]
        researcher = Agent(playing(inner), tools=tools_of(inner), middleware=guarded)

        @tool(approval_mode="never_require")
        async def research() -> str:
            """Look it up."""
            return (await researcher.run("Go")).text

        lead = Agent(playing(outer), tools=[research, *tools_of(outer)], middleware=guarded)
        running = scene.ask(_text(lead, outer.session))
        await slack.press("Allow")
        await slack.ended("Approved")
        assert "deploy-bot › research" in await slack.card()
        await slack.press("Always")
        await running

        # The session is one: what the sub-agent was always allowed, the other one is, too.
        assert (inner.ran, outer.ran) == ([RAN], [RAN])
        assert cards(scene) == 2


async def _text(agent: Agent[Any], session: str | None) -> str:
    return (await agent.run("Go", session=AgentSession(session_id=session))).text


class TestApprovals(OtherWayContract):
    door = Approving()

    async def test_the_model_reads_which_arguments_were_wanted(
        self, scene: Asked, slack: SlackHands, sayso: Gate
    ) -> None:
        work = Work([[deploy()]])
        running = scene.ask(self.door.run(sayso, work))

        await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(STAGING)})

        (said,) = await running
        assert "Make this call instead" in said
        assert work.ran == []


async def test_people_see_what_other_middleware_made_of_a_call() -> None:
    seen: list[dict[str, Any]] = []

    class Meddling(FunctionMiddleware):
        async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
            context.arguments = STAGING
            await call_next()

    async def policy(call: ToolCall, context: object) -> Decision:
        seen.append(dict(call.arguments))
        return Decision.ALLOW

    work = Work([[deploy()]])
    with agents_handle("memory://", policy=policy) as sayso:
        middleware = [Meddling(), SaysoMiddleware(sayso)]
        await Agent(playing(work), tools=tools_of(work), middleware=middleware).run("Go")

    assert seen == [STAGING]
    assert work.ran == [("deploy", STAGING)]


async def test_arguments_that_the_tool_does_not_take_run_nothing() -> None:
    async def policy(call: ToolCall, context: object) -> Decision:
        return Decision.ALLOW.with_arguments({"environment": "staging", "release": "the newest"})

    work = Work([[deploy()]])
    with agents_handle("memory://", policy=policy) as sayso:
        await Inline().run(sayso, work)

    assert work.ran == []


async def test_a_session_without_an_id_is_a_denial_that_names_the_cause() -> None:
    work = Work([[deploy()]])
    session = AgentSession()
    del vars(session)["_session_id"]
    with agents_handle("memory://", policy=allowing) as sayso:
        context = FunctionInvocationContext(tools_of(work)[0], RAN[1], session=session)

        async def call_next() -> None:
            work.run("deploy")

        await SaysoMiddleware(sayso).process(context, call_next)

    assert work.ran == []
    assert "_session_id" in str(context.result)


class TestWorkflows:
    @pytest.fixture
    async def scene(self, store_url: str) -> AsyncIterator[Asked]:
        async with asked(store_url) as opened:
            yield opened

    @pytest.fixture
    def sayso(self, store_url: str) -> Iterator[Gate]:
        with agents_handle(store_url) as opened:
            yield opened

    @pytest.mark.parametrize(("button", "given"), [("Approve", "True"), ("Deny", "False")])
    async def test_a_yes_or_no_is_the_approval_of_a_text(
        self, scene: Asked, sayso: Gate, button: str, given: str
    ) -> None:
        running = scene.ask(_outputs(sayso, asking(bool)))
        slack = SlackHands(scene.playground)
        assert "Release 42 goes out" in await slack.card()

        await slack.press(button)

        assert await running == [given]

    async def test_words_are_an_answer(self, scene: Asked, sayso: Gate) -> None:
        running = scene.ask(_outputs(sayso, asking(str)))

        await SlackHands(scene.playground).fill_in("Answer…", {"Your answer": "staging"})

        assert await running == ["'staging'"]

    async def test_data_is_a_form(self, scene: Asked, sayso: Gate) -> None:
        running = scene.ask(_outputs(sayso, asking(Target)))

        filled = {"Environment": "staging", "Release": "42"}
        await SlackHands(scene.playground).fill_in("Fill in…", filled)

        assert await running == [repr(Target(environment="staging", release=42))]

    async def test_silence_is_no_approval(self, scene: Asked, sayso: Gate, store_url: str) -> None:
        running = scene.ask(_outputs(sayso, asking(bool)))
        await SlackHands(scene.playground).card()
        async with open_store(store_url) as backend:
            await expire_now(backend)

        assert await running == ["False"]

    @pytest.mark.parametrize("wanted", [str, Target])
    async def test_silence_is_no_answer(
        self, scene: Asked, sayso: Gate, store_url: str, wanted: Any
    ) -> None:
        running = scene.ask(_outputs(sayso, asking(wanted)))
        await SlackHands(scene.playground).card()
        async with open_store(store_url) as backend:
            await expire_now(backend)

        with pytest.raises(RequestUnansweredError):
            await running


async def _outputs(sayso: Gate, workflow: Workflow) -> list[Any]:
    result = await run_workflow(sayso, workflow, "Release 42 goes out", session="s-1")
    return result.get_outputs()


@pytest.mark.parametrize("wanted", [bool, str])
async def test_a_workflow_goes_nowhere_where_our_own_code_raises(wanted: Any) -> None:
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        await _outputs(cast("Gate", Double(raising)), asking(wanted))


async def test_a_workflow_that_waits_for_something_else_is_told_so() -> None:
    refused = pytest.raises(TypeError, match="people cannot be asked for")
    with agents_handle("memory://", policy=RulePolicy()) as sayso, refused:
        await _outputs(sayso, asking(int))
