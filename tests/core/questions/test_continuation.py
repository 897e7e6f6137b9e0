"""May the run go on after its iteration limit? Never by itself, and never for ever."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from support.chat_double import ChatDouble, press_on, working

from sayso import Continuation, Gate, Outcome, RulePolicy, RunRef, ToolCall
from sayso.cards.card import Choice
from sayso.chats.places import Place
from sayso.errors import UnreadableEventError
from sayso.events import ContinuationRequestEvent, ContinuationResponseEvent
from sayso.questions.wire import decode, encode
from sayso.stores.memory import memory_backend
from sayso.testing import Stage
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1", run_id="r-1")
OPS = Place("slack", "C0OPS")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_continuation(**fields: object) -> ContinuationRequestEvent:
    data: dict[str, object] = {
        "continuation_id": "c-1",
        "source_name": "planner",
        "run": RUN,
        "current_iteration": 10,
        "max_iterations": 10,
        "expires_at": NOW + timedelta(minutes=1),
    }
    return ContinuationRequestEvent.model_validate(data | fields)


@pytest.mark.parametrize(("choice", "extra"), [("continue-5", 5), ("continue-20", 20)])
async def test_a_person_continues_by_a_chosen_amount_in_the_chat(choice: str, extra: int) -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), tool="continuation")])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.may_continue(10, 10, description="nearly there"))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, choice))
        answer = await waiting
        ended = await chat.ended_card()

    assert [(c.key, c.label) for c in card.choices] == [
        ("continue-5", "Continue (+5)"),
        ("continue-10", "Continue (+10)"),
        ("continue-20", "Continue (+20)"),
        ("stop", "Stop"),
    ]
    assert card.content == "The run has used 10 of 10 iterations."
    assert card.description == "nearly there"
    assert answer == Continuation(
        Outcome.APPROVED, extra, f"{extra} more iterations", "slack:U0ALICE"
    )
    assert f"{extra} more iterations" in str(ended.state)


async def test_stop_ends_the_run_normally_with_a_reason() -> None:
    async with Stage(answers={"continuation": "stop"}) as stage:
        answer = await stage.gate.may_continue(10, 10)

    assert not answer.approved
    assert answer.extra == 0
    assert answer.reason == "the limit of 10 iterations was reached and stopped by test:person"


async def test_silence_ends_the_run_normally_with_a_reason() -> None:
    async with Stage(answers={"continuation": None}) as stage:
        answer = await stage.gate.may_continue(10, 10)

    assert answer.outcome is Outcome.EXPIRED
    assert not answer.approved
    assert answer.reason.endswith("not extended: nobody answered in time")


async def test_a_question_that_can_be_shown_nowhere_ends_the_run() -> None:
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=20) as gate,
        working(ApprovalWorker(backend, [ChatDouble()], Routes([]))),
    ):
        answer = await gate.may_continue(10, 10)

    assert answer.outcome is Outcome.UNDELIVERABLE
    assert "no route" in answer.reason


async def test_continuing_is_never_automatic_whatever_the_policy_allows() -> None:
    policy = RulePolicy(default="allow")
    async with Stage(policy=policy, answers={"continuation": "stop"}) as stage:
        await stage.gate.check(ToolCall("continuation"))
        answers = [await stage.gate.may_continue(10 * n, 10 * n) for n in (1, 2)]

    assert [answer.approved for answer in answers] == [False, False]
    assert len(stage.prompts) == 2


async def test_a_continuation_is_no_permission_and_remembers_nothing() -> None:
    async with Stage(answers={"continuation": "continue-5", "bash": "deny"}) as stage:
        await stage.gate.may_continue(10, 10)
        verdict = await stage.gate.check(ToolCall("bash"))

    assert not verdict.approved
    assert a_continuation().to_remember(Choice("continue-5", "x"), by="a:b", at=NOW, until=NOW) is (
        None
    )


async def test_a_sub_agent_that_asks_to_continue_says_who_it_is() -> None:
    async with Stage(answers={"continuation": "stop"}) as stage:
        await stage.gate.child("researcher", source_name="loop").may_continue(3, 3)

    assert stage.prompts[0].asker == "agent › researcher"
    assert stage.prompts[0].source_name == "loop"


async def test_a_cancelled_wait_withdraws_the_question() -> None:
    async with Stage() as stage:
        stage.hold()
        asked = asyncio.Event()
        async with Gate.open(stage.backend, run=RUN, observe=lambda _: asked.set()) as gate:
            waiting = asyncio.create_task(gate.may_continue(10, 10))
            await asked.wait()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

        assert await stage.backend.store.list_requests() == []


@pytest.mark.parametrize("amounts", [(), (0,), (-5,), (5, 5), (1, 2, 3, 4, 5, 6), (2_000_000,)])
async def test_amounts_that_make_no_sense_are_refused(amounts: tuple[int, ...]) -> None:
    async with Stage() as stage:
        with pytest.raises(ValueError, match="amounts"):
            await stage.gate.may_continue(10, 10, amounts=amounts)

    assert stage.prompts == []


def test_only_an_amount_that_was_offered_can_be_given() -> None:
    request = a_continuation(amounts=(3,))

    assert request.approve(by="a:b", at=NOW).extension_amount == 3
    with pytest.raises(ValueError, match="not offered"):
        request.approve(by="a:b", at=NOW, extension_amount=4)
    with pytest.raises(ValueError, match="no choice"):
        request.answer(Choice("continue-4", "Continue"), by="a:b", at=NOW)


@pytest.mark.parametrize(
    "ending",
    [
        {"approved": True, "extension_amount": 0},
        {"approved": True, "extension_amount": 999_999},
        {"approved": False, "extension_amount": 5},
    ],
)
def test_an_answer_that_nobody_could_have_given_does_not_continue(ending: dict[str, int]) -> None:
    known = {"continuation_id": "c-1", "source_name": "planner", "decided_at": NOW}
    response = ContinuationResponseEvent.model_validate(known | ending)

    answer = a_continuation().result(response)

    assert not answer.approved
    assert answer.outcome is Outcome.DENIED


def test_the_events_cross_the_wire_in_camel_case() -> None:
    request = a_continuation(path=("researcher",))
    response = request.approve(by="slack:U0ALICE", at=NOW, extension_amount=10)

    assert decode(encode(request)) == request
    assert decode(encode(response)) == response
    assert b'"type":"CONTINUATION_REQUEST"' in encode(request)
    assert b'"continuationId":"c-1"' in encode(request)
    assert b'"currentIteration":10' in encode(request)
    assert b'"type":"CONTINUATION_RESPONSE"' in encode(response)
    assert b'"extensionAmount":10' in encode(response)


def test_a_request_without_its_fields_is_unreadable() -> None:
    with pytest.raises(UnreadableEventError, match="continuationId"):
        decode('{"type":"CONTINUATION_REQUEST","sourceName":"planner"}')
    with pytest.raises(ValidationError):
        a_continuation(current_iteration=-1)
