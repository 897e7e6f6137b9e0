"""What a card says of the dangers of a call."""

from __future__ import annotations

from sayso.calls import ToolCall
from sayso.dangers.found import dangers_of
from sayso.questions.words import QuestionWords


def danger_words(call: ToolCall, words: QuestionWords) -> tuple[str, ...]:
    """The dangers of a call in words, the gravest first."""
    return words.dangers.of(dangers_of(call))
