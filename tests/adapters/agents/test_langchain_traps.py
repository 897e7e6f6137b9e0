"""What LangChain and LangGraph do with a call besides running it, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from support.doors import Work, agents_handle, deploy, restart
from support.langchain_doors import HELLO, Model, an_agent, thread, told, tools
from support.scenes import cards

from sayso import Decision, Gate, ToolCall
from sayso.errors import ConfigError
from sayso_agents.langchain import SaysoMiddleware, ainvoke, resume, submit


@pytest.fixture
async def scene(store_url: str) -> AsyncIterator[Asked]:
    async with asked(store_url, together="0.2s") as opened:
        yield opened


@pytest.fixture
def slack(scene: Asked) -> SlackHands:
    return SlackHands(scene.playground)


@pytest.fixture
def sayso(store_url: str) -> Iterator[Gate]:
    with agents_handle(store_url) as opened:
        yield opened


async def test_an_id_that_the_model_uses_again_is_another_call(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    again = ToolCall("deploy", {"environment": "production", "release": 42}, "call_1")
    one, later = Work([[again]]), Work([[again]])
    running = scene.ask(an_agent(one, SaysoMiddleware(sayso)).ainvoke(HELLO, thread(one)))
    await slack.press("Allow")
    await running

    # As in another process, in the same conversation.
    running = scene.ask(an_agent(later, SaysoMiddleware(sayso)).ainvoke(HELLO, thread(one)))
    await slack.press("Deny")

    await running
    assert (len(one.ran), len(later.ran)) == (1, 0)


async def test_always_counts_for_its_thread_only(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    one, other = Work([[deploy()]]), Work([[deploy()]])
    running = scene.ask(an_agent(one, SaysoMiddleware(sayso)).ainvoke(HELLO, thread(one)))
    await slack.press("Always")
    await running

    running = scene.ask(an_agent(other, SaysoMiddleware(sayso)).ainvoke(HELLO, thread(other)))
    await slack.press("Deny")

    await running
    assert (len(one.ran), len(other.ran)) == (1, 0)


@pytest.mark.parametrize("value", [True, {"type": "approve"}, {"decisions": [{"type": "approve"}]}])
async def test_what_a_run_is_resumed_with_decides_nothing(
    scene: Asked, slack: SlackHands, sayso: Gate, value: object
) -> None:
    work = Work([[deploy()]])
    agent = an_agent(work, SaysoMiddleware(sayso, suspend=True), InMemorySaver())
    await agent.ainvoke(HELLO, thread(work))

    running = scene.ask(agent.ainvoke(Command(resume=value), thread(work)))
    await slack.press("Deny")

    (text,) = told(await running)
    assert "was denied" in text
    assert work.ran == []


async def test_a_card_says_which_sub_agent_asks_and_through_which_tool(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work = Work([[deploy()]])
    researcher: Any = create_agent(
        Model(work=work), tools(work), middleware=[SaysoMiddleware(sayso)], name="researcher"
    )

    @tool
    async def look_up(question: str) -> str:
        """Ask the researcher."""
        return str((await researcher.ainvoke(HELLO))["messages"][-1].text)

    top = Work([[ToolCall("look_up", {"question": "why?"})]])
    agent: Any = create_agent(
        Model(work=top), [look_up], middleware=[SaysoMiddleware(sayso)], name="boss"
    )
    running = scene.ask(agent.ainvoke(HELLO, thread(top)))
    await slack.press("Allow")
    await slack.ended("Approved")

    assert "deploy-bot › look_up › researcher" in await slack.card()
    await slack.press("Allow")
    await running
    assert len(work.ran) == 1


async def test_a_node_of_tools_without_create_agent_waits_for_its_answer(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work = Work([])
    running = scene.ask(ran_in_a_node(work, SaysoMiddleware(sayso), [deploy()]))

    await slack.press("Allow")

    assert [message.text for message in await running] == ["deploy is done: production, 42"]


async def test_a_node_that_runs_several_calls_is_not_put_aside(sayso: Gate) -> None:
    work = Work([])

    said = await ran_in_a_node(work, SaysoMiddleware(sayso, suspend=True), [deploy(), restart()])

    assert ["create_agent only" in message.text for message in said] == [True, True]
    assert work.ran == []


async def ran_in_a_node(
    work: Work, middleware: SaysoMiddleware, calls: list[ToolCall]
) -> list[ToolMessage]:
    """What a node of tools in a graph of one's own says of some calls."""
    node = ToolNode(
        tools(work),
        wrap_tool_call=middleware.wrap_tool_call,
        awrap_tool_call=middleware.awrap_tool_call,
    )
    graph = StateGraph(MessagesState)
    graph.add_node("act", node)
    graph.add_edge(START, "act")
    made = [{"name": one.name, "args": dict(one.arguments), "id": one.call_id} for one in calls]
    compiled: Any = graph.compile(checkpointer=InMemorySaver())
    message = AIMessage("", tool_calls=made)
    result = await compiled.ainvoke({"messages": [message]}, thread(work))
    return [one for one in result["messages"] if isinstance(one, ToolMessage)]


