"""Whatever is wrong about an answer in Slack: what the person reads; nothing is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from e2e.asked import Asked
from e2e.hands import SlackHands, both_cards
from e2e.wrong_input import CALL, HALF, NOT_YOURS, WHERE

from sayso_playground import DeliverTwice, SlackView

PLANE = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "title": "Seats"},
        "weight": {"type": "number", "title": "Weight"},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "class": {"enum": ["first", "second"], "title": "Class"},
        "meals": {
            "type": "array",
            "items": {"enum": ["fish", "rice"]},
            "uniqueItems": True,
            "title": "Meals",
        },
    },
    "required": ["seats", "weight", "day", "class", "meals"],
}
BOOKED = {
    "Seats": "2",
    "Weight": "7.5",
    "Day": "2026-11-21",
    "Class": "second",
    "Meals": ["rice"],
}
BOOKING = {"seats": 2, "weight": 7.5, "day": "2026-11-21", "class": "second", "meals": ["rice"]}


def words(view: SlackView) -> str:
    """All that a dialog says."""
    return "\n".join(
        part["text"]
        for block in view.view["blocks"]
        for one in block.get("elements", ())
        for part in one.get("elements", ())
    )


def is_over(view: SlackView, title: str, *said: str) -> None:
    """The dialog was replaced by one that says this and takes nothing any more."""
    assert view.view["title"]["text"] == title
    assert "submit" not in view.view
    assert words(view).splitlines()[: len(said)] == list(said)


async def test_a_text_that_is_too_long(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")

    held_back = await slack.slack.submit(view, {"Your answer": "x" * 3_001}, by="alice")
    assert held_back.status is None
    assert list(slack.shown().errors.values()) == ["Please enter at most 3000 characters."]
    await slack.sent(view, {"Your answer": "x" * 4_001})

    assert slack.shown().errors == {"sayso:in:answer": "this must be at most 4,000 characters"}
    assert not waiting.done()
    await slack.sent(slack.shown(), {"Your answer": "x" * 3_000})
    assert (await waiting).answer == "x" * 3_000
    await both_cards(scene, "Answered by alice")


@pytest.mark.parametrize(
    ("opens", "label"),
    [("Deny with a reason…", "Reason"), ("Ask for changes…", "What should change")],
)
async def test_a_reason_that_is_too_long(
    scene: Asked, slack: SlackHands, opens: str, label: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))
    view = await slack.opened(opens)

    await slack.sent(view, {label: "x" * 1_001})

    assert slack.shown().errors == {"sayso:in:reason": "this must be at most 1,000 characters"}
    assert not waiting.done()
    await slack.sent(slack.shown(), {label: "no"})
    assert (await waiting).reason == "no"


async def test_an_answer_that_is_nothing_but_white_space(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")

    await slack.sent(view, {"Your answer": " \n "})

    assert slack.shown().errors == {"sayso:in:answer": "an answer is needed here"}
    assert not waiting.done()


async def test_values_of_the_wrong_type(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    view = await slack.opened("Fill in…")
    wrong = {**BOOKED, "Seats": "two", "Weight": "heavy", "Day": "tomorrow"}

    held_back = await slack.slack.submit(view, wrong, by="alice")
    assert held_back.status is None
    assert slack.shown().errors["sayso:in:seats"] == "Please enter a number."
    await slack.sent(view, wrong)

    assert slack.shown().errors == {
        "sayso:in:seats": "this must be a whole number, such as 3",
        "sayso:in:weight": "this must be a number, such as 2.5",
        "sayso:in:day": "this must be a date, such as 2026-11-21",
    }
    assert not waiting.done()
    await slack.sent(slack.shown(), BOOKED)
    assert (await waiting).data == BOOKING


@pytest.mark.parametrize(
    ("seats", "told"),
    [
        ("0", "this must be at least 1"),
        ("10", "this must be at most 9"),
        ("2.5", "this must be a whole number, such as 3"),
        ("", "an answer is needed here"),
    ],
)
async def test_a_number_that_is_out_of_range(
    scene: Asked, slack: SlackHands, seats: str, told: str
) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    view = await slack.opened("Fill in…")

    await slack.sent(view, {**BOOKED, "Seats": seats})

    assert slack.shown().errors == {"sayso:in:seats": told}
    assert not waiting.done()


async def test_a_part_that_is_filled_in_by_half(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.collect(HALF, text="Who lives where?"))
    view = await slack.opened("Fill in…")

    await slack.sent(view, {"Name": "Bob", "To": '{"floor": 3}'})

    told = 'this does not fit: "street" is a required property'
    assert slack.shown().errors == {"sayso:in:to": told}
    await slack.sent(slack.shown(), {"Name": "Bob", "To": ""})
    assert (await waiting).data == {"name": "Bob"}


def picking(field: str, *values: str) -> Callable[[dict[str, Any]], None]:
    """A client that picks options that were not there."""

    def alter(payload: dict[str, Any]) -> None:
        (state,) = payload["view"]["state"]["values"][f"sayso:in:{field}"].values()
        options = [{"text": {"type": "plain_text", "text": "?"}, "value": one} for one in values]
        name = "selected_options" if "selected_options" in state else "selected_option"
        state[name] = options if name == "selected_options" else options[0]

    return alter


@pytest.mark.parametrize(
    ("field", "values", "told"),
    [
        ("class", ("2",), "choose one of the options"),
        ("class", ("first",), "choose one of the options"),
        ("meals", ("0", "7"), "choose one of the options"),
        ("meals", ("0", "0"), "choose each option once"),
    ],
)
async def test_an_option_that_does_not_exist(
    scene: Asked, slack: SlackHands, field: str, values: tuple[str, ...], told: str
) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?"))
    view = await slack.opened("Fill in…")

    await slack.sent(view, BOOKED, alter=picking(field, *values))

    assert slack.shown().errors == {f"sayso:in:{field}": told}
    assert not waiting.done()


async def test_a_button_that_does_not_exist(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    card = await slack.message()

    def third(payload: dict[str, Any]) -> None:
        payload["actions"][0]["action_id"] = "sayso:option-3"

    await slack.slack.press(card, "us", by="alice", alter=third)

    told = await slack.slack.ephemeral_where("alice")
    assert told.all_text == "This card has no such button."
    assert not waiting.done()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{", "this is not JSON: Expecting property name enclosed in double quotes at line 1, "),
        ("to staging", "line 1 is neither JSON nor name=value"),
        ("stage=x", "there is no argument 'stage', only environment, release; use JSON to add one"),
        ("release=next", "'release' is not a string, so its value must be JSON"),
    ],
)
async def test_arguments_that_cannot_be_read(
    scene: Asked, slack: SlackHands, written: str, told: str
) -> None:
    waiting = scene.ask(scene.gate.check(CALL))
    view = await slack.opened("Edit arguments…")

    await slack.sent(view, {"Arguments": written})

    assert slack.shown().errors["sayso:in:arguments"].startswith(told)
    assert not waiting.done()
    await slack.sent(slack.shown(), {"Arguments": "release=43"})
    assert (await waiting).arguments == {"environment": "production", "release": 43}


@pytest.mark.parametrize("who", ["mallory", "carol"])
async def test_a_form_sent_by_somebody_who_may_not_decide_this(
    scene: Asked, slack: SlackHands, who: str
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    view = await slack.opened("Other…")

    await slack.press("Other…", by=who)
    told = await slack.slack.ephemeral_where(who)
    assert (told.all_text, slack.slack.view(who)) == (NOT_YOURS, None)
    slack.slack.state.open_view(slack.actor(who).removeprefix("slack:"), view.view)
    await slack.sent(slack.shown(who), {"Your answer": "mine"}, by=who)

    is_over(slack.shown(who), "Not taken", NOT_YOURS)
    assert not waiting.done()
    await slack.sent(view, {"Your answer": "ap"})
    answer = await waiting
    assert (answer.answer, answer.decided_by) == ("ap", "slack:U0ALICE")


async def test_a_form_sent_by_another_approver_is_their_own_answer(
    scene: Asked, slack: SlackHands
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")

    slack.slack.state.open_view("U0BOB", view.view)
    await slack.sent(slack.shown("bob"), {"Your answer": "ap"}, by="bob")

    assert (await waiting).decided_by == "slack:U0BOB"


async def test_a_form_sent_after_somebody_else_decided(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE, options=("eu", "us")))
    view = await slack.opened("Other…")
    await slack.press("us", by="bob")
    await waiting

    await slack.sent(view, {"Your answer": "ap, after all"})

    is_over(
        slack.shown(),
        "Too late",
        "Too late: this was already answered by bob (slack:U0BOB).",
        "What you entered",
        "Your answer",
        "ap, after all",
    )
    assert (await waiting).answer == "us"


async def test_a_form_sent_after_the_question_expired(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.collect(PLANE, text="Which flight?", timeout=0.6))
    view = await slack.opened("Fill in…")
    await waiting

    await slack.sent(view, BOOKED)

    is_over(slack.shown(), "Too late", "Too late: this was already expired.", "What you entered")


async def test_a_reason_sent_after_the_question_was_cancelled(
    scene: Asked, slack: SlackHands
) -> None:
    permission_id = await scene.gate.submit(CALL)
    assert isinstance(permission_id, str)
    view = await slack.opened("Ask for changes…")
    await scene.gate.cancel(permission_id)

    await slack.sent(view, {"What should change": "everything"})

    is_over(slack.shown(), "Too late", "Too late: this was already cancelled.")


async def test_the_very_same_form_delivered_twice_counts_once(
    scene: Asked, slack: SlackHands
) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")
    before = len(slack.slack.deliveries)

    slack.slack.misbehave("callback", DeliverTwice())
    await slack.sent(view, {"Your answer": "ap"})

    assert (await waiting).answer == "ap"
    statuses = [delivery.status for delivery in slack.slack.deliveries[before:]]
    assert sorted(map(str, statuses)) == ["200", "409"]
    await both_cards(scene, "Answered by alice")


async def test_a_form_that_was_sent_off_twice(scene: Asked, slack: SlackHands) -> None:
    waiting = scene.ask(scene.gate.clarify(WHERE))
    view = await slack.opened("Answer…")

    await slack.sent(view, {"Your answer": "ap"})
    await slack.sent(view, {"Your answer": "eu"})

    assert (await waiting).answer == "ap"
    late = "Too late: this was already answered by alice (slack:U0ALICE)."
    is_over(slack.shown(), "Too late", late)
