"""Cards as Telegram messages: what is asked, by whom, until when, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sayso.cards.card import Card, Choice, Ended
from sayso.cards.plain import OUTCOME_ICONS
from sayso.text.visible import visible
from sayso_telegram.card.formatted import Formatted, Look, Part, sound
from sayso_telegram.card.keyboard import confirmed_choice, yes_label
from sayso_telegram.card.pieces import Piece, fitting, line, own

# 1,000 characters and a description of 600 are at most 3,200 code units; own
# words take at most 400 and everything that may be cut is left at least 24 each.
CONTENT_LIMIT = 1_000
_MOST_FACTS = 12
# Facts of the request give way first, then the answers, the last of them first.
_FACTS_RANK = 50
_ANSWERS_RANK = 10


def message(card: Card) -> Formatted:
    """The card as it is now, at most 4,096 UTF-16 code units long.

    What a person decides on is never cut here: the card has cut it already
    and says so. Everything that came from an agent is code and therefore
    neither a mention, a link, a tag nor a command.

    Raises:
        ValueError: the card holds more than Telegram takes.
    """
    if card.limit > CONTENT_LIMIT:
        raise ValueError(f"a card for Telegram shows at most {CONTENT_LIMIT} characters of content")
    return fitting([*_heading(card), *_body(card), *_footing(card)])


def _heading(card: Card) -> Iterator[Piece]:
    if isinstance(card.state, Ended):
        yield from _outcome(card.state)
    elif card.body.question:
        yield own("🔔 ")
        yield own(card.body.question, Look.BOLD)
        yield own("\n")
    yield line(card.body.title, rank=3)


def outcome(ended: Ended) -> Piece:
    """How it ended, at a glance; an outcome that is not one of ours is shown as anybody's words."""
    icon = OUTCOME_ICONS.get(ended.outcome)
    if icon is None:
        return line(ended.outcome, rank=1)
    return own(f"{icon} {ended.outcome.capitalize()}", Look.BOLD)


def _outcome(ended: Ended) -> Iterator[Piece]:
    yield outcome(ended)
    if ended.who:
        yield own(" by ")
        yield line(ended.who, rank=2)
    yield own(f" · {time_text(ended.at)}\n")
    for label, value, rank in (("Reason", ended.reason, 5), ("Remembered", ended.stored, 1)):
        if value:
            yield own(f"{label} ")
            yield line(value, rank=rank)
            yield own("\n")
    if ended.facts:
        yield own("The answer", Look.BOLD)
        yield from _facts(ended.facts, _ANSWERS_RANK, "answers")
        yield own("\n")


def _body(card: Card) -> Iterator[Piece]:
    """What is decided on, right below its name; the agent's words on one line, with a label."""
    if card.content:
        yield own("\n")
        yield Piece(Part(sound(card.content), Look.BLOCK))
    if card.description:
        yield own(f"\n{card.described} ")
        yield line(card.description, rank=1)
    if card.asker:
        yield own(f"\n{card.words.asked_by} ")
        yield line(card.asker, rank=4)
    yield from _facts(card.body.facts, _FACTS_RANK, "facts")


def _facts(facts: Sequence[tuple[str, str]], rank: int, word: str) -> Iterator[Piece]:
    is_answer = rank == _ANSWERS_RANK
    for number, (label, value) in enumerate(facts[:_MOST_FACTS]):
        yield own("\n")
        yield line(label, rank=rank + number)
        yield from _value(value, rank + number, in_block=is_answer and "\n" in value)
    if len(facts) > _MOST_FACTS:
        yield own(f"\n… and {len(facts) - _MOST_FACTS} more {word}")


def _value(value: str, rank: int, *, in_block: bool) -> Iterator[Piece]:
    """What stands behind a label, or below it with lines of its own."""
    if in_block:
        yield own("\n")
        yield Piece(Part(sound(visible(value)), Look.BLOCK), rank)
    else:
        yield own(" ")
        yield line(value, rank=rank)


def _footing(card: Card) -> Iterator[Piece]:
    if card.cut_notice:
        yield own(f"\n✂️ {card.cut_notice[:1].upper()}{card.cut_notice[1:]}", Look.BOLD)
    if card.body.digest:
        yield own(f"\n{card.words.digest} ")
        yield line(card.body.digest, rank=2)
    if isinstance(card.state, Ended):
        return
    yield own(f"\n{card.words.expires} {time_text(card.expires_at)}")
    if card.state.notice:
        yield own("\n✍️ ")
        yield line(card.state.notice, rank=7)
    if card.state.more and any(choice.stores for choice in card.more):
        yield own("\n\nWhat would be remembered is said before it is.")
    if (confirming := confirmed_choice(card)) is not None:
        yield from question(confirming, "This would be remembered:")


def question(choice: Choice, what: str) -> Iterator[Piece]:
    """The second step of a choice that stores something: what, and which button says yes."""
    yield own(f"\n\n⚠️ Really? {what}", Look.BOLD)
    yield own("\n")
    yield line(choice.stores, rank=0)
    if choice.warning:
        yield own("\nNote: ")
        yield line(choice.warning, rank=6)
    yield own("\nPress ")
    yield line(yes_label(choice), rank=2)
    yield own(" to remember it.")


def time_text(moment: datetime) -> str:
    """A time in plain words, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
