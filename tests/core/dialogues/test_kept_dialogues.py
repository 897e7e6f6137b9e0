"""Dialogues as strings: what is kept is read again, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.dialogues import COUNT, NAME, SIZE, TAGS, YES, a_dialogue, asking, press

from sayso.dialogues.dialogue import (
    Asking,
    Dialogue,
    Ended,
    Filled,
    LeftOut,
    Sending,
    State,
    dialogue_text,
    read_dialogue,
)
from sayso.dialogues.moves import over, typed
from sayso.forms.form import Option


def test_a_dialogue_is_kept_as_text_and_read_again() -> None:
    dialogue = press(typed(a_dialogue(NAME, TAGS, COUNT, note="Look."), "Bob 💩", "9"), "pick", 4)

    assert asking(dialogue).picked == ["4"]
    assert read_dialogue(dialogue_text(dialogue)) == dialogue


@pytest.mark.parametrize(
    "state",
    [
        Asking(1, picked=["4"], page=2, problem="no", again=[]),
        Filled(),
        LeftOut(),
        Sending(1_800_000_000.5, Asking(3, again=[4])),
        Ended("Approved."),
    ],
)
def test_every_state_is_kept_as_it_is(state: State) -> None:
    dialogue: Dialogue = replace(a_dialogue(NAME), state=state)

    assert read_dialogue(dialogue_text(dialogue)) == dialogue


KEPT_BY_0_1_0 = """{"dialogue_id": "DIALOGUEDIALOGUE123456", "user_id": 4242, "name": "Alice",
"chat_id": -100, "thread_id": null, "card_id": 7, "handle": "HANDLEHANDLEHANDLE1234",
"choice": "fill", "label": "Fill in…", "confirmed": false, "falls_back": "", "expires_at": 0.0,
"form": {"title": "A form", "fields": [{"name": "name", "label": "Name"}]}, "at": 0, "visit": 1,
"values": {}, "ready": false, "left_out": false, "sent_at": 0.0, "was_refused": false,
"ended": ""}"""


@pytest.mark.parametrize("text", ["", "{}", "[]", "7", '{"dialogue_id": 1}', KEPT_BY_0_1_0])
def test_what_another_version_kept_is_no_dialogue(text: str) -> None:
    assert read_dialogue(text) is None


def test_an_options_value_can_be_anything() -> None:
    field = replace(SIZE, options=(Option("object", {"a": object()}), Option("set", {1})))

    assert read_dialogue(dialogue_text(a_dialogue(field))) is not None


def test_what_was_answered_is_not_kept_once_it_is_over() -> None:
    ended = over(typed(a_dialogue(NAME, YES), "a secret", "1"), "Too late.")

    assert "a secret" not in dialogue_text(ended)
