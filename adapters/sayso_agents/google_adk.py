"""Google ADK: people decide on the tool calls of all agents of a runner, in a plugin.

``SaysoPlugin`` asks before each tool, and tells the model what a person changed. Agents inside
tools ask for the run that everything began with.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.calls import ToolCall, new_id
from sayso_agents import missing
from sayso_agents.calls import BoundRun, asked, bind_run, first_line

try:
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
except ImportError as error:
    raise missing("Google ADK", error, "google-adk>=2.13,<3") from error

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["SaysoPlugin"]


@dataclass(frozen=True, slots=True)
class _Running:
    """A tool that runs: in which invocation, for which run, and what led there.

    ``note`` is what the model is told beside its result, ``around`` the tool that the agent
    itself runs inside of.
    """

    invocation: str
    run: BoundRun
    path: tuple[str, ...]
    tool: str
    call_id: str | None
    note: str
    around: _Running | None


_running: ContextVar[_Running | None] = ContextVar("sayso_google_adk_running", default=None)


class SaysoPlugin(BasePlugin):
    """Every call of a tool passes Sayso first: people are asked where the policy says so.

    A call runs with the arguments that were approved, or the model is told why it did not
    run; whatever fails on the way is such a no. It is for all agents of the runner, and for
    those inside their tools. List it last: what comes after it, other plugins and an agent's
    own callbacks, changes what was shown. *Always* is kept for the user's session.
    """

    def __init__(self, sayso: Gate, name: str = "sayso") -> None:
        super().__init__(name)
        self._sayso = sayso

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Let the tool run with what was approved, or give what the model is told instead."""
        around, call_id = _left(tool_context), tool_context.function_call_id
        run, path = self._asker(tool_context, around)
        said = await asked(
            tool.name,
            lambda: ToolCall(tool.name, tool_args, call_id or new_id()),
            lambda call: run().check(call, path=path, description=first_line(tool.description)),
        )
        if said.arguments is None:
            return {"error": said.text}
        # It is this object that the tool is called with.
        tool_args.clear()
        tool_args.update(said.arguments)
        invocation = tool_context.invocation_id
        _running.set(_Running(invocation, run, path, tool.name, call_id, said.text, around))
        return None

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,  # noqa: ARG002 -- the framework names what it passes
        tool_args: dict[str, Any],  # noqa: ARG002
        tool_context: ToolContext,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """The result, with a word about what ran if a person changed the call."""
        running = _running.get()
        if running is None or running.call_id != tool_context.function_call_id:
            return None
        _left(tool_context)
        if not running.note:
            return None
        # What a tool gives may be anything, whatever its type says.
        given: dict[str, Any] = result if isinstance(result, dict) else {"result": result}
        return {"note": running.note, **given}

    def _asker(
        self, context: ToolContext, around: _Running | None
    ) -> tuple[BoundRun, tuple[str, ...]]:
        """For which run an agent asks, and what led to it."""
        names = _names(context.get_invocation_context().agent)
        if around is not None:
            named = [name for name in names if name != around.tool]
            return around.run, (*around.path, around.tool, *named)
        run = bind_run(
            self._sayso,
            lambda: context.session.id,
            run_id=context.invocation_id,
            owner=lambda: context.user_id,
        )
        return run, (*names[1:],)


def _names(agent: object) -> list[str]:
    """The agents that led to one, and its own name; outermost first."""
    names: list[str] = []
    while isinstance(agent, BaseAgent):
        names.insert(0, agent.name)
        agent = agent.parent_agent
    return names


def _left(context: ToolContext) -> _Running | None:
    """What an agent runs inside of, now that no tool of its own runs in this task."""
    running = _running.get()
    if running is not None and running.invocation == context.invocation_id:
        running = running.around
        _running.set(running)
    return running
