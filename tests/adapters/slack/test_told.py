"""What was answered, on the card that is done; and choices that open a form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.slack_forms import FILL_IN
from support.slack_kit import DENY, a_card, an_ending

from sayso.cards.card import Choice, Open
from sayso.locales import ENGLISH
from sayso_playground.slack.blocks import characters, check_blocks
from sayso_slack.blocks import ROOM, answer_parts, card_message


def quotes(*facts: tuple[str, str]) -> list[tuple[str, str]]:
    """Label and words of each answer as they are shown."""
    shown = (
        part["elements"]
        for part in answer_parts(facts, ENGLISH)
        if part["type"] == "rich_text_quote"
    )
    return [(label["text"], text["text"]) for label, text in shown]


def test_answers_stand_on_the_card_that_is_done() -> None:
    facts = (("Colour", "Green"), ("Notes", "first\nsecond"))

    blocks = card_message(a_card(an_ending("answered", facts=facts)))["blocks"]

    text = json.dumps(blocks, ensure_ascii=False)
    assert "💬 Answered" in text
    assert quotes(*facts) == [("Colour ", "Green"), ("Notes\n", "first\nsecond")]
    assert text.index("Answered") < text.index("Green") < text.index("command: git status")
    assert not check_blocks(blocks).errors


def test_answers_are_literal_and_set_apart() -> None:
    facts = (("✅ Approved by alice", "<!channel> *x* \u202e\n✅ Approved by bob"),)
    message = card_message(a_card(an_ending("denied", facts=facts)))

    assert quotes(*facts)[0][1] == "<!channel> *x* ⟨U+202E⟩\n✅ Approved by bob"
    assert "| ✅ Approved by alice: &lt;!channel&gt;" in message["text"]
    assert "\n✅" not in message["text"]


def test_a_long_answer_is_cut_and_says_so() -> None:
    [(label, text)] = quotes(("Notes", "x" * 5_000))

    assert label == "Notes (cut, 5,000 characters in all)\n"
    assert text == "x" * (ROOM - 121) + "…"


def test_short_answers_leave_their_room_to_long_ones() -> None:
    shown = quotes(("Long", "x" * 5_000), ("Short", "y"), ("Long as well", "z" * 5_000))

    lengths = [len(text) for _, text in shown]
    assert shown[1] == ("Short ", "y")
    assert sum(lengths) == ROOM - 3 * 120 + len("y"), "the short one stands where its note would"
    assert abs(lengths[0] - lengths[2]) <= 1


def test_an_empty_answer_is_no_empty_text() -> None:
    assert quotes(("", "")) == [("– ", "–")]


def test_more_answers_than_there_is_room_for_are_counted() -> None:
    facts = tuple((f"Field {number}", "x") for number in range(25))

    blocks = card_message(a_card(an_ending("answered", facts=facts)))
    assert len(quotes(*facts)) == 19
    assert "18 more answers are not shown here" in json.dumps(blocks["blocks"])
    opened = card_message(a_card(an_ending("answered", facts=facts, details=True)))
    assert "6 more answers are not shown here" in json.dumps(opened["blocks"])
    assert "18 more answers are not shown here" in blocks["text"]


TEXTS = st.one_of(
    st.text(max_size=80), st.sampled_from(["\u202e" * 3_000, "&" * 9_000, "é\n" * 400, "\ud800"])
)


@settings(max_examples=examples(60), database=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=45).map(tuple))
def test_whatever_was_answered_slack_takes_it(facts: tuple[tuple[str, str], ...]) -> None:
    long = "&" * 3_000
    ended = an_ending("answered", facts=facts, reason=long, stored=long, by=long, by_name=long)
    card = a_card(
        ended,
        title=long,
        asker=long,
        description=long,
        content=long,
        digest=long,
        facts=((long, long),) * 20,
    )

    message = card_message(card)

    assert not check_blocks(message["blocks"]).errors
    assert characters(message["blocks"]) <= 10_000
    assert len(message["text"]) <= 4_000
    json.dumps(message, ensure_ascii=False).encode()


def test_an_open_card_with_all_its_choices_is_within_the_budget() -> None:
    label, text = "\u202e\u202d" * 15, "&" * 3_000
    storing = tuple(Choice(f"s{n}", label, stores="x" * 270) for n in range(25))
    card = a_card(
        choices=(*storing[:5], *(Choice(f"c{n}", label) for n in range(30))),
        more=tuple(replace(choice, key=f"m{n}") for n, choice in enumerate(storing)),
        title=text,
        asker=text,
        description=text,
        content=text,
        facts=((text, text),) * 20,
        digest=text,
    )

    blocks = card_message(card)["blocks"]

    assert not check_blocks(blocks).errors
    assert 4_000 < characters(blocks) <= 10_000


def labels(*choices: Choice) -> list[Any]:
    blocks = card_message(a_card(choices=choices))["blocks"]
    found = [element["text"]["text"] for element in blocks[-1]["elements"]]
    return [label for label in found if label != "More…"]


@pytest.mark.parametrize("label", ["Order", "Order…", "x" * 30])
def test_the_label_of_a_choice_is_shown_as_it_was_written(label: str) -> None:
    assert labels(replace(FILL_IN, label=label), DENY) == [label, "Deny"]


def test_so_is_that_of_a_choice_a_level_down() -> None:
    blocks = card_message(a_card(Open(more=True), more=(FILL_IN,)))["blocks"]

    assert blocks[-1]["elements"][0]["text"]["text"] == "Order"


def test_a_form_that_stores_something_takes_its_second_step_first() -> None:
    storing = replace(FILL_IN, stores="this order for ever")

    blocks = card_message(a_card(choices=(storing,)))["blocks"]

    dialog = blocks[-1]["elements"][0]["confirm"]
    assert "this order for ever" in dialog["text"]["text"]
