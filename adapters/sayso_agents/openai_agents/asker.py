"""Who asks: a run, the agents inside it that led to a call, and what a call of theirs is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from agents.tool_context import ToolContext
from agents.tracing import Trace, get_current_trace

from sayso.calls import new_id
from sayso_agents.calls import BoundRun, bind_run

if TYPE_CHECKING:
    from sayso.agent.gate import Gate


class Asker(NamedTuple):
    """Who asks: a run, the sub-agents that led to the call, and the agent that is at work."""

    run: BoundRun
    run_id: str
    path: tuple[str, ...]
    agent: str

    def at(self, agent: str) -> Asker:
        """The same where this agent is at work."""
        if agent in ("", self.agent):
            return self
        return self._replace(path=(*self.path, agent), agent=agent)


# Who asks for the tool that runs here, so that an agent inside it asks for the same run.
_around: ContextVar[Asker | None] = ContextVar("sayso_openai_agents_asker", default=None)
# A run that is not traced has a trace all the same, which only its identity tells from others.
_untraced: WeakKeyDictionary[Trace, str] = WeakKeyDictionary()


@contextmanager
def asking(asker: Asker) -> Iterator[None]:
    """In the block a tool or a run asks for this one, and so do agents inside it."""
    token = _around.set(asker)
    try:
        yield
    finally:
        _around.reset(token)


def asker_of(sayso: Gate, session: object, run_id: str) -> Asker:
    """Return the asker; without the name of a session, an *Always* ends with the run."""
    return Asker(bind_run(sayso, lambda: session, run_id=run_id), run_id, (), sayso.run.agent_id)


def asker_in(sayso: Gate, context: ToolContext[Any]) -> Asker:
    """Who asks inside a tool: the agent that calls it, for the run that everything began with."""
    around = _around.get()
    if around is None:
        group = context.run_config.group_id if context.run_config else None
        around = asker_of(sayso, group, _run_id())
    return around.at(context.agent.name if context.agent else "")


def _run_id() -> str:
    """What all calls of one run have in common, also those of agents inside its tools."""
    trace = get_current_trace()
    if trace is None:
        return new_id()
    if trace.trace_id != "no-op":
        return trace.trace_id
    return _untraced.setdefault(trace, new_id())


def session_in(options: Mapping[str, Any]) -> object:
    """The conversation that the options of a run name."""
    config = options.get("run_config")
    group = (
        config.get("group_id") if isinstance(config, Mapping) else getattr(config, "group_id", None)
    )
    session = getattr(options.get("session"), "session_id", None)
    named = (group, session, options.get("conversation_id"))
    return next((one for one in named if one is not None), None)
