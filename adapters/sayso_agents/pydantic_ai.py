"""Pydantic AI: people decide on the tool calls of an agent that runs, or that was put aside.

``SaysoApprovals`` is a capability. It asks about the calls of all tools, those of one response
side by side, and leaves calls that run elsewhere to whoever runs them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter

from sayso.agent.batch import SubmittedCall
from sayso.agent.timeouts import Timeout
from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError
from sayso_agents import missing
from sayso_agents.calls import BoundRun, Said, arguments_in, asked, bind_run
from sayso_agents.kept import answers, read

try:
    from pydantic_ai.capabilities import (
        AbstractCapability,
        CapabilityOrdering,
        WrapToolExecuteHandler,
    )
    from pydantic_ai.exceptions import ApprovalRequired
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import (
        AgentDepsT,
        DeferredToolRequests,
        DeferredToolResults,
        RunContext,
        ToolApproved,
        ToolDefinition,
        ToolDenied,
    )
except ImportError as error:
    raise missing("Pydantic AI", error, "pydantic-ai-slim>=2.68,<3") from error

if TYPE_CHECKING:
    from sayso.agent.gate import Gate

__all__ = ["SaysoApprovals"]


class _Asker(NamedTuple):
    """Who asks: the run that a person started, and the sub-agents that led to the call."""

    run: BoundRun
    path: tuple[str, ...]
    inner_run_id: str | None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A run that was put aside: who asked, and what was handed in."""

    run: RunRef
    submitted: list[SubmittedCall]


_KEPT = TypeAdapter(_Kept)
_EDITED = "sayso"
"""The metadata of a call that a person changed: what its model is told."""
# Who asks for the tool that runs here, so that an agent inside it asks for the same run.
_around: ContextVar[_Asker | None] = ContextVar("sayso_pydantic_ai_asker", default=None)


