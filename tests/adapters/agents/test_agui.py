"""AG-UI: interrupts become questions, one card for those of a run, and one resume for all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ag_ui.core import (
    AssistantMessage,
    BaseEvent,
    FunctionCall,
    Interrupt,
    ResumeEntry,
    RunAgentInput,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    ToolCall,
    ToolCallArgsEvent,
    ToolCallChunkEvent,
    ToolCallStartEvent,
)
from pydantic import TypeAdapter
from support.agent_pages import begun, programs
from support.fail_closed import UNREADABLE, allowing
from support.people import People, silent

import sayso
from sayso import Gate
from sayso.clock import utc_now
from sayso.events import Resolution, UserInputRequest
from sayso.questions.clarification import ClarificationRequestEvent
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.structured_input import StructuredInputRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso_agents.agui import SaysoInterrupts

ALICE = "slack:U0ALICE"
DEPLOY = {"release": 42, "to": "production"}
APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
EDITABLE = {**APPROVAL, "properties": {**APPROVAL["properties"], "editedArgs": {"type": "object"}}}


def about_call(id_: str = "i-1", call: str = "c-1", **more: Any) -> Interrupt:
    more.setdefault("response_schema", APPROVAL)
    return Interrupt(id=id_, reason="tool_call", tool_call_id=call, **more)


def told(call: str = "c-1", name: str = "deploy", arguments: object = None) -> list[BaseEvent]:
    written = json.dumps(DEPLOY if arguments is None else arguments)
    return [
        ToolCallStartEvent(tool_call_id=call, tool_call_name=name),
        ToolCallArgsEvent(tool_call_id=call, delta=written[:5]),
        ToolCallArgsEvent(tool_call_id=call, delta=written[5:]),
    ]


def finished(*interrupts: Interrupt) -> list[BaseEvent]:
    outcome = RunFinishedInterruptOutcome(interrupts=list(interrupts))
    return [RunFinishedEvent(thread_id="t-1", run_id="r-1", outcome=outcome)]


@pytest.fixture
def handle(store_url: str) -> Iterator[Gate]:
    with sayso.connect(store_url, agent="concierge", timeout=30) as handle:
        yield handle


async def resumed(handle: Gate, *events: BaseEvent) -> list[ResumeEntry] | None:
    """What a client says after these events; it is a valid input of the next run."""
    bridge = SaysoInterrupts(handle)
    bridge.hear(RunStartedEvent(thread_id="t-1", run_id="r-1"))
    for event in events:
        bridge.hear(event)
    found = await bridge.resume()
    RunAgentInput(thread_id="t-1", run_id="r-2", messages=[], resume=found)
    return found


def payloads(found: list[ResumeEntry] | None) -> list[object]:
    assert found is not None
    return [entry.payload if entry.status == "resolved" else "cancelled" for entry in found]


def answering(**how: Any) -> Callable[[UserInputRequest], Resolution]:
    def answer(request: UserInputRequest) -> Resolution:
        assert isinstance(request, PermissionRequestEvent)
        return request.approve(by=ALICE, at=utc_now(), **how)

    return answer


def denying(request: UserInputRequest) -> Resolution:
    assert isinstance(request, PermissionRequestEvent)
    return request.deny(by=ALICE, at=utc_now(), reason="Release 41 is still out")


async def test_an_allowed_call_is_resolved_and_people_saw_its_arguments(
    handle: Gate, store_url: str
) -> None:
    with People(store_url, answering()) as people:
        found = await resumed(handle, *told(), *finished(about_call(message="Deploy?")))
        request = people.asked.get(timeout=10)

    assert found == [ResumeEntry(interrupt_id="i-1", status="resolved", payload={"approved": True})]
    assert isinstance(request, PermissionRequestEvent)
    assert (request.function_name, request.arguments) == ("deploy", DEPLOY)
    assert (request.description, request.run) == (
        "Deploy?",
        handle.for_session("t-1", run_id="r-1").run,
    )


@pytest.mark.parametrize("what", ["an empty text", "a long text", "half of a surrogate pair"])
async def test_a_thread_that_cannot_be_read_is_a_denial_that_names_the_cause(what: str) -> None:
    thread, cause = UNREADABLE[what]
    with sayso.connect("memory://", policy=allowing) as handle:
        bridge = SaysoInterrupts(handle)
        bridge.hear(RunStartedEvent(thread_id=str(thread), run_id="r-1"))
        for event in (*told(), *finished(about_call())):
            bridge.hear(event)
        (payload,) = payloads(await bridge.resume())

    assert isinstance(payload, dict)
    assert payload["approved"] is False
    assert f"the session (conversation id) {cause}" in payload["reason"]


async def test_chunks_after_the_first_need_not_say_of_which_call_they_are(
    handle: Gate, store_url: str
) -> None:
    written = json.dumps(DEPLOY)
    chunks = [
        ToolCallChunkEvent(tool_call_id="c-1", tool_call_name="deploy"),
        ToolCallChunkEvent(delta=written[:5]),
        ToolCallChunkEvent(delta=written[5:]),
    ]
    with People(store_url, answering()) as people:
        await resumed(handle, *chunks, *finished(about_call()))
        request = people.asked.get(timeout=10)

    assert isinstance(request, PermissionRequestEvent)
    assert request.arguments == DEPLOY


async def test_a_call_that_is_told_otherwise_meanwhile_is_not_approved(
    handle: Gate, store_url: str
) -> None:
    bridge = SaysoInterrupts(handle)
    bridge.hear(RunStartedEvent(thread_id="t-1", run_id="r-1"))

    def meanwhile(request: UserInputRequest) -> Resolution:
        for event in told(arguments={"release": 43}):
            bridge.hear(event)
        return answering()(request)

    for event in (*told(), *finished(about_call())):
        bridge.hear(event)
    with People(store_url, meanwhile):
        (said,) = payloads(await bridge.resume())

    assert isinstance(said, dict)
    assert said["approved"] is False


async def test_an_interrupt_of_the_same_name_about_another_call_is_asked_about(
    handle: Gate, store_url: str
) -> None:
    with People(store_url, answering()) as people:
        await resumed(handle, *told(), *finished(about_call()))
        await resumed(handle, *told("c-2"), *finished(about_call(call="c-2")))

    assert people.asked.qsize() == 2


async def test_a_denial_is_a_payload_with_its_reason_and_no_account(
    handle: Gate, store_url: str
) -> None:
    closed = {**APPROVAL, "properties": {"approved": {}}, "additionalProperties": False}
    with People(store_url, denying):
        said, short = payloads(
            await resumed(
                handle,
                *told(),
                *told("c-2"),
                *finished(about_call(), about_call("i-2", "c-2", response_schema=closed)),
            )
        )

    assert isinstance(said, dict)
    assert said["approved"] is False
    assert "Release 41 is still out" in said["reason"]
    assert "U0ALICE" not in said["reason"]
    assert short == {"approved": False}


async def test_an_edit_is_carried_whole_where_the_schema_has_a_place_for_it_else_it_is_a_no(
    handle: Gate, store_url: str
) -> None:
    edited = {"release": 41, "to": "staging"}
    with People(store_url, answering(modified_arguments=edited)):
        can, *others = payloads(
            await resumed(
                handle,
                *(event for number in (1, 2, 3) for event in told(f"c-{number}")),
                *finished(
                    about_call(response_schema=EDITABLE),
                    about_call("i-2", "c-2"),
                    about_call("i-3", "c-3", response_schema=None),
                ),
            )
        )

    assert can == {"approved": True, "editedArgs": edited}
    for cannot in others:
        assert isinstance(cannot, dict)
        assert (cannot["approved"], set(cannot)) == (False, {"approved", "reason"})
        assert "staging" in cannot["reason"]


async def test_all_interrupts_of_a_run_are_answered_at_once_whatever_they_are_for(
    handle: Gate, store_url: str
) -> None:
    form = {
        "type": "object",
        "properties": {"window": {"type": "string"}},
        "required": ["window"],
    }

    def answer(request: UserInputRequest) -> Resolution:
        match request:
            case PermissionRequestEvent():
                return request.approve(by=ALICE, at=utc_now())
            case TextApprovalRequestEvent():
                return request.approve(by=ALICE, at=utc_now())
            case ClarificationRequestEvent():
                return request.reply("tonight", by=ALICE, at=utc_now())
            case StructuredInputRequestEvent():
                return request.reply({"window": "22:00"}, by=ALICE, at=utc_now())
        raise AssertionError(request)

    with People(store_url, answer):
        found = await resumed(
            handle,
            *told(),
            *finished(
                about_call(),
                Interrupt(id="i-2", reason="confirmation", message="Send the draft?"),
                Interrupt(id="i-3", reason="input_required", message="When?"),
                Interrupt(
                    id="i-4", reason="input_required", message="Window?", response_schema=form
                ),
                Interrupt(id="i-5", reason="bank:otp", message="Code?"),
            ),
        )

    assert payloads(found) == [
        {"approved": True},
        {"approved": True},
        "tonight",
        {"window": "22:00"},
        "cancelled",
    ]


async def test_the_same_interrupt_is_asked_once_whoever_hears_of_it_again(
    handle: Gate, store_url: str
) -> None:
    events = (*told(), *finished(about_call()))
    with People(store_url, answering()) as people:
        first = await resumed(handle, *events)
        with sayso.connect(store_url, agent="concierge") as another:
            again = await resumed(another, *events)

    assert first == again
    assert people.asked.qsize() == 1


_WRONG: dict[str, list[BaseEvent]] = {
    "a call that nobody told of": finished(about_call(call="c-9")),
    "arguments that are no JSON": [
        ToolCallChunkEvent(tool_call_id="c-1", tool_call_name="deploy", delta="{"),
        *finished(about_call()),
    ],
    "arguments with a name twice": [
        ToolCallChunkEvent(
            tool_call_id="c-1",
            tool_call_name="deploy",
            delta='{"release": 42, "to": [{"at": "staging", "at": "production"}]}',
        ),
        *finished(about_call()),
    ],
    "arguments that are a list": [*told(arguments=[1]), *finished(about_call())],
    "no id of a call": finished(Interrupt(id="i-1", reason="tool_call")),
    "an answer of another shape": [
        *told(),
        *finished(about_call(response_schema={"properties": {"verdict": {"type": "string"}}})),
    ],
    "a confirmation without words": finished(Interrupt(id="i-1", reason="confirmation")),
    "a form that chat cannot ask": finished(
        Interrupt(id="i-1", reason="input_required", response_schema={"$ref": "#/nowhere"})
    ),
    "a time that is over": [
        *told(),
        *finished(about_call(expires_at=(datetime.now(UTC) - timedelta(hours=1)).isoformat())),
    ],
    "a time that is none": [*told(), *finished(about_call(expires_at="soon"))],
}


@pytest.mark.parametrize("what", _WRONG)
async def test_what_cannot_be_asked_or_answered_is_no_approval(
    handle: Gate, store_url: str, what: str
) -> None:
    with People(store_url, silent if "time" in what else answering()) as people:
        (said,) = payloads(await resumed(handle, *_WRONG[what]))

        assert people.asked.empty() or "arguments" not in what
    if said != "cancelled":
        assert isinstance(said, dict)
        assert said["approved"] is False


async def test_while_the_store_is_away_nothing_is_approved() -> None:
    with sayso.connect("redis://localhost:1/0", patience=0.1) as handle:
        (said,) = payloads(await resumed(handle, *told(), *finished(about_call())))

    assert isinstance(said, dict)
    assert said["approved"] is False


async def test_to_stop_waiting_withdraws_what_is_asked(handle: Gate, store_url: str) -> None:
    with People(store_url, silent) as people:
        waiting = asyncio.create_task(resumed(handle, *told(), *finished(about_call())))
        await asyncio.to_thread(people.asked.get, timeout=10)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        ending = await asyncio.to_thread(people.ended.get, timeout=10)

    assert ending.outcome is sayso.Outcome.CANCELLED


async def test_a_run_that_was_not_interrupted_is_not_resumed(handle: Gate) -> None:
    ok = RunFinishedEvent(thread_id="t-1", run_id="r-1", outcome=RunFinishedSuccessOutcome())

    assert await resumed(handle, *told(), ok) is None
    assert await resumed(handle) is None


async def test_the_program_on_the_page_runs_an_agent_to_the_end(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_STORE_URL", store_url)
    names: dict[str, Any] = {}
    begun(programs("ag-ui")[0], names)
    runs: list[RunAgentInput] = []

    async def agent_runs(begin: RunAgentInput) -> AsyncIterator[BaseEvent]:
        runs.append(begin)
        yield RunStartedEvent(thread_id=begin.thread_id, run_id=begin.run_id)
        for event in (*told(), *finished(about_call())) if begin.resume is None else ():
            yield event

    with People(store_url, answering()), names["sayso"]:
        await names["run_to_the_end"](agent_runs, "t-1", [])

    assert [payloads(run.resume) for run in runs[1:]] == [[{"approved": True}]]


async def test_calls_of_earlier_messages_are_known(handle: Gate, store_url: str) -> None:
    call = ToolCall(id="c-1", function=FunctionCall(name="deploy", arguments=json.dumps(DEPLOY)))
    before = RunAgentInput(
        thread_id="t-1",
        run_id="r-1",
        messages=[AssistantMessage(id="m-1", tool_calls=[call])],
    )
    started = TypeAdapter(RunStartedEvent).validate_python(
        {"threadId": "t-1", "runId": "r-1", "input": before}
    )
    with People(store_url, answering()):
        found = await resumed(handle, started, *finished(about_call()))

    assert payloads(found) == [{"approved": True}]
