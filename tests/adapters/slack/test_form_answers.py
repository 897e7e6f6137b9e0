"""What a form is answered with: errors at its fields, or why it counts no more."""

from __future__ import annotations

import json

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_forms import (
    COLOURS,
    WHERE,
    a_form,
    a_submission,
    a_view,
    picked,
    sent,
    several,
    written,
)
from support.slack_kit import Client, Payload, a_config, callback

from sayso.chats.places import Answer, Answered
from sayso.forms.form import FormField
from sayso_playground import Playground
from sayso_playground.slack.blocks import check_view
from sayso_slack import SlackAdapter, SlackListener
from sayso_slack.interactions import parse_submission
from sayso_slack.modal import build_form_reply

TWO = a_view(a_form(FormField("a", "First"), FormField("b", "Second", "option", options=COLOURS)))


def test_names_and_words_survive_what_slack_escapes() -> None:
    field = FormField("a<b> & 100%26", "Q&A <x>")
    view = a_view(a_form(field))
    block_id = view["blocks"][-1]["block_id"]
    values = {block_id: written("it", "x & y")["sayso:in:it"]}
    view["blocks"][-1]["label"]["text"] = "Q&amp;A &lt;x&gt;"
    document = a_submission(view, values)

    press = parse_submission(document, delivery="d")
    wrong = build_form_reply(document, Answer(Answered.INVALID, "no", {field.name: "longer"}))
    late = build_form_reply(document, Answer(Answered.LATE, "Too late."))

    assert not set("&<>") & set(block_id)
    assert press
    assert press.inputs == {field.name: "x & y"}
    assert (wrong or {})["errors"] == {block_id: "longer"}
    assert "Q&A <x>" in json.dumps(late)
    assert "x & y" in json.dumps(late)


async def test_what_does_not_fit_is_told_at_its_field(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    problems = {"b": "choose one", "a": "at most 3 characters"}
    desk.answer = Answer(Answered.INVALID, "Some answers do not fit.", problems)
    values = {**written("a", "abcd"), **picked("b", "0")}

    status, answer = await sent(client, clock, a_submission(TWO, values))

    assert status == 200
    assert answer == {
        "response_action": "errors",
        "errors": {"sayso:in:a": "at most 3 characters", "sayso:in:b": "choose one"},
    }


@pytest.mark.parametrize(
    ("problems", "told"),
    [
        ({}, "Some answers do not fit."),
        ({"": "both are the same"}, "both are the same"),
        ({"/deep": "a number"}, "/deep: a number"),
        ({"": "x", "a": "y"}, "x; y"),
        ({"a": ""}, "this does not fit"),
    ],
)
def test_what_belongs_to_no_field_is_told_at_the_first(problems: dict[str, str], told: str) -> None:
    answer = Answer(Answered.INVALID, "Some answers do not fit.", problems)

    answered = build_form_reply(a_submission(TWO), answer) or {}

    assert answered == {"response_action": "errors", "errors": {"sayso:in:a": told}}


def test_a_form_without_a_field_to_stand_at_says_in_its_place_what_does_not_fit() -> None:
    document = a_submission(TWO, {})
    document["view"] = {**document["view"], "blocks": []}

    answered = build_form_reply(document, Answer(Answered.INVALID, "It fits not.")) or {}

    assert answered["response_action"] == "update"
    assert "It fits not." in json.dumps(answered["view"])


def test_an_error_is_visible_and_not_endless() -> None:
    answer = Answer(Answered.INVALID, "no", {"a": "\u202e" + "x" * 2_000})

    [error] = (build_form_reply(a_submission(TWO), answer) or {})["errors"].values()

    assert error.startswith("⟨U+202E⟩")
    assert len(error) == 500


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        (Answered.LATE, "Too late"),
        (Answered.REFUSED, "Not taken"),
        (Answered.FORBIDDEN, "Not taken"),
        (Answered.UNKNOWN, "Not taken"),
    ],
)
async def test_a_form_that_counts_no_more_says_why_and_keeps_what_was_typed(
    playground: Playground,
    client: Client,
    listener: SlackListener,
    desk: DeskDouble,
    kind: Answered,
    title: str,
) -> None:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))
    view = playground.slack.state.open_view("U0ALICE", TWO)
    desk.answer = Answer(kind, "Too late: this was already denied by bob.")

    await playground.slack.submit(view, {"First": "line\nline", "Second": "Green"}, by="alice")

    shown = playground.slack.view("alice")
    assert shown
    assert not shown.errors
    assert shown.view["title"]["text"] == title
    assert "submit" not in shown.view
    for part in ("already denied by bob", "First", "line\\nline", "Second", "Green"):
        assert part in json.dumps(shown.view)
    await listener.close()
    assert not playground.slack.ephemerals("alice")


def test_what_was_typed_is_shown_literally_and_slack_takes_it() -> None:
    text = "<!channel> \u202e" + "&" * 2_900
    values = {**written("a", text), **several("b", "x", "y")}

    answer = build_form_reply(a_submission(TWO, values), Answer(Answered.LATE, "Too late."))

    view = (answer or {})["view"]
    assert not check_view(view).errors
    assert "mrkdwn" not in json.dumps(answer)
    assert "⟨U+202E⟩" in json.dumps(view, ensure_ascii=False)
    assert "x, y" in json.dumps(answer)


def test_what_is_too_much_to_be_shown_again_is_said_to_be() -> None:
    fields = [FormField(f"f{number}", "F") for number in range(40)]
    values: Payload = {}
    for field in fields:
        values |= written(field.name, "語" * 3_000)

    document = a_submission(a_view(a_form(*fields)), values)
    view = (build_form_reply(document, Answer(Answered.LATE, "Too late.")) or {})["view"]

    assert "too long to be shown again" in json.dumps(view)
    assert not check_view(view).errors


async def test_a_recorded_form_closes_and_its_sender_is_told_when_nobody_waits(
    playground: Playground, adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> None:
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        recorded = await listener.answer(*callback(a_submission(), clock.seconds()))
        desk.answer = Answer(Answered.UNHEARD, "Recorded, but nobody is waiting.")
        again = a_submission(trigger_id="other")
        unheard = await listener.answer(*callback(again, clock.seconds()))

    assert (recorded.status, recorded.body, unheard.status, unheard.body) == (200, "", 200, "")
    [told] = playground.slack.ephemerals("alice")
    assert told.text == "Recorded, but nobody is waiting."
    assert told.thread_ts == WHERE.place.thread
