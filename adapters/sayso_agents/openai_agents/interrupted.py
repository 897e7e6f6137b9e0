"""Runs of the SDK that tools with ``needs_approval`` interrupt: answered now, or later."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from agents import (
    Agent,
    FunctionTool,
    RunContextWrapper,
    Runner,
    RunResult,
    RunResultStreaming,
    RunState,
    ToolApprovalItem,
    TResponseInputItem,
)
from pydantic import TypeAdapter

from sayso.agent.batch import SubmittedCall
from sayso.agent.timeouts import Timeout
from sayso.calls import RunRef, ToolCall, new_id
from sayso.digests import arguments_digest, is_digest_of
from sayso_agents.calls import Said, arguments_in, asked, first_line
from sayso_agents.kept import answers, read
from sayso_agents.openai_agents.asker import (
    Asker,
    asker_of,
    asking,
    session_in,
)

if TYPE_CHECKING:
    from sayso.agent.gate import Gate

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


@dataclass(frozen=True, slots=True)
class _Kept:
    """A run that was interrupted: who asked, what was handed in, and the state to go on from."""

    run: RunRef
    submitted: list[SubmittedCall]
    state: str


_KEPT = TypeAdapter(_Kept)

_OWN_NAMES: WeakKeyDictionary[RunContextWrapper[Any], str] = WeakKeyDictionary()


async def run(
    sayso: Gate,
    agent: Agent[_Context],
    input: str | list[TResponseInputItem] | RunState[_Context, Agent[_Context]],  # noqa: A002
    **options: Any,
) -> RunResult:
    """``Runner.run``, where people answer whatever interrupts the run, until it ends.

    It takes the options of ``Runner.run``. The session is the ``group_id`` of its
    ``run_config``, the ``session`` it has, or its ``conversation_id``; else the handle's;
    without a name, an *Always* ends with the run.
    """
    asker = asker_of(sayso, session_in(options), new_id())._replace(agent=agent.name)
    with asking(asker):
        result = await Runner.run(agent, input, **options)
        going_on = {name: option for name, option in options.items() if name not in _SET_ONCE}
        while result.interruptions:
            state = await _answered(asker, result)
            result = await Runner.run(agent, state, **going_on)
    return result


async def answered(
    sayso: Gate, result: RunResult | RunResultStreaming, *, session: str | None = None
) -> RunState[Any, Agent[Any]]:
    """Ask about all that interrupted a run, and wait: the state that the run goes on from.

    A run that is handed in again is asked about once. Nothing in the state is left open.
    Whatever fails is a rejection that names the cause. An approval with changed arguments is a
    rejection that shows them: an approval here cannot carry them.
    """
    written = result.to_state().to_json(context_serializer=lambda _: {})
    trace, mark = _named(result, written)
    return await _answered(asker_of(sayso, session, trace), result, mark)


async def submit(
    sayso: Gate,
    result: RunResult | RunResultStreaming,
    *,
    session: str | None = None,
    **serialized: Any,
) -> str:
    """Ask about all that interrupted a run, and do not wait: keep what comes back for ``decided``.

    It holds the state of the run, written as ``RunState.to_string`` does with these options:
    keep it where nobody else can change it.

    Raises:
        InvalidCallError, StoreUnreachableError: as for ``Gate.submit``.
    """
    state = result.to_state()
    written = state.to_string(**serialized)
    trace, mark = _named(result, json.loads(written))
    asker = asker_of(sayso, session, trace)
    gate = asker.run()
    submitted = []
    for number, item in enumerate(state.get_interruptions()):
        call, path = _call(item), asker.at(item.agent.name).path
        key = f"{mark}:{number}:{call.call_id}"
        said = await gate.submit(call, key=key, path=path, description=_description(item))
        submitted.append(SubmittedCall(call, said, gate.run.agent_id, path))
    return _KEPT.dump_json(_Kept(gate.run, submitted, written)).decode()


async def decided(
    sayso: Gate,
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
        RequestNotFoundError, StoreUnreachableError: as for ``Gate.resume``.
    """
    waiting = read(kept, _KEPT)
    state = await RunState.from_string(agent, waiting.state, **deserialized)
    decisions = await answers(sayso, waiting.run, waiting.submitted, timeout)
    for item, one, said in zip(
        state.get_interruptions(), waiting.submitted, decisions, strict=True
    ):
        call = _call(item)
        if (call.name, call.call_id) != (one.call.name, one.call.call_id) or not is_digest_of(
            arguments_digest(one.call.arguments), call.arguments
        ):
            raise ValueError(f"this is not what submit gave: {call.name} is another call")
        _decide(state, item, said)
    return state


async def _answered(
    asker: Asker, result: RunResult | RunResultStreaming, mark: str | None = None
) -> RunState[Any, Agent[Any]]:
    state = result.to_state()
    items = state.get_interruptions()

    async def ask(number: int, item: ToolApprovalItem) -> Said:
        path, about = asker.at(item.agent.name).path, _description(item)

        async def check(call: ToolCall) -> object:
            key = mark and f"{mark}:{number}:{call.call_id}"
            return await asker.run().check(call, key=key, path=path, description=about)

        return await asked(_tool(item), lambda: _call(item), check)

    said = await asyncio.gather(*(ask(number, item) for number, item in enumerate(items)))
    for item, one in zip(items, said, strict=True):
        _decide(state, item, one)
    return state


def _decide(state: RunState[Any, Agent[Any]], item: ToolApprovalItem, said: Said) -> None:
    """Approve what was approved as it is; anything else is rejected, with its reason."""
    said = said.unedited(_tool(item))
    if said.arguments is None:
        state.reject(item, rejection_message=said.text)
    else:
        state.approve(item)


def _named(result: RunResult | RunResultStreaming, state: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a run, and a text that only its interruptions at this moment have in common.

    Runs of one trace may read the same, to the ids of their calls where a model numbers them.
    Nothing that the SDK writes down tells those apart: so a run is known by the object that goes
    through it, and one that is read again is another run.
    """
    own = _OWN_NAMES.setdefault(result.context_wrapper, new_id())
    trace = (state.get("trace") or {}).get("id") or own
    so_far = {name: state[name] for name in ("current_turn", "original_input", "model_responses")}
    said = hashlib.sha256(json.dumps(so_far, sort_keys=True, default=str).encode()).hexdigest()
    return trace, f"openai-agents:{own}:{said}"


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
        arguments = arguments_in(item.arguments or "")
    else:
        # A shell, a patch, a tool that takes a text: nothing of what would run may be missing.
        arguments = {name: value for name, value in raw.items() if name not in _NOT_ARGUMENTS}
    return ToolCall(_tool(item), arguments, item.call_id or new_id())


def _raw(item: ToolApprovalItem) -> dict[str, Any]:
    raw = item.raw_item
    return raw if isinstance(raw, dict) else raw.model_dump(mode="json", exclude_none=True)


def _description(item: ToolApprovalItem) -> str:
    """The first line of what the tool says of itself."""
    for tool in item.agent.tools:
        if isinstance(tool, FunctionTool) and tool.qualified_name == item.qualified_name:
            return first_line(tool.description)
    return ""
