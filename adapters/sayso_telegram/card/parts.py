"""What a message says in the same way of its one card and of each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import FIRST, NAMED, SEPARATOR, gist
from sayso.cards.plain import OUTCOME_ICONS
from sayso.cards.words import CardWords
from sayso.text.visible import on_one_line, shortened
from sayso_telegram.card.formatted import Look
from sayso_telegram.card.keyboard import yes_label
from sayso_telegram.card.pieces import Piece, line, moment, own, spread

_ASKER, _TOOL, _ABOUT = 60, 60, 120
# So much of a part is on a lock screen, of a dangerous one more: where that is may be its end.
_PART, _DANGEROUS = 40, 60


def ending(ended: Ended, words: CardWords) -> Iterator[Piece]:
    """How it ended at a glance, by whom and when."""
    how = _outcome(ended, words)
    if ended.who:
        yield from spread(words.by, outcome=how, who=line(ended.who, rank=2))
    else:
        yield how
    if ended.went:
        yield own(f" · {ended.went}")
    if ended.note:
        yield own(" ")
        yield line(ended.note, rank=12)
    yield own(" · ")
    yield moment(ended.at, words)


def what_it_was(card: Card, *, with_asker: bool = True) -> Iterator[Piece]:
    """Who asked for which tool, and what matters about it: a line of an ended card."""
    if with_asker:
        yield line(shortened(card.asker, _ASKER) or "–", rank=4)
        yield own(" · ")
    yield line(shortened(card.body.tool or card.body.title, _TOOL), rank=3)
    if about := gist(card.body):
        yield own(" ")
        yield line(shortened(about, _ABOUT), rank=8)


def unsaid(card: Card, pieces: Sequence[Piece]) -> str:
    """What matters about the card, where these pieces do not say it on a lock screen.

    It stands behind the first of their lines, and as much of it is left as there is room for.
    """
    about = gist(card.body)
    whole = "".join(piece.part.text for piece in pieces)
    in_sight = on_one_line(whole)[:FIRST]
    most = _DANGEROUS if card.body.dangers else _PART
    # A name and its value stand apart on the card, and what looks like one may be anybody's text.
    said = (one[:most] for part in about.split(SEPARATOR) for one in part.split(NAMED))
    if all(one in in_sight for one in said):
        return ""
    first = whole.partition("\n")[0]
    return shortened(about, max(FIRST - len(first) - 1, _PART))


def reasons(ended: Ended, words: CardWords, *, stored_rank: int) -> Iterator[Iterator[Piece]]:
    """Why it ended so, and what was stored, a line each."""
    for label, value, rank, until in (
        (words.reason, ended.reason, 5, None),
        (words.remembered, ended.stored, stored_rank, ended.until),
    ):
        if value:
            then = (own(f", {words.until} "), moment(until, words)) if until else ()
            yield iter((own(f"{label} "), line(value, rank=rank), *then))


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
