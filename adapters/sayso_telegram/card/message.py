"""Cards as Telegram messages: what is asked, by whom, until when, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from gettext import NullTranslations

from sayso.cards.card import Card, Ended
from sayso.cards.gist import agent_name, tool_name
from sayso.cards.truncation import cut_notice
from sayso.text.visible import folded, format_count, on_one_line, visible
from sayso_telegram.card.formatted import Formatted, Look, Part, sound
from sayso_telegram.card.keyboard import confirmed_choice
from sayso_telegram.card.parts import ending, reasons, second_step, unsaid, what_it_was
from sayso_telegram.card.pieces import Piece, fitting, label, line, moment, own
from sayso_telegram.card.values import value_pieces

LINES = 20
"""Lines of a phone of 390 × 844 pixels beside the app's own bars, the heading and the buttons."""

# 1,000 characters and a description of 600 are at most 3,200 code units; own
# words take at most 400 and everything that may be cut is left at least 24 each.
CONTENT_LIMIT = 1_000
_MOST_FACTS, _FEW_FACTS = 12, 8
# Facts of the request give way first, then the answers, the last of them first.
_FACTS_RANK = 50
_ANSWERS_RANK = 10
_DETAILS_RANK = 2


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
    body = [*_body(card)]
    return fitting([*_heading(card, body), *body, *_footing(card)], card.translations)


def _heading(card: Card, body: Sequence[Piece]) -> Iterator[Piece]:
    if isinstance(card.state, Ended):
        yield from _outcome(card.state, card.translations, is_short=card.is_short)
        if card.is_short:
            yield from what_it_was(card)
        else:
            yield line(card.asker or "–", rank=4)
            yield own(" · ")
            yield line(card.body.title, rank=3)
        return
    title = card.body.title
    begins = [
        own("🔔 "),
        line(agent_name(card.asker), rank=4),
        own(" · "),
        line(tool_name(card.body.tool or title), rank=4),
    ]
    then = list(_title(card, title))
    yield from begins
    if first := unsaid(card, [*begins, *then, *body]):
        yield own("\n")
        yield line(first, rank=9)
    yield from then


def _title(card: Card, title: str) -> Iterator[Piece]:
    """What is asked, and whatever of the names has no room on the first line."""
    if card.body.question:
        yield own("\n")
        yield own(card.body.question, Look.BOLD)
    tool = card.body.tool or title
    rest = title.removesuffix(f" ({tool})") if tool_name(tool) == tool else title
    if on_one_line(rest) != tool_name(tool):
        yield own(" " if card.body.question else "\n")
        yield line(rest, rank=3)
    if card.asker != agent_name(card.asker):
        asked_by = card.translations.gettext("Asked by")
        yield own(f"\n{asked_by} ")
        yield line(card.asker, rank=4)


def _outcome(ended: Ended, translations: NullTranslations, *, is_short: bool) -> Iterator[Piece]:
    yield from ending(ended, translations)
    yield own("\n")
    for said in reasons(ended, translations, stored_rank=1):
        yield from said
        yield own("\n")
    if ended.facts:
        yield own(translations.gettext("The answer"), Look.BOLD)
        most = _FEW_FACTS if is_short else _MOST_FACTS
        yield from _facts(ended.facts, _ANSWERS_RANK, translations, most)
        yield own("\n")


def _body(card: Card) -> Iterator[Piece]:
    """What is decided on, right below its name; the agent's words on one line, with a label."""
    yield from value_pieces(card.on_screen.values)
    if card.description:
        yield own(f"\n{card.described} ")
        yield line(card.description, rank=1)
    if not card.is_short:
        yield from _facts(card.body.facts, _FACTS_RANK, card.translations)


def _facts(
    facts: Sequence[tuple[str, str]],
    rank: int,
    translations: NullTranslations,
    most: int = _MOST_FACTS,
) -> Iterator[Piece]:
    is_answer = rank == _ANSWERS_RANK
    for number, (name, value) in enumerate(facts[:most]):
        yield own("\n")
        # What an answer is called is the agent's word, and looks like it.
        yield (line if is_answer else label)(name, rank=rank + number)
        yield from _value(value, rank + number, in_block=is_answer and "\n" in value)
    if (left := len(facts) - most) > 0:
        if is_answer:
            more = format_count(
                translations, "… and {count} more answer", "… and {count} more answers", left
            )
        else:
            more = format_count(
                translations, "… and {count} more fact", "… and {count} more facts", left
            )
        yield own(f"\n{more}")


def _value(value: str, rank: int, *, in_block: bool) -> Iterator[Piece]:
    """What stands behind a label, or below it with lines of its own."""
    if in_block:
        yield own("\n")
        yield Piece(Part(sound(folded(visible(value))), Look.BLOCK), rank)
    else:
        yield own(" ")
        yield line(value, rank=rank)


def _footing(card: Card) -> Iterator[Piece]:
    if notice := cut_notice(card):
        yield own(f"\n✂️ {notice[:1].upper()}{notice[1:]}", Look.BOLD)
    if card.shows_details:
        for name, value in card.details:
            yield own("\n")
            yield label(name, rank=_DETAILS_RANK)
            yield own(" ")
            yield line(value, rank=_DETAILS_RANK)
    if isinstance(card.state, Ended):
        return
    expires = card.translations.gettext("Expires")
    yield own(f"\n{expires} ")
    yield moment(card.expires_at, card.translations)
    if card.state.notice:
        yield own("\n✍️ ")
        yield line(card.state.notice, rank=7)
    if card.state.more and any(choice.stores for choice in card.more):
        said_before = card.translations.gettext(
            "You will see what would be remembered before it is stored."
        )
        yield own(f"\n\n{said_before}")
    if danger := card.danger():
        yield own(f"\n⚠️ {danger}", Look.BOLD)
    if (confirming := confirmed_choice(card)) is not None:
        yield from second_step(
            confirming,
            card.translations,
            card.translations.gettext("Really? This would be remembered:"),
        )