async def test_a_step_that_times_out_withdraws_its_card_and_runs_nothing(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work = Work([[deploy()]])
    agent = an_agent(work, SaysoMiddleware(sayso))
    agent.step_timeout = 1.5

    with pytest.raises(TimeoutError):
        await agent.ainvoke(HELLO, thread(work))

    await slack.ended("Cancelled")
    assert work.ran == []


async def test_approvals_without_the_ids_of_calls_are_refused(sayso: Gate) -> None:
    work = Work([[deploy()]])
    batched: Any = HumanInTheLoopMiddleware({"deploy": True})
    agent = an_agent(work, batched, InMemorySaver())

    with pytest.raises(ConfigError, match="interrupt_mode='per_call'"):
        await ainvoke(sayso, agent, HELLO, thread(work))

    with pytest.raises(ConfigError, match="interrupt_mode='per_call'"):
        await submit(sayso, agent, thread(work))
    assert work.ran == []


@pytest.mark.parametrize(
    ("decisions", "edited"),
    [
        (["approve", "reject"], {"environment": "staging", "release": 42}),
        (["approve", "edit", "reject"], {"environment": "staging", "release": "not a number"}),
    ],
)
async def test_an_edit_that_their_middleware_does_not_take_is_a_no_that_names_it(
    scene: Asked, slack: SlackHands, sayso: Gate, decisions: Any, edited: dict[str, Any]
) -> None:
    work = Work([[deploy()]])
    theirs: Any = HumanInTheLoopMiddleware(
        {"deploy": {"allowed_decisions": decisions}}, interrupt_mode="per_call"
    )
    agent = an_agent(work, theirs, InMemorySaver())
    running = scene.ask(ainvoke(sayso, agent, HELLO, thread(work)))

    await slack.fill_in("Edit arguments…", {"Arguments": json.dumps(edited)})

    (text,) = told(await running)
    assert json.dumps(edited) in text
    assert work.ran == []


async def test_a_run_that_is_over_is_not_run_again(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work = Work([[deploy()]])
    agent = an_agent(work, SaysoMiddleware(sayso), InMemorySaver())
    running = scene.ask(agent.ainvoke(HELLO, thread(work)))
    await slack.press("Allow")
    await running

    again = await resume(sayso, agent, thread(work))

    assert told(again) == ["deploy is done: production, 42"]
    assert len(work.ran) == 1


@pytest.mark.parametrize("suspend", [False, True])
async def test_a_tool_that_is_tried_again_is_asked_about_again(
    scene: Asked, slack: SlackHands, sayso: Gate, suspend: bool
) -> None:
    work, tries = Work([[ToolCall("deploy", {"release": 42})]]), list[int]()

    @tool
    async def deploy(release: int) -> str:
        """Deploy."""
        tries.append(release)
        raise TimeoutError("the network is slow")

    retries: Any = ToolRetryMiddleware(max_retries=2, initial_delay=0)
    agent: Any = create_agent(
        Model(work=work),
        [deploy],
        middleware=[retries, SaysoMiddleware(sayso, suspend=suspend)],
        checkpointer=InMemorySaver(),
    )
    running = scene.ask(ainvoke(sayso, agent, HELLO, thread(work)))
    await slack.press("Allow")
    await slack.ended("Approved")
    await slack.press("Deny")

    (text,) = told(await running)
    assert "was denied by a person" in text
    assert tries == [42]
    assert cards(scene) == 2


async def test_a_call_that_a_message_makes_twice_runs_once_for_each_approval(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work, twice = Work([]), deploy()
    running = scene.ask(ran_in_a_node(work, SaysoMiddleware(sayso), [twice, twice]))

    await slack.press("Allow")
    await slack.ended("Approved")
    await slack.press("Deny")

    await running
    assert len(work.ran) == 1


@pytest.mark.parametrize("called", ["deploy", "restart"])
async def test_a_tool_that_another_middleware_puts_in_its_place_does_not_run(called: str) -> None:
    work = Work([[deploy()]])

    class Swaps(AgentMiddleware):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(tool=tools(work)[called == "deploy"]))

    with agents_handle("memory://", policy=yes) as sayso:
        middleware: Any = [Swaps(), SaysoMiddleware(sayso)]
        agent: Any = create_agent(Model(work=work), tools(work), middleware=middleware)
        (text,) = told(await agent.ainvoke(HELLO))

    assert ("put restart in its place" in text) == (called == "deploy")
    assert len(work.ran) == (called == "restart")


async def test_a_call_without_an_id_is_asked_about_once(
    scene: Asked, slack: SlackHands, sayso: Gate
) -> None:
    work = Work([])
    call: Any = {"name": "deploy", "args": dict(deploy().arguments), "id": None}
    agent: Any = create_agent(
        Scripted(messages=iter([AIMessage("", tool_calls=[call])])),
        tools(work),
        middleware=[SaysoMiddleware(sayso, suspend=True)],
        checkpointer=InMemorySaver(),
    )

    running = scene.ask(ainvoke(sayso, agent, HELLO, thread(work)))
    await slack.press("Allow")

    with pytest.raises(TypeError, match="unexpected type"):
        await running  # LangGraph has no place for its result
    assert len(work.ran) == 1
    assert cards(scene) == 1


async def yes(call: ToolCall, context: object) -> Decision:
    """Everything may run."""
    return Decision.ALLOW


class Scripted(GenericFakeChatModel):
    """Says these messages, one after the other."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self
