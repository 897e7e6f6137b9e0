"""The whole way in Telegram: a gate asks, the real desk shows, a person presses in the double."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.denials import always_deny
from support.room import RUN
from support.telegram_bots import TOKEN, bots

from sayso import CheckResult, Gate, ToolCall
from sayso.chats.places import Place
from sayso.stores.memory import memory_backend
from sayso.testing import a_request
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Route, Routes
from sayso_playground import (
    Playground,
    PlaygroundConfig,
    ServerError,
    TelegramDouble,
    TelegramMessage,
)

GROUP, FORUM, OLD = -1001234567890, -1002222222222, -300
CALL = ToolCall("bash", {"command": "terraform apply"})


class Room:
    """A gate, a desk and a Telegram with a few chats."""

    def __init__(self, telegram: TelegramDouble, gate: Gate) -> None:
        self.telegram = telegram
        self.gate = gate

    async def asked(
        self, call: ToolCall = CALL, chat: int = GROUP
    ) -> tuple[asyncio.Task[CheckResult], TelegramMessage]:
        waiting = asyncio.create_task(self.gate.check(call))
        return waiting, await self.shown("Expires", chat)

    async def shown(self, words: str, chat: int = GROUP) -> TelegramMessage:
        return await self.telegram.message_where(lambda m: words in m.text and m.chat == chat)


@pytest.fixture(params=["webhook", "polling"])
async def room(request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    places = (Place("telegram", str(GROUP)), Place("telegram", str(FORUM), "17"))
    routes = Routes(
        [
            Route((Place("telegram", str(OLD)),), tool="old", approvers=("telegram:4242",)),
            Route(places, approvers=("telegram:4242",)),
        ],
        {"alice": frozenset({"telegram:4242"})},
    )
    async with (
        Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground,
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        bots(playground, backend, routes, mode=request.param),
    ):
        yield Room(playground.telegram, gate)


async def test_allow_in_one_chat_ends_the_card_in_every_chat(room: Room) -> None:
    waiting, card = await room.asked()

    delivery = await room.telegram.press(card, "Allow", by="alice")

    assert (delivery.toast, delivery.alert) == ("Approved.", False)
    verdict = await waiting
    assert (verdict.approved, verdict.decided_by) == (True, "telegram:4242")
    here = await room.shown("✅ Approved by alice")
    there = await room.shown("✅ Approved by alice", FORUM)
    assert [*here.buttons, *there.buttons] == ["Details", "Details"]
    assert there.thread_id == 17


async def test_a_press_in_a_topic_counts(room: Room) -> None:
    waiting, card = await room.asked(chat=FORUM)

    await room.telegram.press(card, "Deny", by="alice")

    assert not (await waiting).approved


async def test_a_press_on_a_message_too_old_to_be_shown_counts(room: Room) -> None:
    waiting, card = await room.asked(chat=FORUM)

    await room.telegram.press_data(card, card.buttons["Allow"], by="alice", inaccessible=True)

    assert (await waiting).approved


async def test_somebody_else_is_refused_in_private_and_the_card_stays(room: Room) -> None:
    waiting, card = await room.asked()

    delivery = await room.telegram.press(card, "Allow", by="mallory")

    assert delivery.alert
    assert "may not decide" in (delivery.toast or "")
    assert list((await room.shown("Expires")).buttons) == ["Allow", "Always", "Deny", "More…"]
    await room.telegram.press(card, "Deny", by="alice")
    assert not (await waiting).approved


async def test_the_buttons_of_one_card_do_nothing_under_another_message(room: Room) -> None:
    waiting, card = await room.asked()
    other = room.telegram.say(GROUP, "look here", by="mallory")

    delivery = await room.telegram.press_data(other, card.buttons["Allow"], by="alice")

    assert delivery.alert
    assert not waiting.done()
    await room.telegram.press(card, "Deny", by="alice")
    await waiting


async def test_a_late_press_is_told_how_it_ended(room: Room) -> None:
    waiting, card = await room.asked()
    await room.telegram.press(card, "Deny", by="alice")
    await waiting

    delivery = await room.telegram.press(card, "Allow", by="alice")

    assert (delivery.toast, delivery.alert) == (
        "Too late: this was already denied by alice (telegram:4242).",
        True,
    )


async def test_always_takes_a_second_step_which_can_be_taken_back(room: Room) -> None:
    waiting, card = await room.asked()

    await room.telegram.press(card, "Always", by="alice")
    asked = await room.shown("Really?")
    await room.telegram.press(asked, "Back", by="alice")
    back = await room.telegram.message_where(lambda m: m.id == card.id and "Allow" in m.buttons)
    assert not waiting.done()
    await room.telegram.press(back, "Always", by="alice")
    asked = await room.shown("Really?")
    assert "bash with exactly these arguments" in asked.text
    await room.telegram.press(asked, "Yes, Always", by="alice")

    assert (await waiting).approved
    ended = await room.shown("✅ Approved")
    assert "Remembered " in ended.text
    assert (await room.gate.check(CALL)).approved


async def test_what_does_not_fit_is_seen_in_full_before_it_is_allowed(room: Room) -> None:
    waiting, card = await room.asked(ToolCall("bash", {"command": "echo 💩 " * 1_000}))
    assert list(card.buttons) == ["Deny", "Show all", "More…"]

    await room.telegram.press(card, "Show all", by="alice")
    file = await room.telegram.message_where(lambda m: m.document is not None)
    seen = await room.telegram.message_where(lambda m: m.id == card.id and "Allow" in m.buttons)
    await room.telegram.press(seen, "Allow", by="alice")

    assert (await waiting).approved
    assert file.document is not None
    assert file.document.content.decode().count("💩") == 1_000
    assert file.reply_to == card.id


async def test_an_open_card_follows_its_group_when_that_becomes_a_supergroup(room: Room) -> None:
    waiting, _ = await room.asked(ToolCall("old", {}), chat=OLD)

    new = room.telegram.migrate_group(OLD)
    card = await room.shown("Expires", new)
    await room.telegram.press(card, "Allow", by="alice")

    assert (await waiting).approved


async def test_a_group_that_moved_unnoticed_is_followed(room: Room) -> None:
    room.telegram.state.chats[OLD].migrated_to = GROUP

    waiting, card = await room.asked(ToolCall("old", {}), chat=GROUP)
    await room.telegram.press(card, "Allow", by="alice")

    assert (await waiting).approved


async def test_a_denial_carries_the_reason_that_its_person_writes(room: Room) -> None:
    waiting, card = await room.asked()
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Deny with a reason…" in m.buttons)
    pressed = await room.telegram.press(more, "Deny with a reason…", by="alice")
    assert "Without a reason it is denied" in (pressed.toast or "")

    question = await room.telegram.message_where(lambda m: m.forces_reply)
    room.telegram.reply(question, "it touches production", by="alice")

    verdict = await waiting
    assert not verdict.approved
    assert "it touches production" in verdict.reason
    ended = await room.shown("⛔ Denied by alice")
    assert "Reason it touches production" in ended.text


async def test_the_card_says_that_a_reason_is_being_written(room: Room) -> None:
    _, card = await room.asked()
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Deny with a reason…" in m.buttons)
    await room.telegram.press(more, "Deny with a reason…", by="alice")

    shown = await room.shown("denies this; the reason is being written")

    assert "Deny" in shown.buttons


async def test_a_denial_whose_dialogue_cannot_be_opened_counts_at_once(room: Room) -> None:
    waiting, card = await room.asked()
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Deny with a reason…" in m.buttons)
    room.telegram.misbehave("sendMessage", ServerError(500), times=None)

    pressed = await room.telegram.press(more, "Deny with a reason…", by="alice")

    assert "no reason could be asked for" in (pressed.toast or "")
    assert not (await asyncio.wait_for(waiting, PATIENCE_SECONDS)).approved


async def test_a_denial_whose_reason_is_left_out_waits_for_none(room: Room) -> None:
    waiting, card = await room.asked()
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Deny with a reason…" in m.buttons)
    await room.telegram.press(more, "Deny with a reason…", by="alice")
    board = await room.telegram.message_where(lambda m: "Without a reason" in m.buttons)

    pressed = await room.telegram.press(board, "Without a reason", by="alice")

    assert pressed.toast == "Denied."
    verdict = await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert (verdict.approved, verdict.reason) == (False, "")
    await room.shown("⛔ Denied by alice")
    await room.telegram.until(
        lambda: not any("Without a reason" in m.buttons for m in room.telegram.messages())
    )


async def test_edited_arguments_are_what_is_approved(room: Room) -> None:
    waiting, card = await room.asked()
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Edit arguments…" in m.buttons)
    await room.telegram.press(more, "Edit arguments…", by="alice")

    question = await room.telegram.message_where(lambda m: m.forces_reply)
    assert '"command": "terraform apply"' in (await room.shown("So far:")).text
    room.telegram.reply(question, "command=terraform plan", by="alice")
    verdict = await asyncio.wait_for(waiting, PATIENCE_SECONDS)

    assert verdict.approved
    assert verdict.arguments == {"command": "terraform plan"}


async def test_whoever_asked_is_told_privately_that_somebody_else_approves_it(room: Room) -> None:
    call = ToolCall("bash", {"command": "terraform apply"})
    waiting = asyncio.create_task(room.gate.check(call, requested_by="telegram:4242"))
    card = await room.shown("Expires")

    for button in ("Allow", "Always"):
        delivery = await room.telegram.press(card, button, by="alice")
        assert delivery.alert
        assert (delivery.toast or "").startswith("You asked for this")
    await room.telegram.press(card, "Deny", by="alice")

    assert not (await waiting).approved


async def test_no_form_is_shown_to_whoever_may_not_approve_with_it(room: Room) -> None:
    request = a_request(tool="bash", arguments={"command": "ls"}, run=RUN).model_copy(
        update={
            "requested_by": "telegram:4242",
            "arguments_schema": {"properties": {"command": {"type": "string"}}},
        }
    )
    await room.gate.backend.store.open(request, seconds=30, inbox="", book=None)
    card = await room.shown("Expires")
    more = await room.telegram.press(card, "More…", by="alice")
    card = await room.telegram.message_where(lambda m: any("Edit" in b for b in m.buttons))
    edit = next(button for button in card.buttons if "Edit" in button)
    shown = len(room.telegram.messages(GROUP))

    delivery = await room.telegram.press(card, edit, by="alice")

    assert more.error is None
    assert delivery.alert
    assert (delivery.toast or "").startswith("You asked for this")
    assert len(room.telegram.messages(GROUP)) == shown


async def test_allowing_what_is_always_denied_is_told_in_an_alert_and_the_card_says_denied(
    room: Room,
) -> None:
    waiting, card = await room.asked()
    await always_deny(room.gate.backend, CALL, RUN)

    delivery = await room.telegram.press(card, "Allow", by="alice")

    assert delivery.alert
    assert "Not approved: denied by an Always of slack:U0BOB" in (delivery.toast or "")
    assert not (await waiting).approved
    ended = await room.shown("Denied")
    assert "could not allow it" in ended.text


async def test_editing_a_call_into_what_is_always_denied_is_recorded_as_denied(room: Room) -> None:
    waiting, card = await room.asked()
    await always_deny(room.gate.backend, ToolCall("bash", {"command": "terraform destroy"}), RUN)
    await room.telegram.press(card, "More…", by="alice")
    more = await room.telegram.message_where(lambda m: "Edit arguments…" in m.buttons)
    await room.telegram.press(more, "Edit arguments…", by="alice")
    question = await room.telegram.message_where(lambda m: m.forces_reply)

    room.telegram.reply(question, "command=terraform destroy", by="alice")

    verdict = await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert not verdict.approved
    assert verdict.line == "remembered always deny"
    await room.shown("Not approved: denied by an Always of slack:U0BOB")
    await room.shown("could not allow it")
