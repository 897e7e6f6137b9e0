"""What a message says in the same way of its one card and of each of several."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.cards.card import Choice, Ended
from sayso.cards.plain import OUTCOME_ICONS
from sayso.cards.words import CardWords
from sayso_telegram.card.formatted import Look
from sayso_telegram.card.keyboard import yes_label
from sayso_telegram.card.pieces import Piece, line, moment, own, spread


def ending(ended: Ended, words: CardWords) -> Iterator[Piece]:
    """How it ended at a glance, by whom and when."""
    how = _outcome(ended, words)
    if ended.who:
        yield from spread(words.by, outcome=how, who=line(ended.who, rank=2))
    else:
        yield how
    yield own(" · ")
    yield moment(ended.at, words)


def reasons(ended: Ended, words: CardWords, *, stored_rank: int) -> Iterator[Iterator[Piece]]:
    """Why it ended so, and what was stored, a line each."""
    for label, value, rank in (
        (words.reason, ended.reason, 5),
        (words.remembered, ended.stored, stored_rank),
    ):
        if value:
            yield iter((own(f"{label} "), line(value, rank=rank)))


def second_step(choice: Choice, words: CardWords, really: str) -> Iterator[Piece]:
    """What the card asks once more before it stores something."""
    yield own("\n\n")
    yield own(f"⚠️ {really}", Look.BOLD)
    yield own("\n")
    yield line(choice.stores, rank=0)
    if choice.warning:
        yield own("\n")
        yield from spread(words.note, warning=line(choice.warning, rank=6))
    if choice.longer:
        return  # each button says for how long
    yield own("\n")
    yield from spread(words.press_to_remember, button=line(yes_label(choice, words), rank=2))


def _outcome(ended: Ended, words: CardWords) -> Piece:
    """How it ended; an outcome that is not one of ours is shown as anybody's words."""
    icon = OUTCOME_ICONS.get(ended.outcome)
    if icon is None:
        return line(ended.outcome, rank=1)
    word = words.outcome(ended.outcome)
    return own(f"{icon} {word[:1].upper()}{word[1:]}", Look.BOLD)
