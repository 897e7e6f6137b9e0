"""AG-UI: what a run was interrupted for is asked of people, and answered all at once.

For whoever reads the events of an agent and starts its next run. An interrupt about a tool call is
a question about that call; one for a confirmation or for input is a question in words or a form.
What cannot be asked, or answered as the interrupt wants it, is no approval.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sayso.agent.batch import side_by_side
from sayso.agent.timeouts import DEFAULT_TIMEOUT_SECONDS
from sayso.calls import ToolCall
from sayso.errors import InvalidInputError
from sayso.text.visible import one_line
from sayso_agents import missing
from sayso_agents.calls import BoundRun, Said, arguments_in, asked, bind_run, failed

try:
    from ag_ui.core import (
        AssistantMessage,
        BaseEvent,
        Interrupt,
        MessagesSnapshotEvent,
        ResumeEntry,
        RunFinishedEvent,
        RunFinishedInterruptOutcome,
        RunStartedEvent,
        ToolCallArgsEvent,
        ToolCallChunkEvent,
        ToolCallStartEvent,
    )
except ImportError as error:
    raise missing("AG-UI", error, "ag-ui-protocol>=1,<2") from error

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["SaysoInterrupts"]

_log = logging.getLogger(__name__)

_CALL, _CONFIRMATION, _INPUT = "tool_call", "confirmation", "input_required"
_APPROVED, _EDITED, _REASON = "approved", "editedArgs", "reason"

_MOMENT = 0.001  # seconds


class SaysoInterrupts:
    """Asks people about the interrupts of runs: hear every event of a run, then ``resume``.

    A call is asked about once, by its interrupt: whoever hears the events again, in another
    process, has the same answer. Confirmations and input are asked for each time.
    """

    def __init__(self, sayso: Gate) -> None:
        self._sayso = sayso
        self._calls: dict[str, tuple[str, str]] = {}
        self._chunked = ""
        self._run: BoundRun | None = None
        self._open: list[Interrupt] = []

    def hear(self, event: BaseEvent) -> None:
        """Note what an event says of the run, of its calls, and of why it ended."""
        match event:
            case RunStartedEvent():
                self._run = bind_run(self._sayso, lambda: event.thread_id, run_id=event.run_id)
                self._open, self._chunked = [], ""
                self.hear_messages(event.input.messages if event.input else ())
            case MessagesSnapshotEvent():
                self.hear_messages(event.messages)
            case ToolCallStartEvent():
                self._calls[event.tool_call_id] = (event.tool_call_name, "")
            case ToolCallChunkEvent():
                # Only the first chunk of a call has to say which call it is of.
                self._chunked = event.tool_call_id or self._chunked
                self._more(self._chunked, event.delta or "", event.tool_call_name or "")
            case ToolCallArgsEvent():
                self._more(event.tool_call_id, event.delta)
            case RunFinishedEvent():
                match event.outcome:
                    case RunFinishedInterruptOutcome(interrupts=interrupts):
                        self._open = list(interrupts)
                    case _:
                        self._open = []

    def hear_messages(self, messages: Iterable[object]) -> None:
        """Note the calls in messages, such as those that a run began with."""
        for message in messages:
            if isinstance(message, AssistantMessage):
                for call in message.tool_calls or ():
                    self._calls[call.id] = (call.function.name, call.function.arguments)

    async def resume(self) -> list[ResumeEntry] | None:
        """The answers to all interrupts of the run that ended; None where it was not interrupted.

        To cancel this withdraws what is asked.
        """
        if not self._open or self._run is None:
            return None
        run = self._run
        return await side_by_side([self._answer(one, run) for one in self._open])

    def _more(self, id_: str, delta: str, name: str = "") -> None:
        if not id_:
            return
        known, text = self._calls.get(id_, ("", ""))
        self._calls[id_] = (name or known, text + delta)

    async def _answer(self, interrupt: Interrupt, run: BoundRun) -> ResumeEntry:
        if interrupt.reason == _CALL:
            return _as_approval(interrupt, await self._about_call(interrupt, run))
        try:
            if interrupt.reason == _CONFIRMATION:
                return await self._ask_to_confirm(interrupt, run)
            if interrupt.reason == _INPUT:
                return await self._ask_for_input(interrupt, run)
            _log.warning("an interrupt for %s cannot be asked", one_line(interrupt.reason, 80))
        except Exception as error:  # whatever it is, the run must not go on as if approved
            failed(interrupt.reason, error)
        return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")

    async def _about_call(self, interrupt: Interrupt, run: BoundRun) -> Said:
        id_ = interrupt.tool_call_id or ""
        name = self._calls.get(id_, ("", ""))[0]

        def call() -> ToolCall:
            name, written = self._calls.get(id_, ("", ""))
            if not name:
                raise InvalidInputError({"toolCallId": "names no call that was told of"})
            return ToolCall(name, arguments_in(written), id_)

        async def ask(one: ToolCall) -> Any:
            verdict = await run().check(
                one,
                key=f"agui:{interrupt.id}:{id_}",
                description=interrupt.message or "",
                timeout=_seconds(interrupt),
            )
            told = call()
            if (told.name, dict(told.arguments)) != (one.name, dict(one.arguments)):
                raise InvalidInputError({"toolCallId": "is told otherwise than it was asked about"})
            return verdict

        said = await asked(name or "a tool", call, ask)
        return said if _takes(interrupt, _EDITED) else said.unedited(name)

    async def _ask_to_confirm(self, interrupt: Interrupt, run: BoundRun) -> ResumeEntry:
        if not interrupt.message or not _takes(interrupt, _APPROVED):
            return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")
        said = await run().approve_text(interrupt.message, timeout=_seconds(interrupt))
        text = said.reason or said.outcome.value
        return _as_approval(interrupt, Said({} if said.approved else None, text))

    async def _ask_for_input(self, interrupt: Interrupt, run: BoundRun) -> ResumeEntry:
        text, timeout = interrupt.message or interrupt.reason, _seconds(interrupt)
        payload: object
        if interrupt.response_schema is None:
            told = await run().clarify(text, timeout=timeout)
            answered, payload = told.answered, told.answer
        else:
            schema = interrupt.response_schema
            found = await run().collect(schema, text=text, timeout=timeout)
            answered, payload = found.answered, found.data
        if not answered:
            return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")
        return ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=payload)


def _as_approval(interrupt: Interrupt, said: Said) -> ResumeEntry:
    """The answer to an interrupt for an approval, as its schema wants it."""
    if not _takes(interrupt, _APPROVED):
        return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")
    payload: dict[str, Any] = {_APPROVED: said.arguments is not None}
    if said.arguments is not None and said.edited:
        payload[_EDITED] = said.arguments
    if said.arguments is None and said.text and _takes(interrupt, _REASON):
        payload[_REASON] = said.text
    return ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=payload)


def _takes(interrupt: Interrupt, name: str) -> bool:
    """Whether the answer may have a field; an edit only where the schema names it."""
    schema = interrupt.response_schema
    if schema is None:
        return name != _EDITED
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return True
    return name == _REASON and schema.get("additionalProperties", True) is True


def _seconds(interrupt: Interrupt) -> float:
    """How long an answer is of use; a moment where its time is over, or is not one."""
    if interrupt.expires_at is None:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        until = datetime.fromisoformat(interrupt.expires_at)
    except ValueError:
        return _MOMENT
    left = (until.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    return min(max(left, _MOMENT), DEFAULT_TIMEOUT_SECONDS)
