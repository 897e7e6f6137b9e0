"""What a button of a form carries: which dialogue, which of its questions, and an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Word = Literal[
    "yes",
    "no",
    "option",
    "pick",
    "unpick",
    "done",
    "suggest",
    "keep",
    "skip",
    "page",
    "back",
    "send",
    "cancel",
]
_WORDS: Mapping[str, Word] = {word: word for word in get_args(Word)}
# `f1:` + 22 + `:` + 5 + `:` + 7 + `:` + 3 takes 43 bytes; a button of the strictest chat holds 64.
_DATA = re.compile(
    r"f1:(?P<dialogue>[A-Za-z0-9_-]{16,39}):(?P<visit>\d{1,5}):(?P<word>[a-z]{2,7}):(?P<number>\d{1,3})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class FormButton:
    """A button of a form.

    ``visit`` counts the questions asked so far: a button of an earlier
    question never answers a later one. ``number`` is the position of an
    option or a suggestion, or a page.
    """

    dialogue: str
    visit: int
    word: Word
    number: int = 0


def form_button_data(button: FormButton) -> str:
    """The button as a string for a platform to hand back, of at most 60 bytes.

    Raises:
        ValueError: our own reader would not take it.
    """
    data = f"f1:{button.dialogue}:{button.visit}:{button.word}:{button.number}"
    if read_form_button(data) != button:
        raise ValueError("a form's button carries a handle, a count, a word and a number")
    return data


def read_form_button(data: str) -> FormButton | None:
    """The button that the string stands for; None when it is not a button of a form.

    Clients can send any string at all: this says nothing about whether such a
    button was ever shown.
    """
    match = _DATA.fullmatch(data)
    if match is None:
        return None
    word = _WORDS.get(match["word"])
    if word is None:
        return None
    return FormButton(match["dialogue"], int(match["visit"]), word, int(match["number"]))
