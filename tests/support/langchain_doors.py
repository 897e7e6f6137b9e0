"""Agents of LangChain with a model that does as a test says, behind each of its doors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from support.doors import Door, Work

from sayso import Gate
from sayso.calls import new_id
from sayso_agents.langchain import SaysoMiddleware, ainvoke, resume, submit

HELLO = {"messages": [("user", "Go on.")]}


class Model(BaseChatModel):
    """Makes the calls of one turn in each message, then says that it is done.

    One that ``repeats`` says what it was told last instead.
    """

    work: Any
    repeats: bool = False

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        calls = [] if turn >= len(self.work.turns) else self.work.turns[turn]
        made = [{"name": one.name, "args": dict(one.arguments), "id": one.call_id} for one in calls]
        words = messages[-1].text if self.repeats else "Done."
        message = AIMessage("" if made else words, tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tools(work: Work) -> list[StructuredTool]:
    def deploy(environment: str, release: int) -> str:
        """Deploy a release to an environment."""
        return work.run("deploy", environment=environment, release=release)

    def restart(service: str) -> str:
        """Restart a service."""
        return work.run("restart", service=service)

    return [
        StructuredTool.from_function(deploy, coroutine=work.deploy),
        StructuredTool.from_function(restart, coroutine=work.restart),
    ]


def an_agent(work: Work, middleware: Any, saver: InMemorySaver | None = None) -> Any:
    return create_agent(Model(work=work), tools(work), middleware=[middleware], checkpointer=saver)


def thread(work: Work) -> Any:
    return {} if work.session is None else {"configurable": {"thread_id": work.session}}


def told(result: Any) -> list[str]:
    """What the model was told of each call, in the order in which it made them."""
    messages = result["messages"]
    calls = [
        call["id"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls
    ]
    said = {one.tool_call_id: one.text for one in messages if isinstance(one, ToolMessage)}
    return [said[str(call)] for call in calls]


async def run_again(sayso: Gate, work: Work, middleware: Any) -> None:
    """The tool interrupts itself: LangGraph runs its node again."""

    @tool
    async def deploy(environment: str, release: int) -> str:
        """Deploy."""
        interrupt("Which region?")
        return await work.deploy(environment, release)

    agent: Any = create_agent(
        Model(work=work), [deploy], middleware=[middleware], checkpointer=InMemorySaver()
    )
    (theirs,) = (await ainvoke(sayso, agent, HELLO, thread(work)))["__interrupt__"]
    await agent.ainvoke(Command(resume={theirs.id: "north"}), thread(work))


class Inline(Door):
    """A call waits for its answer."""

    async def run_again(self, sayso: Gate, work: Work) -> None:
        await run_again(sayso, work, SaysoMiddleware(sayso))

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        agent = an_agent(work, SaysoMiddleware(sayso))
        return told(await agent.ainvoke(HELLO, thread(work)))

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        return told(an_agent(work, SaysoMiddleware(sayso)).invoke(HELLO, thread(work)))


class Suspended(Door):
    """The run is put aside for an answer."""

    def middleware(self, sayso: Gate) -> Any:
        return SaysoMiddleware(sayso, suspend=True)

    async def run_again(self, sayso: Gate, work: Work) -> None:
        await run_again(sayso, work, self.middleware(sayso))

    async def run(self, sayso: Gate, work: Work) -> list[str]:
        agent = an_agent(work, self.middleware(sayso), InMemorySaver())
        # What can be put aside has a thread.
        named = thread(work if work.session is not None else replace(work, session=new_id()))
        return told(await ainvoke(sayso, agent, HELLO, named))

    async def start(self, sayso: Gate, work: Work) -> InMemorySaver:
        saver = InMemorySaver()
        agent = an_agent(work, self.middleware(sayso), saver)
        await agent.ainvoke(HELLO, thread(work))
        assert await submit(sayso, agent, thread(work))
        return saver

    async def go_on(self, sayso: Gate, work: Work, kept: Any) -> list[str]:
        agent = an_agent(work, self.middleware(sayso), kept)
        return told(await resume(sayso, agent, thread(work)))


class TheirOwn(Suspended):
    """LangChain's own middleware asks, and Sayso answers."""

    words_of_its_own = True

    def middleware(self, sayso: Gate) -> Any:
        return HumanInTheLoopMiddleware(
            {"deploy": True, "restart": True}, interrupt_mode="per_call"
        )