@dataclass
class SaysoApprovals(AbstractCapability[AgentDepsT]):
    """People decide on the calls of all tools of the agent, in the chats of ``sayso``.

    Those are all that Pydantic AI runs, wherever they come from. A policy may decide without
    a person. The tools named in ``exempt`` run without any of that, unless they want an
    approval themselves, such as those with ``requires_approval=True``. Whatever fails is a
    denial that names the cause.

    Raises:
        ConfigError: ``exempt`` is no collection of whole names.
    """

    sayso: Gate
    exempt: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.exempt, str):
            raise ConfigError(f'exempt takes names of tools: write exempt=["{self.exempt}"]')
        if not isinstance(self.exempt, Collection) or isinstance(self.exempt, bytes):
            kind = type(self.exempt).__name__
            raise ConfigError(f'exempt takes names of tools, not {kind}: write exempt=["search"]')
        for name in self.exempt:
            if not isinstance(name, str) or "*" in name:
                raise ConfigError(f"exempt takes whole names of tools, and {name!r} is none")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a handle cannot be written into a file."""
        return None

    def get_ordering(self) -> CapabilityOrdering | None:
        """It is the outermost: no other one runs or approves a call before."""
        return CapabilityOrdering(position="outermost")

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[AgentDepsT], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """The decisions on the calls that wait for an approval, all asked about at once."""
        if not requests.approvals:
            return None
        asker = self._asker(ctx)
        said = await asyncio.gather(
            *(self._ask(ctx, asker, part, requests) for part in requests.approvals)
        )
        answers = list(zip(requests.approvals, said, strict=True))
        return requests.build_results(
            approvals={part.tool_call_id: _result(one) for part, one in answers},
            metadata={part.tool_call_id: _note(one) for part, one in answers if one.edited},
            answered_by={
                part.tool_call_id: one.verdict.decided_by or one.verdict.line
                for part, one in answers
                if one.verdict is not None
            },
        )

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,  # noqa: ARG002 -- the framework names what it passes
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """Run the tool; an agent that runs inside it asks for the same run, and says who it is.

        Where a person changed the arguments, a text that the tool returns says so.

        Raises:
            ApprovalRequired: the call has none yet, and its tool is not exempt.
        """
        if call.tool_name not in self.exempt and not ctx.tool_call_approved:
            raise ApprovalRequired
        token = _around.set(self._asker(ctx))
        try:
            result = await handler(args)
        finally:
            _around.reset(token)
        known = ctx.tool_call_metadata if isinstance(ctx.tool_call_metadata, dict) else {}
        note = known.get(_EDITED)
        return f"{result}\n\n{note}" if note and type(result) is str else result

    async def submit(self, result: AgentRunResult[Any]) -> str:
        """Ask about the calls that a run ended with, and do not wait: keep what comes back.

        It is for ``results``, in this process or another one, beside the messages of the
        run. A call is asked about once, however often its run is handed in.

        Raises:
            TypeError: the run did not end with calls that wait.
            InvalidCallError, StoreUnreachableError: as for ``Gate.submit``.
        """
        requests = result.output
        if not isinstance(requests, DeferredToolRequests):
            raise TypeError("this run did not end with DeferredToolRequests: nothing waits")
        gate = self.sayso.for_session(result.conversation_id, run_id=result.run_id)
        submitted = []
        for part in requests.approvals:
            call = _call(part)
            key = f"pydantic-ai:{gate.run.run_id}:deferred:{call.call_id}"
            about = _told(requests, part)
            said = await gate.submit(call, key=key, description=about)
            submitted.append(SubmittedCall(call, said, gate.run.agent_id))
        return _KEPT.dump_json(_Kept(gate.run, submitted)).decode()

    async def results(
        self, kept: str, messages: Sequence[ModelMessage], *, timeout: Timeout = None
    ) -> DeferredToolResults:
        """Wait for the answers to what was handed in, and give them to the next run of the agent.

        ``messages`` are those that it goes on from. What was approved runs with the arguments
        that were approved, whatever the messages say of them.

        Raises:
            ValueError: ``kept`` is not what ``submit`` gave, or the messages are of another run.
            WaitTimeoutError: ``timeout`` is over and a question is still open.
            RequestNotFoundError, StoreUnreachableError: as for ``Gate.resume``.
        """
        waiting = read(kept, _KEPT)
        _refuse_others(waiting.submitted, messages)
        answered = await answers(self.sayso, waiting.run, waiting.submitted, timeout)
        results = DeferredToolResults()
        for one, said in zip(waiting.submitted, answered, strict=True):
            call_id = one.call.call_id
            if said.arguments is None:
                results.approvals[call_id] = ToolDenied(said.text)
            else:
                results.approvals[call_id] = ToolApproved(override_args=said.arguments)
            if said.edited:
                results.metadata[call_id] = _note(said)
        return results

    def _asker(self, ctx: RunContext[AgentDepsT]) -> _Asker:
        outer = _around.get()
        if outer is None:
            run = bind_run(self.sayso, lambda: ctx.conversation_id, run_id=ctx.run_id)
            return _Asker(run, (), ctx.run_id)
        if outer.inner_run_id == ctx.run_id:
            return outer
        name = (ctx.agent and ctx.agent.name) or "agent"
        return _Asker(outer.run, (*outer.path, name), ctx.run_id)

    async def _ask(
        self,
        ctx: RunContext[AgentDepsT],
        asker: _Asker,
        part: ToolCallPart,
        requests: DeferredToolRequests,
    ) -> Said:
        async def ask(call: ToolCall) -> object:
            # A step has its number in the key: a model may use the ids of its calls again.
            key = f"pydantic-ai:{ctx.run_id}:{ctx.run_step}:{part.tool_call_id}"
            about = _told(requests, part, _description(ctx, part))
            return await asker.run().check(call, key=key, path=asker.path, description=about)

        return await asked(part.tool_name, lambda: _call(part), ask)


def _call(part: ToolCallPart) -> ToolCall:
    """The call as it would run.

    Raises:
        ValueError, AssertionError: its arguments are not a JSON object, or have a name twice.
    """
    text = part.args if isinstance(part.args, str) else None
    arguments = arguments_in(text) if text else part.args_as_dict(raise_if_invalid=True)
    return ToolCall(part.tool_name, arguments, part.tool_call_id)


def _result(said: Said) -> ToolApproved | ToolDenied:
    """The decision in the framework's words; arguments are given where they are not the model's.

    A model's own text is read again as it was, which types that are strict need.
    """
    if said.arguments is None:
        return ToolDenied(said.text)
    return ToolApproved(override_args=said.arguments) if said.edited else ToolApproved()


def _note(said: Said) -> dict[str, Any]:
    return {_EDITED: said.text}


def _description(ctx: RunContext[Any], part: ToolCallPart) -> str:
    tool = ctx.tool_manager.get_tool_def(part.tool_name) if ctx.tool_manager else None
    lines = ((tool and tool.description) or "").strip().splitlines()
    return lines[0] if lines else ""


def _told(requests: DeferredToolRequests, part: ToolCallPart, description: str = "") -> str:
    """What the card says of the call: the tool's own words, and why it wants an approval."""
    why = requests.metadata.get(part.tool_call_id, {})
    lines = [f"{name}: {value}" for name, value in why.items()]
    return "\n".join([description, *lines] if description else lines)


def _refuse_others(submitted: Sequence[SubmittedCall], messages: Sequence[ModelMessage]) -> None:
    """See that the messages end with the calls that were asked about.

    The framework knows an answer by the id of its call alone, and the same id may be another's.

    Raises:
        ValueError: one of the calls is of another tool, or is not there.
    """
    response = next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)
    made = {part.tool_call_id: part.tool_name for part in response.tool_calls} if response else {}
    for one in submitted:
        if made.get(one.call.call_id) != one.call.name:
            raise ValueError(f"these are not the messages of that run: {one.call.name} is not last")
