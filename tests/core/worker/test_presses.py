"""What becomes of a press: only the right person, on the right card, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import Outcome, ToolCall
from sayso.cards.card import Card, Ended, Open
from sayso.cards.gist import gist
from sayso.chats.places import Answered, MessageRef, Place
from sayso.errors import DeliveryError, ReplayedCallbackError
from sayso.stores.memory import memory_backend
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

LONG = {"text": "y" * 5_000}


@pytest.fixture
async def room() -> AsyncIterator[ChatRoom]:
    chat = ChatDouble()
    routes = Routes(
        [Route((OPS,), approvers=("alice", "slack:U0BOB", "slack:@oncall"))],
        {"alice": frozenset({"slack:U0ALICE", "telegram:4242"})},
    )
    async with (
        memory_backend() as backend,
        ChatRoom.open(backend, ApprovalWorker(backend, [chat], routes), chat=chat) as room,
    ):
        yield room


CALL = ToolCall("bash", {"command": "terraform apply"})


async def test_allow_lets_the_call_run_and_the_card_says_who(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.RECORDED
    verdict = await waiting
    assert verdict.approved
    assert verdict.arguments == CALL.arguments
    assert verdict.decided_by == "slack:U0ALICE"
    ended = await room.chat.ended_card()
    assert [choice.key for choice in ended.choices] == ["details"]
    assert "terraform apply" in gist(ended.body)
    assert "terraform apply" in ended.everything
    assert "alice" in str(ended.state)


async def test_deny_stops_the_call_with_a_normal_result(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "deny", by="slack:U0BOB"))

    verdict = await waiting
    assert verdict.outcome is Outcome.DENIED
    assert "denied by slack:U0BOB" in verdict.as_tool_result(who=None)


async def test_always_is_not_asked_again_but_another_call_is(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "always"))
    await waiting

    again = await room.gate.check(CALL, timeout=5)
    other = await room.gate.check(
        ToolCall("bash", {"command": "terraform apply", "force": True}), timeout=0.1
    )

    assert again.approved
    assert "an Always of slack:U0ALICE" in again.reason
    assert other.outcome is Outcome.EXPIRED


async def test_always_takes_a_second_step_where_the_platform_has_no_dialog(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    first = await room.desk.press(press_on(ref, card, "always", confirmed=False))

    assert first.kind is Answered.CONFIRM
    _, confirming = await room.chat.card_where(
        lambda card: isinstance(card.state, Open) and card.state.confirming is not None
    )
    assert isinstance(confirming.state, Open)
    assert confirming.state.confirming is not None
    assert "exactly these arguments" in confirming.state.confirming.stores
    assert not waiting.done()
    await room.desk.press(press_on(ref, card, "always", confirmed=True))
    assert (await waiting).approved


async def test_the_wrong_person_is_refused_and_consumes_nothing(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    for choice in ("allow", "always", "deny", "show", "back"):
        refused = await room.desk.press(press_on(ref, card, choice, by="slack:U0MALLORY"))
        assert refused.kind is Answered.REFUSED

    assert not waiting.done()
    assert room.chat.cards[ref].state == Open()
    await room.desk.press(press_on(ref, card, "allow"))
    assert (await waiting).approved


async def test_a_member_of_a_group_may_answer(room: ChatRoom) -> None:
    room.chat.groups["oncall"] = {"slack:U0CAROL"}
    await room.desk._approvers.refresh()
    waiting, ref, card = await room.asked(CALL)

    await room.desk.press(press_on(ref, card, "allow", by="slack:U0CAROL"))

    assert (await waiting).approved


async def test_a_group_that_cannot_be_read_has_no_members(room: ChatRoom) -> None:
    room.chat.fail("members", DeliveryError("slack", "plan_upgrade_required", permanent=True))
    _, ref, card = await room.asked(CALL)

    answer = await room.desk.press(press_on(ref, card, "allow", by="slack:U0CAROL"))

    assert answer.kind is Answered.REFUSED


async def test_a_second_press_is_told_who_was_first(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "deny", by="slack:U0BOB"))

    late = await room.desk.press(press_on(ref, card, "allow"))

    assert late.kind is Answered.LATE
    assert "denied by slack:U0BOB" in late.text
    assert not (await waiting).approved


async def test_two_people_at_once_make_one_decision(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    answers = await asyncio.gather(
        *(room.desk.press(press_on(ref, card, "allow")) for _ in range(5)),
        *(room.desk.press(press_on(ref, card, "deny", by="slack:U0BOB")) for _ in range(5)),
    )

    kinds = [answer.kind for answer in answers]
    assert kinds.count(Answered.RECORDED) == 1
    assert kinds.count(Answered.LATE) == 9
    assert (await waiting).approved == (kinds.index(Answered.RECORDED) < 5)


@pytest.mark.parametrize(
    "elsewhere",
    [
        MessageRef(OPS, "999"),
        MessageRef(Place("slack", "C0OTHER"), "1"),
        MessageRef(Place("telegram", "C0OPS"), "1"),
    ],
)
async def test_a_handle_on_another_message_decides_nothing(
    room: ChatRoom, elsewhere: MessageRef
) -> None:
    waiting, ref, card = await room.asked(CALL)
    assert ref.message_id == "1"
    await room.settled()

    answer = await room.desk.press(press_on(elsewhere, card, "allow"))

    assert answer.kind is Answered.REFUSED
    assert not waiting.done()


async def test_an_unknown_handle_decides_nothing(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    answer = await room.desk.press(press_on(ref, replace(card, handle="x" * 22), "allow"))

    assert answer.kind is Answered.UNKNOWN
    assert not waiting.done()


async def test_a_choice_the_card_does_not_have_decides_nothing(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)

    answer = await room.desk.press(press_on(ref, card, "destroy"))

    assert answer.kind is Answered.REFUSED
    assert not waiting.done()


async def test_the_same_delivery_twice_is_a_replay(room: ChatRoom) -> None:
    _, ref, card = await room.asked(CALL)
    mallory = press_on(ref, card, "allow", by="slack:U0MALLORY", delivery="d-1")
    await room.desk.press(mallory)

    with pytest.raises(ReplayedCallbackError):
        await room.desk.press(replace(mallory, actor="slack:U0ALICE"))


async def test_cut_arguments_cannot_be_allowed_before_they_were_shown(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(ToolCall("write", LONG))
    assert [choice.key for choice in card.choices] == ["deny", "show"]

    blind = await room.desk.press(press_on(ref, card, "allow"))
    shown = await room.desk.press(press_on(ref, card, "show"))

    assert blind.kind is Answered.REFUSED
    assert shown.kind is Answered.SHOWN
    assert LONG["text"] in room.chat.revealed[0][1]
    ref, card = await room.chat.card_where(lambda card: card.revealed)
    assert [choice.key for choice in card.choices] == ["allow", "always", "deny", "show"]
    await room.desk.press(press_on(ref, card, "allow"))
    assert (await waiting).approved


async def test_a_stranger_can_open_nothing(room: ChatRoom) -> None:
    _, ref, card = await room.asked(ToolCall("write", LONG))

    answer = await room.desk.press(press_on(ref, card, "show", by="slack:U0MALLORY"))

    assert answer.kind is Answered.REFUSED
    assert "may not decide" in answer.text
    assert room.chat.revealed == []
    assert not room.chat.cards[ref].revealed


async def test_a_card_that_ended_while_it_was_shown_in_full_stays_ended(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(ToolCall("write", LONG))
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*_: object) -> None:
        begun.set()
        await go_on.wait()

    room.chat.before_reveal = slow
    showing = asyncio.create_task(room.desk.press(press_on(ref, card, "show")))
    await begun.wait()
    await room.desk.press(press_on(ref, card, "deny"))
    await waiting
    await room.chat.ended_card()
    go_on.set()
    await showing
    await room.settled()

    assert isinstance(room.chat.cards[ref].state, Ended)


async def test_a_retried_update_never_reopens_a_card(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(CALL)
    room.chat.fail("update", DeliveryError("slack", "ratelimited", retry_after=0.01))
    await room.desk.press(press_on(ref, card, "always", confirmed=False))
    await room.desk.press(press_on(ref, card, "deny"))
    await waiting
    await room.settled()

    assert isinstance(room.chat.cards[ref].state, Ended)


async def test_what_could_not_be_shown_stays_closed_to_allow(room: ChatRoom) -> None:
    waiting, ref, card = await room.asked(ToolCall("write", LONG))
    room.chat.fail("reveal", DeliveryError("slack", "expired_trigger_id", permanent=True))

    failed = await room.desk.press(press_on(ref, card, "show"))
    blind = await room.desk.press(press_on(ref, card, "allow"))

    assert failed.kind is Answered.REFUSED
    assert blind.kind is Answered.REFUSED
    assert not waiting.done()


async def test_arguments_too_long_for_the_chat_can_only_be_denied(room: ChatRoom) -> None:
    room.chat.limits = replace(room.chat.limits, reveal=4_000)
    waiting, ref, card = await room.asked(ToolCall("write", LONG))

    assert [choice.key for choice in card.choices] == ["deny"]
    await room.desk.press(press_on(ref, card, "deny"))

    assert not (await waiting).approved


async def test_nobody_waits_is_told_to_the_presser(room: ChatRoom) -> None:
    permission_id = await room.gate.submit(CALL)
    ref, card = await room.chat.card_where()

    answer = await room.desk.press(press_on(ref, card, "allow"))

    assert answer.kind is Answered.UNHEARD
    assert "nobody is waiting" in answer.text
    assert isinstance(permission_id, str)
    assert (await room.gate.resume(permission_id)).approved


async def test_a_press_after_the_end_repairs_the_card(room: ChatRoom) -> None:
    room.chat.fail("update", DeliveryError("slack", "gone", permanent=True))
    waiting, ref, card = await room.asked(CALL)
    await room.desk.press(press_on(ref, card, "allow"))
    await waiting
    await room.settled()
    # The one update was refused, so the card still looks open.

    late = await room.desk.press(press_on(ref, card, "deny"))

    assert late.kind is Answered.LATE
    assert [one.key for one in (await room.chat.ended_card()).choices] == ["details"]


async def test_fifty_open_cards_each_decide_their_own_request(room: ChatRoom) -> None:
    calls = [ToolCall("bash", {"command": f"step {number}"}) for number in range(50)]
    waiting = [room.ask(call) for call in calls]
    cards: list[tuple[MessageRef, Card]] = []
    for call in calls:
        content = call.arguments["command"]
        cards.append(await room.chat.card_where(lambda c, t=content: c.content == t))  # type: ignore[misc]
    order = sorted(range(50), key=lambda number: (number * 37) % 50)

    for number in order:
        ref, card = cards[number]
        await room.desk.press(press_on(ref, card, "allow" if number % 3 else "deny"))

    verdicts = await asyncio.gather(*waiting)
    assert [verdict.approved for verdict in verdicts] == [n % 3 > 0 for n in range(50)]
    assert [verdict.arguments for verdict in verdicts] == [call.arguments for call in calls]
