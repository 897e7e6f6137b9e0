"""The text of a message with one card, and what messages with several share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from gettext import NullTranslations

from sayso.cards.called import Called
from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import FIRST, NAMED, SEPARATOR, agent_name, gist, tool_name
from sayso.cards.outcomes import outcome_text
from sayso.cards.plain_text import OUTCOME_ICONS
from sayso.cards.truncation import cut_notice
from sayso.text.visible import folded, format_count, on_one_line, shortened, visible
from sayso_telegram.formatted_text import (
    MAX_UNITS,
    Formatted,
    Look,
    Part,
    Piece,
    count_plain_extra,
    count_units,
    fill_template,
    fit_pieces,
    label,
    line,
    moment,
    own,
    replace_surrogates,
    truncate,
    value_pieces,
)
from sayso_telegram.keyboard import confirm_label, find_confirming

_ASKER, _TOOL, _ABOUT = 60, 60, 120
# So much of a part is on a lock screen, of a dangerous one more: where that is may be its end.
_PART, _DANGEROUS = 40, 60


def ending_pieces(ended: Ended, translations: NullTranslations) -> Iterator[Piece]:
    """The outcome at a glance, by whom and when."""
    how = _outcome_piece(ended, translations)
    if ended.who:
        yield from fill_template(
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


def request_pieces(card: Card, *, with_asker: bool = True) -> Iterator[Piece]:
    """The asker, the tool and the point of it: a line of an ended card."""
    if with_asker:
        yield line(shortened(card.asker, _ASKER) or "–", rank=4)
        yield own(" · ")
    yield line(shortened(card.body.tool or card.body.title, _TOOL), rank=3)
    if about := gist(card.body):
        yield own(" ")
        yield line(shortened(about, _ABOUT), rank=8)


def find_unsaid(card: Card, pieces: Sequence[Piece]) -> str:
    """Return the point of the card, where these pieces do not say it on a lock screen.

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


def reason_pieces(
    ended: Ended, translations: NullTranslations, *, stored_rank: int
) -> Iterator[Iterator[Piece]]:
    """Why it ended so, and what was stored, a line each."""
    for name, value, rank, until in (
        (translations.gettext("Reason"), ended.reason, 5, None),
        (translations.gettext("Remembered"), ended.stored, stored_rank, ended.until),
    ):
        if value:
            until_text = translations.gettext("until")
            then = (own(f", {until_text} "), moment(until, translations)) if until else ()
            yield iter((own(f"{name} "), line(value, rank=rank), *then))


def confirmation_pieces(
    choice: Choice, translations: NullTranslations, really: str
) -> Iterator[Piece]:
    """The question that the card asks once more before it stores something."""
    yield own("\n\n")
    yield own(f"⚠️ {really}", Look.BOLD)
    yield own("\n")
    yield line(choice.stores, rank=0)
    if choice.warning:
        yield own("\n")
        yield from fill_template(
            translations.gettext("Note: {warning}"), warning=line(choice.warning, rank=6)
        )
    if choice.longer:
        return  # each button says for how long
    yield own("\n")
    yield from fill_template(
        translations.gettext("Press {button} to remember it."),
        button=line(confirm_label(choice, translations), rank=2),
    )


def _outcome_piece(ended: Ended, translations: NullTranslations) -> Piece:
    """The outcome; one that is not ours is shown as anybody's words."""
    icon = OUTCOME_ICONS.get(ended.outcome)
    if icon is None:
        return line(ended.outcome, rank=1)
    word = outcome_text(translations, ended.outcome)
    return own(f"{icon} {word[:1].upper()}{word[1:]}", Look.BOLD)


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
    return fit_pieces([*_heading(card, body), *body, *_footing(card)], card.translations)


def _heading(card: Card, body: Sequence[Piece]) -> Iterator[Piece]:
    if isinstance(card.state, Ended):
        yield from _outcome(card.state, card.translations, is_short=card.is_short)
        if card.is_short:
            yield from request_pieces(card)
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
    if first := find_unsaid(card, [*begins, *then, *body]):
        yield own("\n")
        yield line(first, rank=9)
    yield from then


def _title(card: Card, title: str) -> Iterator[Piece]:
    """The question, and the part of the names that has no room on the first line."""
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
    yield from ending_pieces(ended, translations)
    yield own("\n")
    for said in reason_pieces(ended, translations, stored_rank=1):
        yield from said
        yield own("\n")
    if ended.facts:
        yield own(translations.gettext("The answer"), Look.BOLD)
        most = _FEW_FACTS if is_short else _MOST_FACTS
        yield from _facts(ended.facts, _ANSWERS_RANK, translations, most)
        yield own("\n")


def _body(card: Card) -> Iterator[Piece]:
    """The values to decide on, below their name; the agent's words on one line, with a label."""
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
    """The value behind a label, or below it with lines of its own."""
    if in_block:
        yield own("\n")
        yield Piece(Part(replace_surrogates(folded(visible(value))), Look.BLOCK), rank)
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
    if (confirming := find_confirming(card)) is not None:
        yield from confirmation_pieces(
            confirming,
            card.translations,
            card.translations.gettext("Really? This would be remembered:"),
        )


_NAME_UNITS = 24
# Telegram takes 100 entities in a message; cards keep to fewer than 95.
_MOST = 5


def add_mentions(text: Formatted, cards: Sequence[Card]) -> Formatted:
    """The message with a last line that calls people, as many as there is room for."""
    people = list({one.actor: one for card in cards for one in card.call.people}.values())
    lead = next((card.call.lead for card in cards if card.call.people), "")
    line = [Part(f"\n👋 {lead}"), *mention_parts(people)] if people else []
    # Cards of one message went one way: what is said of the first is said of all.
    if note := next((card.call.note for card in cards if card.call.note), ""):
        line.append(Part(f"\n🌙 {note}"))
    if not line:
        return text
    room = MAX_UNITS - count_units(text.text) - count_plain_extra(text.parts, text.from_agent)
    kept: list[Part] = []
    for part in line:
        room -= count_units(part.text)
        if room < 0:
            break
        kept.append(part)
    if people and all(part.look is not Look.MENTION for part in kept):
        return text
    return replace(text, parts=(*text.parts, *kept))


def mention_parts(people: Sequence[Called]) -> Iterator[Part]:
    """Each of them, with a space before: by the account's number, under our name for it."""
    for one in people[:_MOST]:
        account = one.actor.partition(":")[2]
        if account.isascii() and account.isdecimal():
            yield Part(" ")
            name = truncate(replace_surrogates(one.name or account), _NAME_UNITS)
            yield Part(name, Look.MENTION, int(account))
