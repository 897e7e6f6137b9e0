"""Nothing comes before a denial, however a question is answered: all hear the same of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.bundle_room import a_call, a_room, all_ended, line
from support.chat_double import ChatDouble, press_on, working
from support.denials import always_deny
from support.room import OPS, RUN, ChatRoom

from sayso import (
    Chain,
    Decision,
    Gate,
    Outcome,
    Policy,
    PolicyContext,
    Rule,
    RulePolicy,
    ToolCall,
    When,
)
from sayso.cards.bundle import ALLOW_ALL
from sayso.cards.card import Card, Ended
from sayso.chats.places import Answered, MessageRef
from sayso.events import Event
from sayso.policy.chain import AdjustablePolicy
from sayso.questions.permission_answer import PermissionDeniedEvent
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, a_response, soon, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

APPLY = ToolCall("bash", {"command": "terraform apply"})
LS = ToolCall("bash", {"command": "ls x"})
NO_RM = RulePolicy(deny=[Rule("bash", {"command": "rm *"})])
ROUTES = Routes([Route((OPS,), approvers=("slack:U0ALICE", "slack:U0BOB"))])


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


def a_chat_room(backend: Backend, **gate: Any) -> Any:
    chat = ChatDouble()
    return ChatRoom.open(backend, ApprovalWorker(backend, [chat], ROUTES), gate, chat=chat)


async def ended(room: ChatRoom, ref: MessageRef) -> Ended:
    """How the card ended, as soon as its message says so."""
    await room.chat.card_where(lambda _: isinstance(room.chat.cards[ref].state, Ended))
    state = room.chat.cards[ref].state
    assert isinstance(state, Ended)
    return state


async def last_kinds(room: ChatRoom, count: int) -> list[str]:
    return [entry.kind for entry in await room.backend.audit.read(count)]


async def two_open(room: ChatRoom) -> tuple[list[asyncio.Task[Any]], list[tuple[MessageRef, Card]]]:
    waiting = [room.ask(APPLY), room.ask(ToolCall("bash", APPLY.arguments, "call-2"))]
    await room.chat.card_where(lambda _: len(room.chat.cards) == 2)
    await room.settled()
    return waiting, list(room.chat.cards.items())


async def test_what_is_always_denied_meanwhile_is_denied_for_presser_card_audit_agent_and_observer(
    backend: Backend,
) -> None:
    async with a_chat_room(backend) as room, room.gate.events() as events:
        waiting, [(first, one), (second, other)] = await two_open(room)
        await room.desk.press(press_on(first, one, "deny-always", by="slack:U0BOB"))

        answer = await room.desk.press(press_on(second, other, "allow"))

        assert answer.kind is Answered.FORBIDDEN
        assert "an Always of slack:U0BOB" in answer.text
        verdicts = await asyncio.gather(*waiting)
        assert {verdict.outcome for verdict in verdicts} == {Outcome.DENIED}
        state = await ended(room, second)
        assert (state.outcome, state.by) == ("denied", "")
        assert "slack:U0ALICE could not allow it" in state.reason
        assert await last_kinds(room, 3) == ["denied", "rule_stored", "denied"]
        told = [await soon(events) for _ in range(4)]
        outcomes = [event for event in told if not hasattr(event, "run")]
        assert [type(event) for event in outcomes] == [PermissionDeniedEvent] * 2


@pytest.mark.parametrize(
    "policy",
    [
        NO_RM,
        Chain(RulePolicy(), NO_RM),
        When(lambda call, context: call.name == "bash", NO_RM),
        AdjustablePolicy(NO_RM),
    ],
    ids=["rules", "chain", "when", "adjustable"],
)
async def test_a_call_edited_into_what_a_deny_rule_denies_is_denied_for_all(
    backend: Backend, policy: Policy
) -> None:
    async with a_chat_room(backend, policy=policy) as room:
        waiting, ref, card = await room.asked(LS)

        edited = {"arguments": '{"command": "rm x"}'}
        answer = await room.desk.press(press_on(ref, card, "edit", inputs=edited))

        assert answer.kind is Answered.FORBIDDEN
        assert "deny rule 1" in answer.text
        verdict = await waiting
        assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "deny rule 1")
        assert (await ended(room, ref)).outcome == "denied"
        assert await last_kinds(room, 1) == ["denied"]


async def test_rules_that_were_put_on_top_of_a_policy_hold_for_edited_calls(
    backend: Backend,
) -> None:
    policy = AdjustablePolicy(RulePolicy())
    deny = [Rule("other"), Rule("bash", {"command": "rm *"})]
    policy.update(allow=None, deny=deny, denied_call_ids=None)
    async with a_chat_room(backend, policy=policy) as room:
        _waiting, ref, card = await room.asked(LS)

        edited = {"arguments": '{"command": "rm x"}'}
        answer = await room.desk.press(press_on(ref, card, "edit", inputs=edited))

        assert answer.kind is Answered.FORBIDDEN
        assert "updated deny rule 2" in answer.text


async def test_an_edit_that_no_rule_denies_runs(backend: Backend) -> None:
    async with a_chat_room(backend, policy=NO_RM) as room:
        waiting, ref, card = await room.asked(LS)

        edited = {"arguments": '{"command": "ls y"}'}
        answer = await room.desk.press(press_on(ref, card, "edit", inputs=edited))

        assert answer.kind is Answered.RECORDED
        assert (await waiting).arguments == {"command": "ls y"}


async def test_allow_all_allows_what_no_rule_denies_and_says_what_one_does(
    backend: Backend,
) -> None:
    async with a_room(backend) as room:
        ref, cards = await room.shown("deploy", "restart")
        await always_deny(backend, a_call("deploy"), RUN)

        answer = await room.press(ref, line(cards, "deploy"), ALLOW_ALL.key)

        assert answer.kind is Answered.FORBIDDEN
        assert answer.text == "1 approved, 1 is denied by a rule."
        assert await room.verdicts() == {"deploy": "denied", "restart": "approved"}
        await room.now(ref, all_ended)


async def test_a_resumed_call_hears_the_denial_that_was_recorded(backend: Backend) -> None:
    async with a_chat_room(backend, policy=NO_RM) as room:
        submitted = await room.gate.submit(LS)
        ref, card = await room.chat.card_where()
        await room.settled()
        edited = {"arguments": '{"command": "rm x"}'}
        await room.desk.press(press_on(ref, card, "edit", inputs=edited))

        assert isinstance(submitted, str)
        async with Gate.open(backend, run=RUN) as elsewhere:
            verdict = await elsewhere.resume(submitted)

        assert (verdict.outcome, verdict.line) == (Outcome.DENIED, "deny rule 1")


class InCode:
    """A policy whose denials nobody else can know."""

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return self.denial(call, context) or Decision.ASK

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        del context
        command = str(call.arguments["command"])
        return Decision.DENY.because("no rm here") if command.startswith("rm") else None


async def test_what_only_the_agents_own_code_denies_is_corrected_for_everybody(
    backend: Backend,
) -> None:
    told: list[Event] = []
    room_of = a_chat_room(backend, policy=InCode(), observe=told.append)
    async with room_of as room, room.gate.events() as events:
        waiting, ref, card = await room.asked(LS)
        edited = {"arguments": '{"command": "rm x"}'}
        await room.desk.press(press_on(ref, card, "edit", inputs=edited))

        verdict = await waiting

        assert (verdict.outcome, verdict.reason) == (Outcome.DENIED, "no rm here")
        _, corrected = await room.chat.card_where(
            lambda card: isinstance(card.state, Ended) and card.state.outcome == "denied"
        )
        assert isinstance(corrected.state, Ended)
        why = "approved by slack:U0ALICE, then denied by the agent: no rm here"
        assert corrected.state.reason == why
        [_, approved, overruled] = await backend.audit.read(3)
        assert (approved.kind, overruled.kind, overruled.reason) == ("approved", "overruled", why)
        heard = [type(await soon(events)).__name__ for _ in range(3)]
        assert heard[1:] == ["PermissionApprovedEvent", "PermissionDeniedEvent"]
        assert [type(event).__name__ for event in told] == [
            "PermissionRequestEvent",
            "PermissionDeniedEvent",
        ]
        again = await room.gate.resume(overruled.question_id)
        assert (again.outcome, again.line) == (Outcome.DENIED, "policy InCode")


async def test_the_log_of_a_branch_has_an_approval_and_then_its_denial(backend: Backend) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(backend, [chat], ROUTES, WorkerOptions(keeps_log=True))
    gate = {"policy": InCode()}
    async with ChatRoom.open(backend, desk, gate, chat=chat) as room:
        waiting, ref, card = await room.asked(LS)
        edited = {"arguments": '{"command": "rm x"}'}
        await desk.press(press_on(ref, card, "edit", inputs=edited))
        await waiting

        async def logged() -> bool:
            return len(await backend.log.after(RUN, BEGINNING, count=10)) == 5

        await until(logged)
        await room.settled()
        log = await backend.log.after(RUN, BEGINNING, count=10)
        assert [event.type for event in log] == [
            "PERMISSION_REQUEST",
            "PERMISSION_RESPONSE",
            "PERMISSION_APPROVED",
            "PERMISSION_RESPONSE",
            "PERMISSION_DENIED",
        ]
        assert await backend.log.open_questions(RUN) == 0


async def test_a_desk_that_was_away_writes_the_approval_and_then_its_denial(
    backend: Backend,
) -> None:
    request = a_request(run=RUN)
    approval = a_response(request)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(request.question_id, approval)
    denial = approval.denied(reason="denied by the agent", line="policy mine")
    await backend.store.overrule(request.question_id, denial)

    async with working(
        ApprovalWorker(backend, [ChatDouble()], ROUTES, WorkerOptions(keeps_log=True))
    ) as desk:

        async def logged() -> bool:
            return len(await backend.log.after(RUN, BEGINNING, count=10)) >= 5

        await until(logged)
        await desk._background.settled()

    log = await backend.log.after(RUN, BEGINNING, count=10)
    told = [json.loads(event.data).get("approved") for event in log]
    assert told == [None, True, None, False, None]
    assert await backend.log.open_questions(RUN) == 0
