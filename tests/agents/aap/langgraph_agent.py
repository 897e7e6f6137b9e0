"""A LangChain agent with the package's middleware."""

from __future__ import annotations

from typing import Any

from agentapprovalprotocol.langgraph import ApprovalMiddleware, resumer
from common import ARGUMENTS, SAYS, TOOL, Scene, Woken, pay, play, say
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver


class Model(GenericFakeChatModel):
    """Plays its messages, whatever tools it is given."""

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self


def agent_with(approvals: ApprovalMiddleware, scene: Scene) -> Any:
    call = {"name": TOOL, "args": ARGUMENTS, "id": scene.call_id}
    turns = [AIMessage(content=SAYS, tool_calls=[call]), AIMessage(content="done")]
    model, saver = Model(messages=iter(turns)), InMemorySaver()
    return create_agent(model, tools=[pay], middleware=[approvals], checkpointer=saver)


def thread_of(scene: Scene) -> Any:
    return {"configurable": {"thread_id": scene.thread}}


def tell(messages: list[Any]) -> None:
    for message in messages:
        if isinstance(message, ToolMessage):
            say("told", text=message.content)


def waiting_in_a_thread(scene: Scene) -> None:
    agent = agent_with(ApprovalMiddleware(*scene.provider), scene)
    tell(agent.invoke({"messages": "pay"}, thread_of(scene))["messages"])


async def waiting(scene: Scene) -> None:
    agent = agent_with(ApprovalMiddleware(*scene.provider), scene)
    tell((await agent.ainvoke({"messages": "pay"}, thread_of(scene)))["messages"])


async def paused(scene: Scene) -> None:
    woken = Woken(scene, "langgraph")
    async with woken.receiving() as provider:
        agent = agent_with(ApprovalMiddleware(*provider, mode="async"), scene)
        woken.resumer = resumer(agent)
        found = await agent.ainvoke({"messages": "pay"}, thread_of(scene))
        assert found["__interrupt__"]
        await woken.over()
        tell((await agent.aget_state(thread_of(scene))).values["messages"])


play(waiting=waiting, waiting_in_a_thread=waiting_in_a_thread, paused=paused)
