"""Strands Agents: people decide on the tool calls of an agent, in its hooks.

``SaysoHooks`` is a hook provider: it asks before each tool, and tells the model what a person
changed. An agent inside a tool asks for the run that everything began with.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sayso.calls import ToolCall, new_id
from sayso.errors import ConfigError
from sayso_agents import missing
from sayso_agents.calls import BoundRun, asked, bind_run, first_line

try:
    from strands.hooks import (
        AfterInvocationEvent,
        AfterToolCallEvent,
        BeforeInvocationEvent,
        BeforeToolCallEvent,
        HookOrder,
        HookProvider,
        HookRegistry,
    )
    from strands.types.tools import ToolResultContent
except ImportError as error:
    raise missing("Strands Agents", error, "strands-agents>=1.62,<2") from error

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["SaysoHooks"]

_NO_NAME = "Strands Agents"
"""The name of an agent that was given none."""


@dataclass(frozen=True, slots=True)
class _Running:
    """A tool that runs: which agent called it, for which run, and what led there.

    ``note`` is what the model is told beside its result, ``around`` the tool that the agent
    itself runs inside of.
    """

    agent: object
    run: BoundRun
    path: tuple[str, ...]
    tool: str
    call_id: str
    note: str
    around: _Running | None


_running: ContextVar[_Running | None] = ContextVar("sayso_strands_running", default=None)


class SaysoHooks(HookProvider):
    """Every call of a tool passes Sayso first: people are asked where the policy says so.

    A call runs with the arguments that were approved, or the model is told why it did not
    run; whatever fails on the way is such a no. Other hooks change a call before people
    see it. ``session`` is the one that an *Always* is kept for; else it is that of the
    agent's session manager, or of the handle; without any, an *Always* ends with the run.
    """

    def __init__(self, sayso: Gate, *, session: str | None = None) -> None:
        self._sayso = sayso
        self._session = session
        self._run_ids: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Be asked last of all before a tool runs, and look at what comes of it."""
        registry.add_callback(BeforeToolCallEvent, self._ask, order=HookOrder.SDK_LAST)
        registry.add_callback(AfterToolCallEvent, self._tell)
        registry.add_callback(BeforeInvocationEvent, self._begin)
        registry.add_callback(AfterInvocationEvent, self._forget)

    # Strands awaits what is an async function itself, and nothing else: of a callable that only
    # gives something to await, every call would run.
    async def _ask(self, event: BeforeToolCallEvent[Any]) -> None:
        around = _left(event.agent)
        if event.cancel_tool:
            return
        use = event.tool_use
        name, call_id = use["name"], use["toolUseId"]
        run, path = self._asker(event.agent, around)

        def read() -> ToolCall:
            tool = event.selected_tool
            if tool is not None and tool.tool_name != name:
                raise ConfigError(f"another hook put {tool.tool_name} in its place")
            return ToolCall(name, use["input"], call_id)

        said = await asked(
            name,
            read,
            lambda call: run().check(call, path=path, description=_describe(event.selected_tool)),
        )
        if said.arguments is None:
            event.cancel_tool = said.text
            return
        event.tool_use = {**use, "input": said.arguments}
        _running.set(_Running(event.agent, run, path, name, call_id, said.text, around))

    async def _tell(self, event: AfterToolCallEvent[Any]) -> None:
        running = _running.get()
        if running is None or running.call_id != event.tool_use["toolUseId"]:
            return
        _left(event.agent)
        if running.note:
            note: ToolResultContent = {"text": running.note}
            event.result = {**event.result, "content": [note, *event.result["content"]]}

    async def _begin(self, event: BeforeInvocationEvent) -> None:
        self._run_ids[event.agent] = new_id()

    async def _forget(self, event: AfterInvocationEvent) -> None:
        _left(event.agent)
        self._run_ids.pop(event.agent, None)

    def _asker(self, agent: Any, around: _Running | None) -> tuple[BoundRun, tuple[str, ...]]:
        """For which run an agent asks, and what led to it."""
        if around is None:
            # A tool that is called directly, outside every invocation, is a run of its own.
            run_id = self._run_ids.get(agent) or new_id()
            return bind_run(self._sayso, lambda: self._session_of(agent), run_id=run_id), ()
        named = () if agent.name in (_NO_NAME, around.tool) else (agent.name,)
        return around.run, (*around.path, around.tool, *named)

    def _session_of(self, agent: Any) -> object:
        if self._session is not None:
            return self._session
        # The id of an agent without a session manager is too short to be nobody else's.
        return agent.session_id if getattr(agent, "_session_manager", None) is not None else None


def _describe(tool: Any) -> str:
    return "" if tool is None else first_line(tool.tool_spec.get("description"))


def _left(agent: object) -> _Running | None:
    """What an agent runs inside of, now that no tool of its own runs in this task."""
    running = _running.get()
    if running is not None and running.agent is agent:
        running = running.around
        _running.set(running)
    return running
