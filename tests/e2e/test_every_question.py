"""Every question, from the agent's call to what it gets and what the cards of both platforms say.

Gate, bots, adapters and listeners are the real ones, over HTTP with signatures; only Slack and
Telegram are doubles. Each test is answered in Slack and in Telegram.
"""

from __future__ import annotations

from typing import Literal

import pytest
from e2e.asked import Asked
from e2e.hands import Hands, TelegramHands, both_cards, both_with_details
from pydantic import BaseModel, Field

from sayso import Clarification, Collected, Continuation, Outcome, TextApproval
from sayso.questions.clarification import Clarify
from sayso.questions.continuation import Continue
from sayso.questions.structured_input import Collect
from sayso.questions.text_approval import ApproveText

WHERE = "Which region should the replica run in?"
LONG = "\n".join(f"{number}. Move shard {number} to the new disks." for number in range(300))


async def test_a_question_is_answered_with_one_of_its_options(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, context="Both are up.", options=("eu", "us")))
    card = await hands.card()
    assert WHERE in card
    assert "Both are up." in card

    await hands.press("us")

    assert await waiting == Clarification(Outcome.ANSWERED, "us", "", hands.actor())
    for text in await both_cards(scene, "Answered by alice"):
        assert "Answer us" in text


async def test_a_question_with_options_is_answered_in_own_words(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))

    await hands.fill_in("Other…", {"Your answer": "neither: *ap* <south> & co"})

    answer = Clarification(Outcome.ANSWERED, "neither: *ap* <south> & co", "", hands.actor())
    assert await waiting == answer
    for text in await both_cards(scene, "Answered by alice"):
        assert "neither: *ap* <south> & co" in text


async def test_a_question_without_options_is_answered_in_own_words(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.clarify("Who is on call?"))

    await hands.fill_in("Answer…", {"Your answer": "Bob,\nuntil Monday"})

    assert (await waiting).answer == "Bob,\nuntil Monday"
    for text in await both_cards(scene, "Answered by alice"):
        assert "Bob,\nuntil Monday" in text


async def test_a_question_that_allows_no_other_answer_offers_none(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us"), allow_other=False))
    await hands.card()
    assert not await hands.offers("Other…")

    await hands.press("eu")

    assert (await waiting).answer == "eu"


async def test_a_question_that_somebody_declines_has_no_answer(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))

    await hands.press("Don't answer")

    answer = await waiting
    assert (answer.outcome, answer.answer) == (Outcome.DENIED, None)
    assert answer.reason == f"not answered by {hands.actor()}"
    await both_cards(scene, "Denied by alice")


async def test_a_short_text_is_approved_as_it_is(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.approve_text("Dear *Bob*,\nit works.", title="E-mail to Bob"))
    card = await hands.card()
    assert "E-mail to Bob" in card
    assert "Dear *Bob*,\nit works." in card

    await hands.press("Approve")

    approval = TextApproval(Outcome.APPROVED, "Dear *Bob*,\nit works.", "", hands.actor())
    assert await waiting == approval
    await both_cards(scene, "Approved by alice")


async def test_a_long_text_is_approved_only_after_all_of_it_was_shown(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.approve_text(LONG, title="The plan"))
    assert "before it can be approved" in await hands.card()
    assert not await hands.offers("Approve")

    assert LONG in await hands.see_everything()
    await hands.press("Approve")

    assert (await waiting).text == LONG
    await both_cards(scene, "Approved by alice")


async def test_a_text_is_denied_with_a_reason(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.approve_text("We deploy on Friday.", title="The plan"))

    await hands.fill_in("Deny with a reason…", {"Reason": "never on a Friday"})

    reason = "never on a Friday"
    assert await waiting == TextApproval(Outcome.DENIED, None, reason, hands.actor())
    for text in await both_cards(scene, "Denied by alice"):
        assert reason in text


async def test_a_text_is_denied_without_one(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.approve_text("We deploy on Friday.", title="The plan"))

    await hands.press("Deny")

    assert await waiting == TextApproval(Outcome.DENIED, None, "", hands.actor())
    await both_cards(scene, "Denied by alice")


async def test_changes_of_a_text_are_asked_for(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.approve_text("We deploy on Friday.", title="The plan"))

    await hands.fill_in("Ask for changes…", {"What should change": "say Thursday"})

    found = await waiting
    assert (found.outcome, found.text, found.asks_for_changes) == (Outcome.DENIED, None, True)
    assert found.reason == "say Thursday"
    for text in await both_cards(scene, "Denied by alice"):
        assert "Asked for changes" in text
        assert "say Thursday" in text


EVERY_KIND = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 20, "title": "Name"},
        "notes": {"type": "string", "title": "Notes"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "title": "Count"},
        "weight": {"type": "number", "title": "Weight"},
        "express": {"type": "boolean", "title": "Express"},
        "colour": {"enum": ["red", "green"], "title": "Colour"},
        "extras": {
            "type": "array",
            "items": {"enum": ["bow", "card", "box"]},
            "uniqueItems": True,
            "title": "Extras",
        },
        "day": {"type": "string", "format": "date", "title": "Day"},
        "to": {
            "type": "object",
            "title": "To",
            "properties": {
                "street": {"type": "string", "title": "Street"},
                "floor": {"type": "integer", "title": "Floor"},
            },
            "required": ["street"],
        },
    },
    "required": ["name", "count", "weight", "express", "colour", "extras", "day", "to"],
}
FILLED_IN = {
    "Name": "Bob",
    "Notes": None,
    "Count": "3",
    "Weight": "2.5",
    "Express": "Yes",
    "Colour": "green",
    "Extras": ["bow", "box"],
    "Day": "2026-11-21",
    "To": '{"street": "Main Street 1"}',
}
DATA = {
    "name": "Bob",
    "count": 3,
    "weight": 2.5,
    "express": True,
    "colour": "green",
    "extras": ["bow", "box"],
    "day": "2026-11-21",
    "to": {"street": "Main Street 1"},
}


