"""CrewAI: people decide on the tool calls of agents, and give a flow its feedback.

``guard`` puts the question into the tools, ``guard_tools`` before those that CrewAI makes itself.
``akickoff`` runs a crew that can be cancelled: CrewAI leaves its threads behind. ``SaysoFeedback``
asks what ``@human_feedback`` wants to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr, TypeAdapter

from sayso.calls import ToolCall, new_id
from sayso.errors import RequestUnansweredError, SaysoError
from sayso_agents import missing
from sayso_agents.calls import BoundRun, Said, asked_now, bind_run, failed, first_line

try:
    from crewai import Crew
    from crewai.flow.async_feedback.types import PendingFeedbackContext
    from crewai.hooks import (
        ToolCallHookContext,
        register_after_tool_call_hook,
        register_before_tool_call_hook,
        unregister_after_tool_call_hook,
        unregister_before_tool_call_hook,
    )
    from crewai.tools import BaseTool
except ImportError as error:
    raise missing("CrewAI", error, "crewai>=1.15.30,<2") from error

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["SaysoFeedback", "akickoff", "guard", "guard_tools"]

_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_STOPPED = "the crew was stopped"


@dataclass(frozen=True, slots=True)
class _Kickoff:
    """A crew at work, and whether it was told to stop: its threads go on by themselves."""

    run: BoundRun
    stopped: Event = field(default_factory=Event)


_kickoff: ContextVar[_Kickoff | None] = ContextVar("sayso_crewai_kickoff", default=None)
# Why the call that a hook saw last did not run.
_refused: ContextVar[str] = ContextVar("sayso_crewai_refused", default="")


class _Asker:
    """Asks about calls, in whatever thread they are made."""

    def __init__(self, sayso: Gate, session: str | None) -> None:
        self._sayso = sayso
        self._run = bind_run(sayso, lambda: session)

    def said(self, tool: str, arguments: Mapping[str, Any], **about: Any) -> Said:
        """What came of asking."""
        kickoff = _kickoff.get()
        run = self._run if kickoff is None else kickoff.run

        def read() -> ToolCall:
            return ToolCall(tool, _JSON.dump_python(dict(arguments), mode="json"))

        def ask(call: ToolCall) -> object:
            _refuse_stopped(kickoff)
            verdict = run().sync.check(call, **about)
            _refuse_stopped(kickoff)
            return verdict

        return asked_now(tool, read, ask)


def _refuse_stopped(kickoff: _Kickoff | None) -> None:
    """See that the crew is still wanted.

    Raises:
        RuntimeError: it is not.
    """
    if kickoff is not None and kickoff.stopped.is_set():
        raise RuntimeError(_STOPPED)


class _Guarded(BaseTool):
    """A tool each of whose calls is decided on before it runs."""

    _inner: BaseTool = PrivateAttr()
    _asker: _Asker = PrivateAttr()

    def _run(self, **arguments: Any) -> Any:
        inner = self._inner
        about = first_line(inner.description)
        said = self._asker.said(inner.name, arguments, description=about)
        if said.arguments is None:
            return said.text
        result = inner.run(**said.arguments)
        return f"{result}\n\n{said.text}" if said.text and type(result) is str else result


def guard(sayso: Gate, tools: Iterable[BaseTool], *, session: str | None = None) -> list[BaseTool]:
    """The same tools, each of whose calls is decided on before it runs.

    What a person changed is what runs; a call that is not approved results in a text that
    says why. Nothing of them is cached: each call is asked about. ``session`` is the one that
    an *Always* is kept for, else the handle's; without a name, it ends with ``akickoff``.

    Raises:
        TypeError: one is not a tool of CrewAI.
    """
    asker = _Asker(sayso, session)
    return [_guarded(asker, tool) for tool in tools]


def _guarded(asker: _Asker, tool: BaseTool) -> BaseTool:
    if not isinstance(tool, BaseTool):
        raise TypeError(f"guard takes tools of CrewAI, and {type(tool).__name__} is none")
    made = _Guarded(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        env_vars=tool.env_vars,
        result_as_answer=tool.result_as_answer,
        cache_function=_never,
    )
    made._inner, made._asker = tool, asker  # noqa: SLF001 -- our own
    return made


def _never(*_: Any) -> bool:
    """Whether a result is kept for the next call: then that one would be asked about by nobody."""
    return False


def guard_tools(sayso: Gate, *, session: str | None = None) -> ExitStack:
    """Decide on every call of any tool in this process, those that CrewAI makes itself too.

    It lasts until the end of the process, or of a ``with`` block with what comes back. Tools
    of ``guard`` ask themselves. Call it after all other hooks are registered: what they
    change later was shown to nobody.
    """
    asker = _Asker(sayso, session)

    # CrewAI runs the tool when a hook raises or is async: this is neither, whatever happens.
    def before(context: ToolCallHookContext) -> bool | None:
        try:
            return _let_through(asker, context)
        except Exception as error:
            _refused.set(failed("a tool", error).text)
            return False

    def after(_: ToolCallHookContext) -> str | None:
        text = _refused.get()
        _refused.set("")
        return text or None

    register_before_tool_call_hook(before)
    register_after_tool_call_hook(after)
    until = ExitStack()
    until.callback(unregister_before_tool_call_hook, before)
    until.callback(unregister_after_tool_call_hook, after)
    return until


def _let_through(asker: _Asker, context: ToolCallHookContext) -> bool | None:
    _refused.set("")
    if isinstance(getattr(context.tool, "_original_tool", context.tool), _Guarded):
        return None
    tool = getattr(context.tool, "name", None) or context.tool_name
    about = first_line(getattr(context.tool, "description", ""))
    who = getattr(context.agent, "role", None)
    said = asker.said(tool, context.tool_input, description=about, path=(who,) if who else ())
    if said.arguments is None:
        _refused.set(said.text)
        return False
    if said.edited:
        # It is this object that the tool is called with.
        context.tool_input.clear()
        context.tool_input.update(said.arguments)
    return None


async def akickoff(
    sayso: Gate,
    crew: Crew,
    inputs: dict[str, Any] | None = None,
    *,
    session: str | None = None,
    **more: Any,
) -> Any:
    """``crew.akickoff``; to cancel it withdraws what is asked, and no guarded tool runs after that.

    CrewAI runs tools in threads, which a cancelled task leaves behind.
    """
    kickoff = _Kickoff(bind_run(sayso, lambda: session, run_id=new_id()))
    token = _kickoff.set(kickoff)
    try:
        return await crew.akickoff(inputs, **more)
    except BaseException:
        kickoff.stopped.set()
        with suppress(SaysoError):  # what cannot be withdrawn runs nothing either
            await kickoff.run().cancel_all(reason=_STOPPED)
        raise
    finally:
        kickoff.stopped.set()
        _kickoff.reset(token)


class SaysoFeedback:
    """A provider for ``@human_feedback``: people read the draft, and choose or write the answer.

    Each of ``emit`` is a button, and an answer in words is possible. ``session`` is the one
    that it is asked for, else the flow's id.
    """

    def __init__(self, sayso: Gate, *, session: str | None = None, **how: Any) -> None:
        self._sayso = sayso
        self._session = session
        self._how = how

    def request_feedback(self, context: PendingFeedbackContext, flow: object) -> str:  # noqa: ARG002
        """The answer, as soon as there is one. It is never empty, which CrewAI takes for the first
        of ``emit``.

        Raises:
            RequestUnansweredError: nobody answered.
        """
        gate = self._sayso.for_session(context.flow_id if self._session is None else self._session)
        said = gate.sync.clarify(
            context.message,
            context=_text_of(context.method_output),
            options=context.emit or (),
            **self._how,
        )
        if said.answer is None or not said.answer.strip():
            raise RequestUnansweredError(context.flow_id, said.outcome.value, said.reason)
        return said.answer


def _text_of(draft: object) -> str:
    if isinstance(draft, str):
        return draft
    return _JSON.dump_json(draft, indent=2, fallback=str).decode()
