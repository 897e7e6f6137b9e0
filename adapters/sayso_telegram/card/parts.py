"""What a message says in the same way of its one card and of each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from gettext import NullTranslations

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import FIRST, NAMED, SEPARATOR, gist
from sayso.cards.outcomes import outcome_text
from sayso.cards.plain_text import OUTCOME_ICONS
from sayso.text.visible import on_one_line, shortened
from sayso_telegram.card.formatted import Look
from sayso_telegram.card.keyboard import yes_label
from sayso_telegram.card.pieces import Piece, line, moment, own, spread

_ASKER, _TOOL, _ABOUT = 60, 60, 120
# So much of a part is on a lock screen, of a dangerous one more: where that is may be its end.
_PART, _DANGEROUS = 40, 60


def ending(ended: Ended, translations: NullTranslations) -> Iterator[Piece]:
    """How it ended at a glance, by whom and when."""
    how = _outcome(ended, translations)
    if ended.who:
        yield from spread(
            translations.gettext("{outcome} by {who}"), outcome=how, who=line(ended.who, rank=2)
        )
    else:
        yield how
    if ended.went:
        yield own(f" · {ended.went}")
    if ended.note:
        yield own(" ")
        yield line(ended.note, rank=12)
    yield own(" · ")
    yield moment(ended.at, translations)


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


def reasons(
    ended: Ended, translations: NullTranslations, *, stored_rank: int
) -> Iterator[Iterator[Piece]]:
    """Why it ended so, and what was stored, a line each."""
    for label, value, rank, until in (
        (translations.gettext("Reason"), ended.reason, 5, None),
        (translations.gettext("Remembered"), ended.stored, stored_rank, ended.until),
    ):
        if value:
            until_text = translations.gettext("until")
            then = (own(f", {until_text} "), moment(until, translations)) if until else ()
            yield iter((own(f"{label} "), line(value, rank=rank), *then))


def second_step(choice: Choice, translations: NullTranslations, really: str) -> Iterator[Piece]:
    """What the card asks once more before it stores something."""
    yield own("\n\n")
    yield own(f"⚠️ {really}", Look.BOLD)
    yield own("\n")
    yield line(choice.stores, rank=0)
    if choice.warning:
        yield own("\n")
        yield from spread(
            translations.gettext("Note: {warning}"), warning=line(choice.warning, rank=6)
        )
    if choice.longer:
        return  # each button says for how long
    yield own("\n")
    yield from spread(
        translations.gettext("Press {button} to remember it."),
        button=line(yes_label(choice, translations), rank=2),
    )


def _outcome(ended: Ended, translations: NullTranslations) -> Piece:
    """How it ended; an outcome that is not one of ours is shown as anybody's words."""
    icon = OUTCOME_ICONS.get(ended.outcome)
    if icon is None:
        return line(ended.outcome, rank=1)
    word = outcome_text(translations, ended.outcome)
    return own(f"{icon} {word[:1].upper()}{word[1:]}", Look.BOLD)
