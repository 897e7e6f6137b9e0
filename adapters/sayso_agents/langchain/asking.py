"""A call of LangGraph's as it is asked about: whose it is, what led to it, and its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import ToolCallRequest

from sayso.calls import ToolCall, new_id
from sayso.digests import arguments_digest
from sayso.errors import ConfigError
from sayso_agents.calls import BoundRun, bind_run

if TYPE_CHECKING:
    from sayso import Gate

# The tools that run, by LangGraph's name for the place: an agent within one of them says so.
_running: ContextVar[Mapping[str, str] | None] = ContextVar("sayso_running_tools", default=None)


@dataclass(frozen=True, slots=True)
class Asking:
    """One call as it is asked about: for which run, and under which key, so that it is once."""

    call: ToolCall
    run: BoundRun
    key: str
    path: tuple[str, ...] = ()
    description: str = ""

    @property
    def how(self) -> dict[str, Any]:
        """The options of asking."""
        return {"key": self.key, "path": self.path, "description": self.description}

    @property
    def shown(self) -> dict[str, Any]:
        """What an interrupt says of it."""
        named = {"tool": self.call.name, "args": dict(self.call.arguments)}
        return {"session_id": self.run().run.session_id, **named}


def asking_of(sayso: Gate, request: ToolCallRequest) -> Asking:
    """The call, under a key that is the same when its node runs again, and of no other call.

    Raises:
        ConfigError: LangGraph is too old, or another tool than the one that is named would run.
    """
    called, info, tool = request.tool_call, request.runtime.execution_info, request.tool
    if info is None:
        raise ConfigError("LangGraph does not say where the call is made: langgraph 1.2 does")
    if tool is not None and tool.name != called["name"]:
        raise ConfigError(f"another middleware put {tool.name} in its place, without saying so")
    call = ToolCall(called["name"], called["args"], called["id"] or new_id())
    run_id = None if info.run_id is None else str(info.run_id)
    run = bind_run(sayso, lambda: info.thread_id, run_id=run_id)
    described = "" if tool is None else tool.description.strip()
    # A call without an id has a new one each time: what it does tells it from others.
    told_by = called["id"] or f"{call.name} {arguments_digest(call.arguments)}"
    key = f"{info.task_id}/{told_by}"
    return Asking(call, run, key, _path(request), described.partition("\n")[0])


def _path(request: ToolCallRequest) -> tuple[str, ...]:
    """The tools and nodes that led to the agent that calls, and its own name; outermost first."""
    info = request.runtime.execution_info
    places = [] if info is None else info.checkpoint_ns.split("|")[:-1]
    running, names = _running.get() or {}, list[str]()
    for depth, place in enumerate(places, 1):
        node = place.partition(":")[0]
        names.append(running.get("|".join(places[:depth]), node))
    own = request.runtime.config.get("metadata", {}).get("lc_agent_name")
    if names and isinstance(own, str) and own != names[-1]:
        names.append(own)
    return tuple(names)


@contextmanager
def inside(request: ToolCallRequest) -> Iterator[None]:
    """In the block the tool runs: agents that it starts know which one it is."""
    info = request.runtime.execution_info
    place = {} if info is None else {info.checkpoint_ns: request.tool_call["name"]}
    token = _running.set({**(_running.get() or {}), **place})
    try:
        yield
    finally:
        _running.reset(token)
