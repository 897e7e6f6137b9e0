"""Cards as Telegram messages: what is asked, by whom, until when, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from assent.cards import Card, Choice, Ended
from assent.text import visible
from assent_telegram.formatted import PLAIN_EXTRA, Formatted, Look, Part, fitted, sound, units
from assent_telegram.keyboard import confirmed_choice, yes_label

# sendMessage, text: 1-4096 characters after entities parsing. Telegram does not
# say which characters; UTF-16 code units are the strictest reading.
MOST_UNITS = 4096
# 1,000 characters and a description of 600 are at most 3,200 code units; own
# words take at most 400 and everything that may be cut is left at least 24 each.
CONTENT_LIMIT = 1_000
_LEAST_UNITS = 24
_MOST_FACTS = 12

_OUTCOMES = {
    "approved": "✅ Approved",
    "denied": "⛔ Denied",
    "expired": "⌛ Expired",
    "cancelled": "🚫 Cancelled",
    "undeliverable": "📭 Undeliverable",
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part that gives way when the message is too long; those with the highest rank first."""

    part: Part
    rank: int = 0


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
    pieces = [*_heading(card), *_body(card), *_footing(card)]
    return Formatted(tuple(piece.part for piece in _fitting(pieces)))


def _heading(card: Card) -> Iterator[_Piece]:
    if isinstance(card.state, Ended):
        yield from _outcome(card.state)
    elif card.body.question:
        yield _own("🔔 ")
        yield _own(card.body.question, Look.BOLD)
        yield _own("\n")
    yield _line(card.body.title, rank=3)


def _outcome(ended: Ended) -> Iterator[_Piece]:
    words = _OUTCOMES.get(ended.outcome)
    yield _own(words, Look.BOLD) if words else _line(ended.outcome, rank=1)
    if ended.who:
        yield _own(" by ")
        yield _line(ended.who, rank=2)
    yield _own(f" · {_time(ended.at)}\n")
    for label, value, rank in (("Reason", ended.reason, 5), ("Remembered", ended.stored, 1)):
        if value:
            yield _own(f"{label} ")
            yield _line(value, rank=rank)
            yield _own("\n")


def _body(card: Card) -> Iterator[_Piece]:
    """What is decided on, right below its name; the agent's words on one line, with a label."""
    if card.content:
        yield _own("\n")
        yield _Piece(Part(sound(card.content), Look.BLOCK))
    if card.description:
        yield _own("\nReason given ")
        yield _line(card.description, rank=1)
    if card.asker:
        yield _own("\nAsked by ")
        yield _line(card.asker, rank=4)
    facts = card.body.facts
    for number, (label, value) in enumerate(facts[:_MOST_FACTS]):
        yield _own("\n")
        yield _line(label, rank=10 + number)
        yield _own(" ")
        yield _line(value, rank=10 + number)
    if len(facts) > _MOST_FACTS:
        yield _own(f"\n… and {len(facts) - _MOST_FACTS} more facts")


def _footing(card: Card) -> Iterator[_Piece]:
    if card.cut_notice:
        yield _own(f"\n✂️ {card.cut_notice[:1].upper()}{card.cut_notice[1:]}", Look.BOLD)
    if card.body.digest:
        yield _own("\nDigest ")
        yield _line(card.body.digest, rank=2)
    if isinstance(card.state, Ended):
        return
    yield _own(f"\nExpires {_time(card.expires_at)}")
    if card.state.more:
        yield _own("\n\nEach of these says what it would remember before it does.")
    if (confirming := confirmed_choice(card)) is not None:
        yield from _question(confirming)


def _question(choice: Choice) -> Iterator[_Piece]:
    yield _own("\n\n⚠️ Really? This would be remembered:", Look.BOLD)
    yield _own("\n")
    yield _line(choice.stores, rank=0)
    if choice.warning:
        yield _own("\nNote: ")
        yield _line(choice.warning, rank=6)
    yield _own("\nPress ")
    yield _line(yes_label(choice), rank=2)
    yield _own(" to remember it.")


def _fitting(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces cut to fit, the least important ones first, each to a readable rest."""
    over = sum(units(piece.part.text) for piece in pieces) + PLAIN_EXTRA - MOST_UNITS
    for index in sorted(range(len(pieces)), key=lambda index: -pieces[index].rank):
        piece = pieces[index]
        if over <= 0 or piece.rank == 0:
            break
        length = units(piece.part.text)
        shorter = fitted(piece.part.text, max(_LEAST_UNITS, length - over))
        over -= length - units(shorter)
        pieces[index] = replace(piece, part=replace(piece.part, text=shorter))
    if over > 0:
        raise ValueError(f"the card is {over} UTF-16 code units too long for Telegram")
    return pieces


def _own(words: str, look: Look = Look.PLAIN) -> _Piece:
    return _Piece(Part(words, look))


def _line(text: str, *, rank: int) -> _Piece:
    return _Piece(Part(sound(visible(text, one_line=True)), Look.CODE), rank)


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
