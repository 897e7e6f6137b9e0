"""What a card says of the dangers of a call."""

from __future__ import annotations

from sayso.calls import Folder
from sayso.dangers.danger import Danger
from sayso.dangers.places import Root
from sayso.questions.words import QuestionWords
from sayso.where import Where
from sayso.wording.wording import Wording


def danger_words(
    dangers: tuple[Danger, ...], wording: Wording | None, words: QuestionWords
) -> tuple[str, ...]:
    """The dangers of a call in words: what its maker says first, then the gravest."""
    high = wording is not None and wording.risk == "high"
    return words.dangers.of(dangers, high_risk=high)


def root_of(place: Folder | Where | None) -> Root:
    """Where a call works, as far as that is told."""
    if isinstance(place, Folder):
        return Root(place.begins or place.root, place.root)
    return Root() if place is None else Root(place.folder, place.root)
