"""Microsoft Agent Framework: people decide on tool calls, and on what a workflow asks.

``SaysoMiddleware`` stands in front of the tools. ``run`` answers the approvals that tools with
``approval_mode="always_require"`` ask for, ``run_workflow`` what a workflow wants to know: an
approval, a yes or no to a text, an answer in words, or data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from sayso.calls import ToolCall, new_id
from sayso.errors import RequestUnansweredError, SaysoError
from sayso_agents import missing
from sayso_agents.calls import BoundRun, Said, asked, bind_run, first_line

try:
    from agent_framework import (
        AgentResponse,
        AgentSession,
        Content,
        FunctionInvocationContext,
        FunctionMiddleware,
        Message,
        Workflow,
        WorkflowEvent,
        WorkflowRunResult,
    )
except ImportError as error:
    requirement = "agent-framework-core>=1.23,<2"
    raise missing("Microsoft Agent Framework", error, requirement) from error

if TYPE_CHECKING:
    from agent_framework import SupportsAgentRun

    from sayso import Gate

__all__ = ["SaysoMiddleware", "run", "run_workflow"]

_APPROVAL = "function_approval_request"


class _Asker(NamedTuple):
    """Who asks: a run, and the tools that led to the call."""

    run: BoundRun
    path: tuple[str, ...]


# Who asks for the tool that runs here, so that an agent inside it asks for the same run.
_around: ContextVar[_Asker | None] = ContextVar("sayso_agent_framework_asker", default=None)


class SaysoMiddleware(FunctionMiddleware):
    """Every call of a tool passes Sayso first: people are asked where the policy says so.

    A call runs with the arguments that were approved, or the model is told why it did not
    run; whatever fails on the way is such a no. List it last: what other middleware changes
    between it and the tool was shown to nobody. *Always* is kept for the ``AgentSession``,
    else for the handle's session; without a name of either, it is not offered.
    """

    def __init__(self, sayso: Gate) -> None:
        self._sayso = sayso

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the call if it is approved."""
        tool = context.function.name
        asker = _around.get() or _asker(self._sayso, context.session)
        said = await asked(
            tool,
            lambda: ToolCall(tool, _plain(context.arguments), _call_id(context)),
            lambda call: asker.run().check(
                call,
                path=asker.path,
                description=first_line(context.function.description),
            ),
        )
        if said.arguments is None:
            context.result = said.text
            return
        context.arguments = said.arguments
        token = _around.set(_Asker(asker.run, (*asker.path, tool)))
        try:
            await call_next()
        finally:
            _around.reset(token)
        if said.text:
            context.result = _noted(context.result, said.text)


def _asker(sayso: Gate, session: AgentSession | None) -> _Asker:
    return _Asker(bind_run(sayso, lambda: None if session is None else session.session_id), ())


def _plain(arguments: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they would be written as JSON."""
    if isinstance(arguments, BaseModel):
        return arguments.model_dump(mode="json")
    return dict(arguments)


def _call_id(context: FunctionInvocationContext) -> str:
    """The framework's id of the call."""
    return str(context.metadata.get("call_id") or new_id())


def _noted(result: Any, note: str) -> Any:
    """The result of a tool, with a word about what ran."""
    if isinstance(result, str):
        return f"{result}\n\n{note}"
    return [*result, Content.from_text(note)] if isinstance(result, list) else result


async def run(
    sayso: Gate, agent: SupportsAgentRun, messages: Any, *, session: AgentSession, **more: Any
) -> AgentResponse[Any]:
    """``agent.run``; whenever a tool wants an approval, wait for it and go on.

    The framework lets an approved call run with its own arguments only: an edit is a no that
    shows them. It has no words for a no either, so the model reads them beside it. Other
    requests of the agent are in the response, as ever.
    """
    response: AgentResponse[Any] = await agent.run(messages, session=session, **more)
    while requests := response.user_input_requests:
        if any(request.type != _APPROVAL for request in requests):
            break
        asker = _asker(sayso, session)
        said = await asyncio.gather(*(_said(asker, request) for request in requests))
        contents = [
            request.to_function_approval_response(one.arguments is not None)
            for request, one in zip(requests, said, strict=True)
        ]
        contents += [Content.from_text(one.text) for one in said if one.arguments is None]
        response = await agent.run(Message("user", contents), session=session, **more)
    return response


async def _said(asker: _Asker, request: Content) -> Said:
    """What came of asking about a call that waits for an approval."""
    call = request.function_call
    tool = (call and call.name) or "a tool"

    def read() -> ToolCall:
        if call is None or not call.name:
            raise ValueError("the request names no call")
        return ToolCall(call.name, call.parse_arguments() or {}, call.call_id or new_id())

    said = await asked(tool, read, lambda made: asker.run().check(made, path=asker.path))
    return said.unedited(tool)


async def run_workflow(
    sayso: Gate, workflow: Workflow, message: Any, *, session: str | None = None, **more: Any
) -> WorkflowRunResult:
    """``workflow.run``; whenever it asks for something, people in chat are asked, and it goes on.

    By what it waits for: the approval of a call as in ``run``; for ``bool``, whether the text
    may be used, where all but an approval is False; for ``str``, an answer in words; for a
    pydantic model, a form.

    Raises:
        RequestUnansweredError: nobody answered, where that cannot be said with a no.
        InvalidCallError: the session cannot be read, where that cannot be said with a no.
        TypeError: it waits for something else.
    """
    run = bind_run(sayso, lambda: session)
    result: WorkflowRunResult = await workflow.run(message, **more)
    while events := result.get_request_info_events():
        answers = await asyncio.gather(*(_answer(run, event) for event in events))
        responses = {
            event.request_id: answer for event, answer in zip(events, answers, strict=True)
        }
        result = await workflow.run(responses=responses, **more)
    return result


async def _answer(run: BoundRun, event: WorkflowEvent[Any]) -> Any:
    wanted, data = event.response_type, event.data
    if isinstance(data, Content) and data.type == _APPROVAL:
        said = await _said(_Asker(run, ()), data)
        return data.to_function_approval_response(said.arguments is not None)
    if wanted is bool:
        return await _approve_text(run, _text_of(data))
    if wanted is str:
        words = await run().clarify(_text_of(data))
        answer: Any = words.answer
        outcome, why = words.outcome, words.reason
    elif isinstance(wanted, type) and issubclass(wanted, BaseModel):
        filled = await run().collect(wanted, text=_text_of(data))
        answer, outcome, why = filled.data, filled.outcome, filled.reason
    else:
        raise TypeError(
            f"people cannot be asked for {wanted!r}: answer {event.request_id} yourself"
        )
    if answer is None:
        raise RequestUnansweredError(event.request_id, outcome.value, why)
    return answer


async def _approve_text(run: BoundRun, text: str) -> bool:
    """Return whether a text was approved; a failure is a no, as silence is."""
    try:
        return (await run().approve_text(text)).approved is True
    except SaysoError:
        return False


def _text_of(data: Any) -> str:
    if isinstance(data, BaseModel):
        return data.model_dump_json(indent=2)
    return str(data)
