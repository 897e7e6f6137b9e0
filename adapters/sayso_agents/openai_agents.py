"""OpenAI Agents SDK: people decide on tool calls, inside the tool or while its run is interrupted.

``guard`` puts the question before a tool; arguments that a person changed are what runs.
``run`` answers the interruptions of tools with ``needs_approval``. ``submit`` and
``decided`` do so across restarts.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter, ValidationError

from sayso.agent.batch import Submitted
from sayso.agent.timeouts import Timeout
from sayso.agent.verdict import Pending
from sayso.calls import RunRef, ToolCall, new_id
from sayso.digests import arguments_digest, is_digest_of
from sayso.errors import WaitTimeoutError
from sayso_agents import missing
from sayso_agents.calls import Said, asked, said_of

try:
    from agents import (
        Agent,
        FunctionTool,
        Runner,
        RunResult,
        RunResultStreaming,
        RunState,
        Tool,
        ToolApprovalItem,
        ToolGuardrailFunctionOutput,
        ToolOutputGuardrail,
        ToolOutputGuardrailData,
        TResponseInputItem,
    )
    from agents.tool_context import ToolContext
    from agents.tracing import Trace, get_current_trace
except ImportError as error:
    raise missing("OpenAI Agents", error, "openai-agents>=0.24,<1") from error

if TYPE_CHECKING:
    from sayso.agent.handle.handle import Handle

__all__ = ["answered", "decided", "guard", "run", "submit"]

_Context = TypeVar("_Context")

# A run that goes on after an interruption has these of its own.
_SET_ONCE = (
    "auto_previous_response_id",
    "context",
    "conversation_id",
    "max_turns",
    "previous_response_id",
)

# What the SDK keeps beside what a call would do.
_NOT_ARGUMENTS = frozenset({"call_id", "caller", "created_by", "id", "name", "status", "type"})


class _Asker(NamedTuple):
    """Who asks: a run, the sub-agents that led to the call, and the agent that is at work."""

    run: RunRef
    path: tuple[str, ...]
    agent: str

    def at(self, agent: str) -> _Asker:
        """The same where this agent is at work."""
        return self if agent in ("", self.agent) else _Asker(self.run, (*self.path, agent), agent)


class _Refusal(str):
    """What the model is told in place of the result of a tool."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """A run that was interrupted: who asked, what was handed in, and the state to go on from."""

    run: RunRef
    submitted: list[Submitted]
    state: str


_KEPT = TypeAdapter(_Kept)
# Who asks for the tool that runs here, so that an agent inside it asks for the same run.
_around: ContextVar[_Asker | None] = ContextVar("sayso_openai_agents_asker", default=None)
# A run that is not traced has a trace all the same, which only its identity tells from others.
_untraced: WeakKeyDictionary[Trace, str] = WeakKeyDictionary()


def guard(sayso: Handle, tools: Sequence[Tool]) -> list[Tool]:
    """The same tools, each of whose calls is decided on before it runs.

    What a person changed is what runs; a call that is not approved results in a text that
    says why. They ask themselves: ``needs_approval`` of these tools is off. The run's
    ``group_id`` is the session, else the handle's, else each run has its own.

    Raises:
        TypeError: a tool that is no FunctionTool. OpenAI runs most of those; a shell, a
            patch or a custom tool has ``needs_approval`` for ``run``.
    """
    return [_guarded(sayso, tool) for tool in tools]


async def run(
    sayso: Handle,
    agent: Agent[_Context],
    input: str | list[TResponseInputItem] | RunState[_Context, Agent[_Context]],  # noqa: A002
    **options: Any,
) -> RunResult:
    """``Runner.run``, where people answer whatever interrupts the run, until it ends.

    It takes the options of ``Runner.run``. The session is the ``group_id`` of its
    ``run_config``, the ``session`` it has, or its ``conversation_id``; else the handle's,
    else each run has its own.
    """
    asker = _asker(sayso, _session_in(options), new_id())._replace(agent=agent.name)
    with _asking(asker):
        result = await Runner.run(agent, input, **options)
        going_on = {name: option for name, option in options.items() if name not in _SET_ONCE}
        while result.interruptions:
            state = await _answered(sayso, asker, result)
            result = await Runner.run(agent, state, **going_on)
    return result


async def answered(
    sayso: Handle, result: RunResult | RunResultStreaming, *, session: str | None = None
) -> RunState[Any, Agent[Any]]:
    """Ask about all that interrupted a run, and wait: the state that the run goes on from.

    Nothing in it is left open. Whatever fails is a rejection that names the cause. An approval
    with changed arguments is a rejection that shows them: an approval here cannot carry them.
    """
    written = result.to_state().to_json(context_serializer=lambda _: {})
    return await _answered(sayso, _asker(sayso, session, _trace_of(written)[0]), result)


async def submit(
    sayso: Handle,
    result: RunResult | RunResultStreaming,
    *,
    session: str | None = None,
    **serialized: Any,
) -> str:
    """Ask about all that interrupted a run, and do not wait: keep what comes back for ``decided``.

    It holds the state of the run, written as ``RunState.to_string`` does with these options:
    keep it where nobody else can change it.

    Raises:
        InvalidCallError, StoreUnreachableError: as for ``Handle.submit``.
    """
    state = result.to_state()
    written = state.to_string(**serialized)
    trace, turn = _trace_of(json.loads(written))
    asker = _asker(sayso, session, trace)
    submitted = []
    for number, item in enumerate(state.get_interruptions()):
        call, path = _call(item), asker.at(item.agent.name).path
        key = f"openai-agents:{trace}:{turn}:{number}:{call.call_id}"
        said = await sayso.submit(
            call, run=asker.run, key=key, path=path, description=_description(item)
        )
        submitted.append(Submitted(call, said, asker.run.agent_id, path))
    return _KEPT.dump_json(_Kept(asker.run, submitted, written)).decode()


async def decided(
    sayso: Handle,
    agent: Agent[_Context],
    kept: str,
    *,
    timeout: Timeout = None,
    **deserialized: Any,
) -> RunState[_Context, Agent[_Context]]:
    """Wait for the answers to what was handed in: the state that ``Runner.run`` goes on from.

    The state is read as ``RunState.from_string`` does with these options. What interrupts
    the run and was not handed in stays open.

    Raises:
        ValueError: ``kept`` is not what ``submit`` gave.
        WaitTimeoutError: ``timeout`` is over and a question is still open.
        UnknownRequestError, StoreUnreachableError: as for ``Handle.resume``.
    """
    waiting = _read(kept)
    state = await RunState.from_string(agent, waiting.state, **deserialized)
    verdicts = await sayso.resume_batch(waiting.submitted, run=waiting.run, timeout=timeout)
    decisions = []
    for one, verdict in zip(waiting.submitted, verdicts, strict=True):
        if isinstance(verdict, Pending):
            raise WaitTimeoutError(f"nobody has answered {verdict.permission_id} yet")
        decisions.append((one, said_of(verdict, one.call)))
    for item, (one, said) in zip(state.get_interruptions(), decisions, strict=True):
        call = _call(item)
        if (call.name, call.call_id) != (one.call.name, one.call.call_id) or not is_digest_of(
            arguments_digest(one.call.arguments), call.arguments
        ):
            raise ValueError(f"this is not what submit gave: {call.name} is another call")
        _decide(state, item, said)
    return state


def _guarded(sayso: Handle, tool: Tool) -> Tool:
    if not isinstance(tool, FunctionTool):
        raise TypeError(
            f"guard cannot stand before {type(tool).__name__}, which is no function of yours: "
            "leave it out, and give it needs_approval (or require_approval) where it has that"
        )
    name = tool.qualified_name
    about = _first_line(tool.description)

    async def invoke(context: ToolContext[Any], text: str) -> Any:
        asker = _asker_in(sayso, context)

        async def ask(call: ToolCall) -> object:
            return await sayso.check(call, run=asker.run, path=asker.path, description=about)

        said = await asked(
            name, lambda: ToolCall(name, _arguments(text), context.tool_call_id), ask
        )
        if said.arguments is None:
            return _Refusal(said.text)
        with _asking(asker):
            # Written anew: what another reader might make of the model's text was not approved.
            result = await tool.on_invoke_tool(context, json.dumps(said.arguments))
        return f"{result}\n\n{said.text}" if said.text and type(result) is str else result

    guarded = copy.copy(tool)
    guarded.on_invoke_tool = invoke
    guarded.needs_approval = False
    if tool.output_json_schema is not None:
        # A text is no such object: the run would fail where the model should read why not.
        first: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_tell_refusal, name="sayso")
        guarded.tool_output_guardrails = [first, *(tool.tool_output_guardrails or ())]
    return guarded


def _tell_refusal(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    if isinstance(data.output, _Refusal):
        return ToolGuardrailFunctionOutput.reject_content(str(data.output))
    return ToolGuardrailFunctionOutput.allow()


@contextmanager
def _asking(asker: _Asker) -> Iterator[None]:
    token = _around.set(asker)
    try:
        yield
    finally:
        _around.reset(token)


async def _answered(
    sayso: Handle, asker: _Asker, result: RunResult | RunResultStreaming
) -> RunState[Any, Agent[Any]]:
    state = result.to_state()
    items = state.get_interruptions()
    for item, said in zip(
        items, await asyncio.gather(*(_ask(sayso, asker, item) for item in items)), strict=True
    ):
        _decide(state, item, said)
    return state


async def _ask(sayso: Handle, asker: _Asker, item: ToolApprovalItem) -> Said:
    async def ask(call: ToolCall) -> object:
        path = asker.at(item.agent.name).path
        return await sayso.check(call, run=asker.run, path=path, description=_description(item))

    return await asked(_tool(item), lambda: _call(item), ask)


def _decide(state: RunState[Any, Agent[Any]], item: ToolApprovalItem, said: Said) -> None:
    """Approve what was approved as it is; anything else is rejected, with its reason."""
    said = said.unedited(_tool(item))
    if said.arguments is None:
        state.reject(item, rejection_message=said.text)
    else:
        state.approve(item)


def _asker(sayso: Handle, session: str | None, run_id: str) -> _Asker:
    """Who asks; what no session is named for has one of its own, so that no *Always* leaks."""
    run = sayso.run(session=session or sayso.session or run_id, run_id=run_id)
    return _Asker(run, (), run.agent_id)


def _asker_in(sayso: Handle, context: ToolContext[Any]) -> _Asker:
    """Who asks inside a tool: the agent that calls it, for the run that everything began with."""
    around = _around.get()
    if around is None:
        group = context.run_config.group_id if context.run_config else None
        around = _asker(sayso, group, _run_id())
    return around.at(context.agent.name if context.agent else "")


def _run_id() -> str:
    """What all calls of one run have in common, also those of agents inside its tools."""
    trace = get_current_trace()
    if trace is None:
        return new_id()
    if trace.trace_id != "no-op":
        return trace.trace_id
    return _untraced.setdefault(trace, new_id())


def _session_in(options: Mapping[str, Any]) -> str | None:
    """The conversation that the options of a run name."""
    config = options.get("run_config")
    group = (
        config.get("group_id") if isinstance(config, Mapping) else getattr(config, "group_id", None)
    )
    session = getattr(options.get("session"), "session_id", None)
    return group or session or options.get("conversation_id")


def _trace_of(state: Mapping[str, Any]) -> tuple[str, int]:
    """What only the interruptions of this run have in common, and which of its turns this is.

    A run that is not traced cannot be told from others that read the same.
    """
    trace = (state.get("trace") or {}).get("id")
    return trace or new_id(), state["current_turn"]


def _tool(item: ToolApprovalItem) -> str:
    """The name that rules and cards know: with that of the server, where there is one."""
    server = _raw(item).get("server_label")
    name = item.qualified_name or item.name or "tool"
    return f"{server}.{name}" if server else name


def _call(item: ToolApprovalItem) -> ToolCall:
    """All that an approval of this item lets through.

    Raises:
        ValueError: its arguments are not a JSON object.
    """
    raw = _raw(item)
    if raw.get("type") in ("function_call", "mcp_approval_request", "mcp_call"):
        arguments = _arguments(item.arguments or "")
    else:
        # A shell, a patch, a tool that takes a text: nothing of what would run may be missing.
        arguments = {name: value for name, value in raw.items() if name not in _NOT_ARGUMENTS}
    return ToolCall(_tool(item), arguments, item.call_id or new_id())


def _raw(item: ToolApprovalItem) -> dict[str, Any]:
    raw = item.raw_item
    return raw if isinstance(raw, dict) else raw.model_dump(mode="json", exclude_none=True)


def _arguments(text: str) -> dict[str, Any]:
    arguments = json.loads(text) if text else {}
    if not isinstance(arguments, dict):
        raise ValueError("its arguments are not a JSON object")  # noqa: TRY004 -- a bad value
    return arguments


def _description(item: ToolApprovalItem) -> str:
    """The first line of what the tool says of itself."""
    for tool in item.agent.tools:
        if isinstance(tool, FunctionTool) and tool.qualified_name == item.qualified_name:
            return _first_line(tool.description)
    return ""


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _read(kept: str) -> _Kept:
    try:
        return _KEPT.validate_json(kept)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise ValueError(f"this is not what submit gave: {problems[0]['msg']}") from None
