"""What a card says of the dangers of a call."""

from __future__ import annotations

from collections.abc import Sequence
from gettext import NullTranslations
from itertools import chain
from typing import Any

from sayso.calls import Folder
from sayso.dangers.danger import Danger, danger_texts
from sayso.dangers.found import LONGEST
from sayso.dangers.places import Root
from sayso.text.lookalikes import lookalike_in, poses, spell_out
from sayso.text.secrets import strings_in
from sayso.text.visible import shortened
from sayso.where import Where
from sayso.wording.wording import Wording

_LONGEST_WORD = 60


def danger_words(
    dangers: tuple[Danger, ...],
    wording: Wording | None,
    translations: NullTranslations,
    lookalike: str = "",
) -> tuple[str, ...]:
    """The dangers of a call in words: what its maker says first, then the gravest.

    ``lookalike`` is what ``lookalike_of`` found.
    """
    high = wording is not None and wording.risk == "high"
    return danger_texts(translations, dangers, high_risk=high, lookalike=lookalike)


def lookalike_of(names: Sequence[str], shown: Any) -> str:
    """The first word with letters that look like others, in names or in arguments as shown.

    Those letters are spelled out in it. Empty where only a look at what it is for tells.
    """
    posing = (poses(name) for name in names)
    texts = [text[:LONGEST] for text in strings_in(shown) if text and not text.isascii()]
    inside = map(lookalike_in, texts)
    begins = (poses(words[0][:_LONGEST_WORD]) for text in texts if (words := text.split(None, 1)))
    anywhere = map(poses, texts)
    word = next(filter(None, chain(posing, inside, begins, anywhere)), "")
    return shortened(spell_out(word), _LONGEST_WORD)


def root_of(place: Folder | Where | None) -> Root:
    """Where a call works, as far as that is told."""
    if isinstance(place, Folder):
        return Root(place.begins or place.root, place.root)
    return Root() if place is None else Root(place.folder, place.root)
