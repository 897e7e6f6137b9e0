"""What a card says of the dangers of a call."""

from __future__ import annotations

from sayso.calls import Folder, ToolCall
from sayso.dangers.found import dangers_of
from sayso.dangers.places import Root
from sayso.questions.words import QuestionWords
from sayso.where import Where
from sayso.wording.wording import Wording


def danger_words(
    call: ToolCall, place: Folder | Where | None, wording: Wording | None, words: QuestionWords
) -> tuple[str, ...]:
    """The dangers of a call in words: what its maker says first, then the gravest."""
    root = Root()
    if isinstance(place, Folder):
        root = Root(place.begins or place.root, place.root)
    elif place is not None:
        root = Root(place.folder, place.root)
    high = wording is not None and wording.risk == "high"
    return words.dangers.of(dangers_of(call, root), high_risk=high)
