"""Answers from code have the authority of a press, and take the same step."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from support.chat_double import ChatDouble, working
from support.denials import always_deny
from support.noting import SEEN, NotingRequestEvent

from sayso import (
    CheckResult,
    Clarify,
    ConfigError,
    Gate,
    Orchestrator,
    Outcome,
    RequestNotFoundError,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.agent.responding import Responder
from sayso.calls import new_id
from sayso.cards.card import Ended
from sayso.chats.places import Place
from sayso.errors import AlreadyResolvedError, InvalidInputError, NotApproverError
from sayso.events import ClarificationRequestEvent, PermissionRequestEvent, UserInputRequest
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response, until
from sayso.worker.authorization import Approvers
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls x"})
OPS = Place("slack", "C0OPS")
ALICE, MALLORY = "chat:alice", "chat:mallory"
ROUTES = Routes([Route((OPS,), approvers=(ALICE, "slack:U0BOB"))])


@pytest.fixture
def responder(backend: Backend) -> Responder:
    return Responder(backend, Approvers(ROUTES, {}))


def now() -> datetime:
    return datetime.now(UTC)


async def asked(
    backend: Backend, gate: Gate
) -> tuple[asyncio.Task[CheckResult], PermissionRequestEvent]:
    waiting = asyncio.create_task(gate.check(LS, timeout=30))
    await until(backend.store.list_requests)
    [record] = await backend.store.list_requests()
    assert isinstance(record.request, PermissionRequestEvent)
    return waiting, record.request


async def opened(backend: Backend, **fields: Any) -> PermissionRequestEvent:
    request = a_request(run=RUN).model_copy(update=fields)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return request


async def is_open(backend: Backend, request: UserInputRequest) -> bool:
    record = await backend.store.get(request.question_id)
    return record is not None and record.ending is None


async def test_a_response_of_an_approver_lets_the_call_run_and_ends_its_card(
    backend: Backend, responder: Responder
) -> None:
    chat = ChatDouble()
    async with (
        Gate.open(backend, run=RUN) as gate,
        working(ApprovalWorker(backend, [chat], ROUTES)),
    ):
        waiting, request = await asked(backend, gate)
        await chat.card_where()

        recorded = await responder.respond(request.approve(by=ALICE, at=now(), reason="fine"))

        assert recorded.decided_by == ALICE
        verdict = await waiting
        assert (verdict.approved, verdict.decided_by, verdict.reason) == (True, ALICE, "fine")
        card = await chat.ended_card()
        assert isinstance(card.state, Ended)
        assert card.state.by == ALICE
    assert [entry.kind for entry in await backend.audit.read(5)] == ["asked", "approved"]


@pytest.mark.parametrize("by_response", [True, False])
async def test_a_large_request_is_answered_beside_the_loop(
    backend: Backend, responder: Responder, by_response: bool
) -> None:
    request = NotingRequestEvent(
        noting_id=new_id(), text="x" * 20_000, run=RUN, source_name="a", expires_at=now()
    )
    await backend.store.open(request, seconds=30, inbox="", book=None)
    made = NotingRequestEvent.made_in[request.noting_id] = []

    if by_response:
        await responder.respond(request.answer(SEEN, by=ALICE, at=now()))
    else:
        await responder.choose(request.noting_id, "seen", by=ALICE)

    assert made
    assert threading.get_ident() not in made


async def test_who_is_no_approver_decides_nothing_and_is_in_the_audit(
    backend: Backend, responder: Responder
) -> None:
    request = await opened(backend)

    with pytest.raises(NotApproverError, match=MALLORY):
        await responder.respond(request.approve(by=MALLORY, at=now()))
    with pytest.raises(NotApproverError):
        await responder.choose(request.question_id, "deny", by=MALLORY)

    assert await is_open(backend, request)
    last = (await backend.audit.read(5))[-1]
    assert (last.kind, last.refusal, last.by) == ("press_refused", "not_approver", MALLORY)


async def test_whoever_asked_may_deny_and_not_approve_by_a_response(
    backend: Backend, responder: Responder
) -> None:
    request = await opened(backend, requested_by=ALICE)

    with pytest.raises(NotApproverError):
        await responder.respond(request.approve(by=ALICE, at=now()))
    assert await is_open(backend, request)

    await responder.respond(request.deny(by=ALICE, at=now()))
    assert not await is_open(backend, request)


@pytest.mark.parametrize("asked_by", [{"requested_by": "slack:U0ALICE"}, {"filed_by": "api:alice"}])
async def test_no_account_of_whoever_asked_approves_by_a_response(
    backend: Backend, asked_by: dict[str, str]
) -> None:
    people = {"alice": frozenset({ALICE, "slack:U0ALICE", "api:alice"})}
    routes = Routes([Route((OPS,), approvers=("alice",))], people)
    responder = Responder(backend, Approvers(routes, {}))
    request = await opened(backend, **asked_by)

    with pytest.raises(NotApproverError):
        await responder.respond(request.approve(by=ALICE, at=now()))

    assert await is_open(backend, request)
    last = (await backend.audit.read(5))[-1]
    assert (last.refusal, last.by) == ("own_request", ALICE)


async def test_a_response_to_what_a_rule_forbids_is_recorded_as_denied(
    backend: Backend, responder: Responder
) -> None:
    policy = RulePolicy(deny=[Rule("bash", {"command": "rm *"})])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        waiting, request = await asked(backend, gate)
        edited = request.approve(by=ALICE, at=now(), modified_arguments={"command": "rm x"})

        with pytest.raises(AlreadyResolvedError, match="deny rule 1"):
            await responder.respond(edited)

        assert (await waiting).outcome is Outcome.DENIED
    other = await opened(backend)
    await always_deny(backend, ToolCall(other.function_name, other.arguments), RUN)
    with pytest.raises(AlreadyResolvedError):
        await responder.respond(other.approve(by=ALICE, at=now()))


async def test_changed_arguments_of_a_response_fit_the_schema_and_run(
    backend: Backend, responder: Responder
) -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    request = await opened(backend, arguments_schema=schema)
    wrong = request.approve(by=ALICE, at=now(), modified_arguments={"command": 7})
    fine = request.approve(by=ALICE, at=now(), modified_arguments={"command": "ls"})

    with pytest.raises(InvalidInputError):
        await responder.respond(wrong)
    recorded = await responder.respond(fine)

    assert recorded.digest_of_changes == fine.digest_of_changes


async def test_a_response_that_no_button_gives_decides_nothing(
    backend: Backend, responder: Responder
) -> None:
    request = await opened(backend)
    approval = request.approve(by=ALICE, at=now())
    wider = request.approve(by=ALICE, at=now(), choice="always_allow", rule=Rule("run_command"))
    misfits = (
        wider,
        approval.model_copy(update={"rule": Rule("run_command")}),
        approval.model_copy(update={"source_name": "another"}),
        approval.model_copy(update={"arguments_digest": "sha256:0"}),
        approval.model_copy(update={"line": "deny rule 1"}),
        approval.model_copy(update={"decided_by": None}),
    )

    for misfit in misfits:
        with pytest.raises(ValueError, match=r"no button|decided_by"):
            await responder.respond(misfit)

    assert await is_open(backend, request)
    with pytest.raises(RequestNotFoundError):
        await responder.respond(a_response())


async def test_an_always_by_a_response_stores_what_the_card_offers_and_no_more(
    backend: Backend, responder: Responder
) -> None:
    request = await opened(backend)

    await responder.respond(request.approve(by=ALICE, at=now(), choice="always_allow"))

    [kept] = (await backend.rules.book(RUN)).remembered
    assert kept.rule == request.suggested_rules[0]
    assert kept.stored_by == ALICE


async def test_the_first_answer_counts_and_its_time_is_the_stores(
    backend: Backend, responder: Responder
) -> None:
    request = await opened(backend)
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)

    recorded = await responder.respond(request.deny(by=ALICE, at=long_ago))

    assert recorded.decided_at.year > 2020
    with pytest.raises(AlreadyResolvedError):
        await responder.respond(request.approve(by="slack:U0BOB", at=now()))


async def test_other_kinds_of_question_are_answered_by_their_responses_and_choices(
    backend: Backend, responder: Responder
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        first = await gate.submit(Clarify("Which colour?", options=("red", "blue")))
        second = await gate.submit(Clarify("Which size?"))
        record = await backend.store.get(first)
        assert record is not None
        request = record.request
        assert isinstance(request, ClarificationRequestEvent)

        await responder.respond(request.reply("blue", by=ALICE, at=now()))
        await responder.choose(second, "answer", by=ALICE, inputs={"answer": "large"})

        from sayso import Clarification

        assert (await gate.resume(first, expect=Clarification)).answer == "blue"
        assert (await gate.resume(second, expect=Clarification)).answer == "large"


async def test_an_orchestrator_answers_as_its_authority_lets_it(backend: Backend) -> None:
    authority = Approvers(ROUTES, {})
    async with Orchestrator.open(backend, authority=authority) as orchestrator:
        waiting, request = await asked(backend, orchestrator.add(RUN))
        elsewhere = await opened(backend, run=RunRef("other-bot", "s-9"), permission_id=new_id())

        for answer in (
            orchestrator.respond(request.approve(by=MALLORY, at=now())),
            orchestrator.resolve(request.question_id, approved=True, by=MALLORY),
            orchestrator.choose(request.question_id, "allow", by=MALLORY),
        ):
            with pytest.raises(NotApproverError):
                await answer
        with pytest.raises(RequestNotFoundError):
            await orchestrator.respond(elsewhere.approve(by=ALICE, at=now()))
        await orchestrator.respond(request.approve(by=ALICE, at=now()))

        assert (await waiting).approved


@pytest.mark.parametrize("asker", [f"{ALICE} ", "slack:@alice", "telegram:04242", "alice"])
async def test_without_an_authority_nobody_approves_what_somebody_unknown_asked_for(
    backend: Backend, asker: str
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        orchestrator.add(RUN)
        request = await opened(backend, requested_by=asker)

        with pytest.raises(NotApproverError):
            await orchestrator.choose(request.question_id, "allow", by=ALICE)
        await orchestrator.choose(request.question_id, "deny", by=ALICE)


async def test_without_an_authority_nobody_responds_and_nobody_approves_what_they_asked_for(
    backend: Backend,
) -> None:
    async with Orchestrator.open(backend) as orchestrator:
        gate = orchestrator.add(RUN, requested_by=ALICE)
        waiting, request = await asked(backend, gate)

        with pytest.raises(ConfigError, match="authority"):
            await orchestrator.respond(request.approve(by="slack:U0BOB", at=now()))
        for own in (ALICE, ALICE.upper()):
            with pytest.raises(NotApproverError):
                await orchestrator.resolve(request.question_id, approved=True, by=own)
        await orchestrator.resolve(request.question_id, approved=True, by="slack:U0BOB")

        assert (await waiting).approved