async def test_data_of_every_kind_is_filled_in(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.collect(EVERY_KIND, text="What shall I order?"))
    assert "What shall I order?" in await hands.card()

    await hands.fill_in("Fill in…", FILLED_IN, send="Send")

    assert await waiting == Collected(Outcome.ANSWERED, DATA, "", hands.actor())
    for text in await both_cards(scene, "Answered by alice"):
        for words in ("Name Bob", "Count 3", "Express yes", "Extras bow, box", "Day 2026-11-21"):
            assert words in text
    for text in await both_with_details(scene, "Answered by alice"):
        assert "Main Street 1" in text
        assert "Notes" not in text


class Server(BaseModel):
    """Where it runs."""

    host: str = Field(min_length=3)
    port: int = Field(ge=1, le=65_535)


class Deployment(BaseModel):
    """What is deployed."""

    stage: Literal["test", "live"]
    server: Server
    notify: bool = False


DEPLOYED = {
    "Stage": "live",
    "server": '{"host": "db-1", "port": 5432}',
    "Notify": "Yes",
}
DEPLOYMENT = Deployment(stage="live", server=Server(host="db-1", port=5432), notify=True)


async def test_a_model_is_filled_in_and_comes_back_as_one(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.collect(Deployment, text="Where to?"))

    await hands.fill_in("Fill in…", DEPLOYED, send="Send")

    assert await waiting == Collected(Outcome.ANSWERED, DEPLOYMENT, "", hands.actor())
    for text in await both_cards(scene, "Answered by alice"):
        assert "5432" in text


async def test_data_that_somebody_declines_to_give_is_none(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.collect(Deployment, text="Where to?"))

    await hands.press("Don't answer")

    found = await waiting
    assert (found.outcome, found.data) == (Outcome.DENIED, None)
    await both_cards(scene, "Denied by alice")


async def test_in_telegram_an_answer_can_be_gone_back_to(
    scene: Asked, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.collect(Deployment, text="Where to?"))
    await telegram.press("Fill in…")
    await telegram.answer("Stage", "live")

    await telegram.asked("server")
    await telegram.press_form("❓ server", "« Back")
    await telegram.answer("Stage", "test")
    await telegram.answer("server", '{"host": "db-1", "port": 5432}')
    await telegram.answer("Notify", None)
    await telegram.press_form("Is all of this right?", "« Back")
    await telegram.answer("Notify", "No")
    await telegram.press_form("Is all of this right?", "Send")

    assert (await waiting).data == Deployment(stage="test", server=Server(host="db-1", port=5432))
    await both_cards(scene, "Answered by alice")


@pytest.mark.parametrize("amount", [5, 20])
async def test_a_run_goes_on_by_the_amount_that_was_chosen(
    scene: Asked, hands: Hands, amount: int
) -> None:
    waiting = scene.ask(scene.gate.may_continue(10, 10, description="Two of five are done."))
    assert "Two of five are done." in await hands.card()

    await hands.press(f"Continue (+{amount})")

    reason = f"{amount} more iterations"
    assert await waiting == Continuation(Outcome.APPROVED, amount, reason, hands.actor())
    for text in await both_cards(scene, "Approved by alice"):
        assert reason in text


async def test_a_run_that_is_stopped_gets_nothing(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.may_continue(10, 10))

    await hands.press("Stop")

    found = await waiting
    assert (found.outcome, found.extra) == (Outcome.DENIED, 0)
    assert found.reason == f"the limit of 10 iterations was reached and stopped by {hands.actor()}"
    await both_cards(scene, "Denied by alice")


async def test_a_question_is_submitted_and_its_answer_resumed_by_a_new_process(
    scene: Asked, hands: Hands
) -> None:
    question_id = await scene.gate.submit(Clarify(WHERE, options=("eu", "us")))

    await hands.fill_in("Other…", {"Your answer": "ap"})

    async with scene.later() as gate:
        found = await gate.resume(question_id, expect=Clarification)
    assert found == Clarification(Outcome.ANSWERED, "ap", "", hands.actor())
    await both_cards(scene, "Answered by alice")


async def test_a_text_is_submitted_and_its_approval_resumed_by_a_new_process(
    scene: Asked, hands: Hands
) -> None:
    question_id = await scene.gate.submit(ApproveText("We deploy.", "The plan"))

    await hands.press("Approve")

    async with scene.later() as gate:
        found = await gate.resume(question_id, expect=TextApproval)
    assert found == TextApproval(Outcome.APPROVED, "We deploy.", "", hands.actor())
    await both_cards(scene, "Approved by alice")


async def test_data_is_asked_for_and_resumed_by_a_new_process_as_a_model(
    scene: Asked, hands: Hands
) -> None:
    question_id = await scene.gate.submit(Collect(Deployment, "Where to?"))

    await hands.fill_in("Fill in…", DEPLOYED, send="Send")

    async with scene.later() as gate:
        found = await gate.resume(question_id, expect=Deployment)
    assert found == Collected(Outcome.ANSWERED, DEPLOYMENT, "", hands.actor())
    await both_cards(scene, "Answered by alice")


async def test_a_continuation_is_submitted_and_resumed_by_a_new_process(
    scene: Asked, hands: Hands
) -> None:
    question_id = await scene.gate.submit(Continue(10, 10, amounts=(7,)))

    async with scene.later() as gate:
        waiting = scene.ask(gate.resume(question_id, expect=Continuation))
        await hands.press("Continue (+7)")

        assert (await waiting).extra == 7
    await both_cards(scene, "Approved by alice")
