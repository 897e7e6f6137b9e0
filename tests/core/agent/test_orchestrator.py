"""Several agents at once: one stream of events, answers by id, permissions that change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import (
    CheckResult,
    Decision,
    Gate,
    Orchestrator,
    Outcome,
    RequestNotFoundError,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.agent.listener import Events
from sayso.chats.places import Place
from sayso.errors import AlreadyResolvedError, SubscriptionLostError
from sayso.events import ContinuationRequestEvent, Event, PermissionRequestEvent
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock, a_request, soon
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

ONE, TWO = RunRef("one", "s-1"), RunRef("two", "s-2")
CALL = ToolCall("bash", {"command": "ls"})
OPS = Place("slack", "C0OPS")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
async def orchestrator(backend: Backend) -> AsyncIterator[Orchestrator]:
    async with Orchestrator.open(backend) as orchestrator:
        yield orchestrator


def ask(gate: Gate, call: ToolCall = CALL) -> asyncio.Task[CheckResult]:
    return asyncio.create_task(gate.check(call))


async def asked(events: Events) -> tuple[str, PermissionRequestEvent]:
    while True:
        agent_id, event = await soon(events)
        if isinstance(event, PermissionRequestEvent):
            return agent_id, event


async def test_the_events_of_all_agents_come_as_one_stream(orchestrator: Orchestrator) -> None:
    gates = [orchestrator.add(ONE), orchestrator.add(TWO)]
    events = orchestrator.events()
    waiting = [ask(gate) for gate in gates]

    heard: list[tuple[str, str]] = []
    async for agent_id, event in events:
        heard.append((agent_id, type(event).__name__))
        if isinstance(event, PermissionRequestEvent):
            approved = agent_id == "one"
            await orchestrator.resolve(event.permission_id, approved=approved, by="app:eve")
        if len(heard) == 4:
            break

    assert sorted(heard) == [
        ("one", "PermissionApprovedEvent"),
        ("one", "PermissionRequestEvent"),
        ("two", "PermissionDeniedEvent"),
        ("two", "PermissionRequestEvent"),
    ]
    assert [(await one).approved for one in waiting] == [True, False]


async def test_each_event_comes_once_although_the_bots_tell_it_too(backend: Backend) -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    desk = ApprovalWorker(backend, [chat], routes)

    class Last(Event):
        pass

    async with Orchestrator.open(backend) as orchestrator, working(desk):
        gate = orchestrator.add(ONE)
        events = orchestrator.events()
        waiting = ask(gate)
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "allow"))
        assert (await waiting).approved
        await chat.ended_card()
        # Whatever the bots tell once more is told before this.
        async with Gate.open(backend, run=RunRef("one", "s-1")) as elsewhere:
            await elsewhere.emit(Last(source_name="x"))
        heard = [await soon(events) for _ in range(3)]

    assert [(agent_id, type(event).__name__) for agent_id, event in heard] == [
        ("one", "PermissionRequestEvent"),
        ("one", "PermissionApprovedEvent"),
        ("one", "Last"),
    ]


async def test_what_other_processes_tell_on_the_branch_is_heard_too(
    orchestrator: Orchestrator, backend: Backend
) -> None:
    class Progress(Event):
        step: int

    orchestrator.add(ONE)
    events = orchestrator.events()
    await orchestrator.listening()
    async with Gate.open(backend, run=RunRef("one", "s-1")) as elsewhere:
        await elsewhere.emit(Progress(source_name="x", step=1))

    assert await soon(events) == ("one", Progress(source_name="x", step=1))


async def test_a_stream_that_may_have_missed_something_says_so_and_goes_on() -> None:
    events = Events()
    events.put(SubscriptionLostError("gone"))
    event = a_request()
    events.put(("one", event))
    events.put(None)

    with pytest.raises(SubscriptionLostError):
        await anext(events)
    assert await anext(events) == ("one", event)
    with pytest.raises(StopAsyncIteration):
        await anext(events)
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_resolve_tells_who_decided_and_why(orchestrator: Orchestrator) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = ask(gate)
    _, request = await asked(events)

    await orchestrator.resolve(
        request.permission_id, approved=False, by="app:eve", reason="not on a Friday"
    )

    verdict = await waiting
    assert verdict.outcome is Outcome.DENIED
    assert verdict.decided_by == "app:eve"
    assert verdict.reason == "not on a Friday"


async def test_an_unknown_id_is_a_clear_error(orchestrator: Orchestrator) -> None:
    with pytest.raises(RequestNotFoundError, match="nope"):
        await orchestrator.resolve("nope", approved=True, by="app:eve")
    with pytest.raises(RequestNotFoundError, match="no agent 'nope' here; there are none"):
        orchestrator.permissions_of("nope")
    with pytest.raises(RequestNotFoundError):
        orchestrator.update_permissions("nope", allow=[])


async def test_an_id_that_is_resolved_already_is_a_clear_error(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = ask(gate)
    _, request = await asked(events)
    await orchestrator.resolve(request.permission_id, approved=False, by="app:eve")

    with pytest.raises(AlreadyResolvedError, match="already denied by app:eve") as caught:
        await orchestrator.resolve(request.permission_id, approved=True, by="app:mallory")

    assert (caught.value.outcome, caught.value.by) == ("denied", "app:eve")
    assert not (await waiting).approved


async def test_of_two_who_resolve_at_once_one_is_told_that_it_was_late(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = ask(gate)
    _, request = await asked(events)

    results = await asyncio.gather(
        *(
            orchestrator.resolve(request.permission_id, approved=approved, by=f"app:{approved}")
            for approved in (True, False)
        ),
        return_exceptions=True,
    )

    errors = [result for result in results if isinstance(result, Exception)]
    assert [type(error) for error in errors] == [AlreadyResolvedError]
    await waiting


async def test_a_request_of_another_session_cannot_be_resolved(
    orchestrator: Orchestrator, backend: Backend
) -> None:
    orchestrator.add(ONE)
    async with Gate.open(backend, run=RunRef("one", "another session")) as stranger:
        permission_id = await stranger.submit(CALL)
    assert isinstance(permission_id, str)

    with pytest.raises(RequestNotFoundError):
        await orchestrator.resolve(permission_id, approved=True, by="app:eve")

    assert len(await backend.store.list_requests()) == 1


async def test_resolving_with_always_is_remembered_for_the_session(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = ask(gate)
    _, request = await asked(events)
    await orchestrator.resolve(
        request.permission_id, approved=True, by="app:eve", choice="always_allow"
    )
    await waiting

    again = await gate.check(CALL)

    assert again.line == "remembered always allow"


async def test_an_answer_that_contradicts_itself_decides_nothing(
    orchestrator: Orchestrator, backend: Backend
) -> None:
    gate = orchestrator.add(ONE)
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)

    with pytest.raises(ValueError, match="contradict"):
        await orchestrator.resolve(permission_id, approved=True, by="app:eve", choice="always_deny")

    assert len(await backend.store.list_requests()) == 1


async def test_permissions_change_while_the_agent_runs(orchestrator: Orchestrator) -> None:
    gate = orchestrator.add(ONE, policy=RulePolicy(deny=[Rule("format_disk")]))
    other = orchestrator.add(TWO)
    orchestrator.update_permissions("one", allow=[Rule("bash"), Rule("format_disk")])
    allowed = await gate.check(CALL)
    denied_by_policy = await gate.check(ToolCall("format_disk"))
    orchestrator.update_permissions("one", deny=[Rule("bash", {"command": "ls"})])
    denied = await gate.check(CALL)
    still = await gate.check(ToolCall("bash", {"command": "pwd"}))
    orchestrator.update_permissions("one", allow=(), deny=())

    asked_again = await gate.check(CALL, timeout=0.3)
    untouched = await other.check(CALL, timeout=0.3)

    assert allowed.line == "updated allow rule 1"
    assert denied_by_policy.line == "deny rule 1"
    assert denied.line == "updated deny rule 1"
    assert still.approved
    assert asked_again.outcome is untouched.outcome is Outcome.EXPIRED


async def test_permissions_can_be_read_and_extended(orchestrator: Orchestrator) -> None:
    orchestrator.add(ONE)
    orchestrator.update_permissions("one", allow=[Rule("read")], denied_call_ids=["c-1"])
    now = orchestrator.permissions_of("one")

    orchestrator.update_permissions("one", allow=[*now.allow, Rule("list")])

    later = orchestrator.permissions_of("one")
    assert later.allow == (Rule("read"), Rule("list"))
    assert later.denied_call_ids == {"c-1": ""}
    assert later.deny == ()
    assert now.allow == (Rule("read"),)


async def test_a_denial_given_after_the_batch_was_approved_still_denies(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(ONE, policy=RulePolicy(allow=[Rule("bash")]))
    other = ToolCall("bash", {"command": "pwd"}, "call-2")
    batch = await gate.check_batch([CALL, other])
    orchestrator.update_permissions(
        "one", deny=[Rule("bash", {"command": "ls"})], denied_call_ids=["call-2"]
    )

    lines = [(await gate.before_function(call)).line for call in (CALL, other)]

    assert [verdict.approved for verdict in batch] == [True, True]
    assert lines == ["updated deny rule 1", "denied call id"]


async def test_a_denial_given_while_a_person_is_asked_denies(orchestrator: Orchestrator) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = ask(gate)
    _, request = await asked(events)
    orchestrator.update_permissions("one", deny=[Rule("bash")])

    with pytest.raises(AlreadyResolvedError, match="updated deny rule 1"):
        await orchestrator.resolve(request.permission_id, approved=True, by="app:eve")

    assert (await waiting).line == "updated deny rule 1"


async def test_an_updated_allow_takes_the_arguments_that_the_policy_made(
    orchestrator: Orchestrator,
) -> None:
    def careful(call: ToolCall, context: object) -> Decision:
        return Decision.ASK.with_arguments({"command": "ls --dry-run"})

    gate = orchestrator.add(ONE, policy=careful)
    orchestrator.update_permissions("one", allow=[Rule("bash", {"command": "ls --dry-run"})])

    verdict = await gate.check(CALL)

    assert verdict.approved
    assert verdict.arguments == {"command": "ls --dry-run"}


async def test_a_continuation_is_answered_by_a_choice_on_its_card(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    waiting = asyncio.create_task(gate.may_continue(10, 10))
    _, request = await soon(events)
    assert isinstance(request, ContinuationRequestEvent)

    with pytest.raises(ValueError, match="it has continue-5, continue-10"):
        await orchestrator.choose(request.continuation_id, "continue-1000", by="app:eve")
    with pytest.raises(RequestNotFoundError):
        await orchestrator.resolve(request.continuation_id, approved=True, by="app:eve")
    await orchestrator.choose(request.continuation_id, "continue-10", by="app:eve")

    assert (await waiting).extra == 10


async def test_the_stream_ends_with_the_orchestrator(backend: Backend) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        orchestrator.add(ONE)
        events = orchestrator.events()

    assert [event async for event in events] == []


async def test_an_expired_question_is_in_the_stream_too() -> None:
    clock = StoppedClock()
    async with (
        memory_backend(clock=clock) as backend,
        Orchestrator.open(backend, clock=clock) as orchestrator,
    ):
        gate = orchestrator.add(ONE, timeout=timedelta(minutes=5))
        events = orchestrator.events()
        waiting = ask(gate)
        _, request = await asked(events)
        clock.advance(timedelta(minutes=6))
        await backend.store.expire_due()
        verdict = await waiting
        _, ended = await soon(events)

        with pytest.raises(AlreadyResolvedError, match="already expired"):
            await orchestrator.resolve(request.permission_id, approved=True, by="app:eve")

    assert verdict.outcome is Outcome.EXPIRED
    assert b"REQUEST_EXPIRED" in encode(ended)
