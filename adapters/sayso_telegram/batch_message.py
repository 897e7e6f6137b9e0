"""Several cards as one message: a numbered line and a row of buttons for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from sayso.cards.bundle import EACH, MOST_IN_BUNDLE, Bundle
from sayso.cards.buttons import Button
from sayso.cards.card import (
    BACK,
    DESCRIPTION_LIMIT,
    MORE,
    SHOW_ALL,
    Card,
    CardBody,
    Choice,
    Ended,
    Open,
)
from sayso.cards.gist import agent_name, gravest, tool_name
from sayso.cards.truncation import Room
from sayso.text.visible import format_count, on_one_line, visible
from sayso_telegram.formatted_text import (
    Formatted,
    Look,
    Part,
    Piece,
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
from sayso_telegram.keyboard import (
    confirm_label,
    find_confirming,
    find_storable,
    make_button,
    make_longer_buttons,
)
from sayso_telegram.message_text import (
    CONTENT_LIMIT,
    LINES,
    confirmation_pieces,
    ending_pieces,
    find_unsaid,
    reason_pieces,
    request_pieces,
)

# Undocumented; what the servers take (PTB's constants.InlineKeyboardMarkupLimit).
_MOST_BUTTONS = 100
# Beside all lines, a message has room for this many code units of what would be remembered.
MAX_STORED_IN_BATCH = 300

Row = list[InlineKeyboardButton]


def build_batch_keyboard(cards: Sequence[Card]) -> InlineKeyboardMarkup | None:
    """The buttons that these cards offer now; None where there is nothing left to do.

    Raises:
        ValueError: Telegram would not take these buttons.
    """
    bundle = Bundle(tuple(cards))
    rows = [row for number, card in enumerate(cards, 1) for row in _rows(number, card)]
    if bundle.choices:
        rows.append([_button(bundle.handle, choice, choice.label) for choice in bundle.choices])
    count = sum(map(len, rows))
    if count > _MOST_BUTTONS:
        raise ValueError(f"{count} buttons are too many: Telegram takes {_MOST_BUTTONS}")
    return InlineKeyboardMarkup(rows) if rows else None


def _rows(number: int, card: Card) -> Iterator[Row]:
    if isinstance(card.state, Ended):
        if row := [_button(card.handle, one, f"{one.label} {number}") for one in card.choices]:
            yield row
        return
    if (confirming := find_confirming(card, MAX_STORED_IN_BATCH)) is not None:
        sure = Button(card.handle, confirming.key, confirmed=True)
        yield [
            make_button(
                f"{confirm_label(confirming, card.translations)} {number}", sure, confirming.style
            )
        ]
        for longer in make_longer_buttons(card.handle, confirming, f" {number}"):
            yield [longer]
        back = card.translations.gettext("Back")
        yield [_button(card.handle, BACK, f"{back} {number}")]
        return
    direct = (*EACH.values(), SHOW_ALL.key)
    row = [
        _button(card.handle, choice, f"{choice.label} {number}")
        for choice in card.choices
        if choice.key in direct
    ]
    others = [choice for choice in card.choices if choice.key not in direct]
    others, more = (list(find_storable(some, MAX_STORED_IN_BATCH)) for some in (others, card.more))
    if (more or (card.leads_on and card.body.digest)) and not card.state.more:
        more_text = card.translations.gettext("More…")
        yield [*row, _button(card.handle, MORE, f"{more_text} {number}")]
        return
    yield row
    yield from (
        [_button(card.handle, choice, f"{choice.label} {number}")] for choice in (*others, *more)
    )
    if card.state.more:
        back = card.translations.gettext("Back")
        yield [_button(card.handle, BACK, f"{back} {number}")]


def _button(handle: str, choice: Choice, label: str) -> InlineKeyboardButton:
    return make_button(label, Button(handle, choice.key), choice.style)


# Of 4,096 code units, 50 are kept back by `fitting`; 860 are for what is said once, the second
# step of one line among it; each line takes 212 beside its content and its description. A line
# that is decided says more, and then its description gives way.
_FOR_LINES = 3_180
_BESIDE = 212
_TITLE = 64
_LEAST_LINES = 3
_COMMON_FACTS = 3
_OWN_FACTS = 2
_ANSWERS = 2
_DANGERS, _BESIDE_DANGERS = 2, 40
# Telegram takes 100 entities: these are at most 11 a line and 12 besides.


@dataclass(frozen=True, slots=True)
class Listing(Formatted):
    """A message whose long texts stay on their lines, even when Telegram refuses its entities."""

    @property
    def without_entities(self) -> str:
        """The same words in the same order, each text of an agent's on one line."""
        return "".join(_plain(part) for part in self.parts)


def _plain(part: Part) -> str:
    if part.look is Look.BLOCK:
        part = Part(part.text.replace("\n", "⏎"), Look.CODE)
    return Formatted((part._replace(is_value=False),)).without_entities


def batch_capacity(body: CardBody, count: int) -> Room | None:
    """The room for this card in a message with so many; None: it must stand alone."""
    if (
        count > MOST_IN_BUNDLE
        or count_units(replace_surrogates(visible(body.title, one_line=True))) > _TITLE
    ):
        return None
    left = _FOR_LINES // count - _BESIDE
    if body.dangers:
        left -= _BESIDE_DANGERS + sum(map(count_units, body.dangers[:_DANGERS]))
    content, description = (
        replace_surrogates(body.content),
        replace_surrogates(on_one_line(body.description)),
    )
    for_description = max(left - count_units(content), left // 3)
    said = min(_first(description, for_description), DESCRIPTION_LIMIT)
    left -= count_units(description[:said])
    room = min(_first(content, left), CONTENT_LIMIT)
    # All buttons stand below all lines: together they are one screen.
    return Room(room, said, MAX_STORED_IN_BATCH, lines=max(LINES // count, _LEAST_LINES))


def _first(text: str, most: int) -> int:
    """Count the characters from the beginning of the text that fit into so many code units."""
    if count_units(text) <= most:
        return len(text)
    return max(len(truncate(text, most)) - 1, 0)


def build_batch_message(cards: Sequence[Card]) -> Formatted:
    """The cards as they are now, at most 4,096 UTF-16 code units long.

    What a person still decides on is never cut here, as on a single card.

    Raises:
        ValueError: the cards hold more than Telegram takes.
    """
    bundle = Bundle(tuple(cards))
    heading, lines = [*_heading(bundle)], list[Piece]()
    for number, card in enumerate(bundle.cards, 1):
        lines += _line(bundle, number, card)
    pieces = [*heading, *_alert(bundle, [*heading, *lines]), *lines]
    return Listing(fit_pieces([*pieces, *_footing(bundle)], bundle.translations).parts)


def _heading(bundle: Bundle) -> Iterator[Piece]:
    yield own("🔔 " if bundle.waiting else "")
    if bundle.agent:
        yield line(agent_name(bundle.agent), rank=4)
        yield own(" · ")
    yield own(bundle.title, Look.BOLD)


def _alert(bundle: Bundle, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The gravest of those that wait, where the first lines do not tell of it."""
    card = gravest(bundle)
    if bundle.waiting and (first := find_unsaid(card, pieces)):
        number = bundle.cards.index(card) + 1
        yield own(f"\n{number}. ")
        yield line(tool_name(card.body.tool or card.body.title), rank=3)
        yield own(" ")
        yield line(first, rank=9)


def _common(bundle: Bundle) -> Iterator[Piece]:
    """The asker, where the first line has no room for all of it, and facts that hold for all."""
    if bundle.asker != agent_name(bundle.asker) and bundle.asker:
        asked_by = bundle.translations.gettext("Asked by")
        yield own(f"\n{asked_by} ")
        yield line(bundle.asker, rank=4)
    for name, value in bundle.facts[:_COMMON_FACTS]:
        yield from _fact(name, value, rank=50)
    yield from _more(len(bundle.facts) - _COMMON_FACTS, bundle.translations)


def _line(bundle: Bundle, number: int, card: Card) -> Iterator[Piece]:
    ended = card.state if isinstance(card.state, Ended) else None
    yield own("\n\n")
    yield own(f"{number}. ", Look.BOLD)
    if card.is_short:
        yield from request_pieces(card, with_asker=not bundle.asker)
    else:
        yield line(card.body.title, rank=3)
    if isinstance(card.state, Ended):
        yield from _outcome(card.state, card.translations)
    elif card.state.notice:
        yield own("\n✍️ ")
        yield line(card.state.notice, rank=7)
    yield from value_pieces(card.on_screen.values)
    if card.description:
        yield own(f"\n{card.described} ")
        yield line(card.description, rank=60 if ended else 1)
    if not card.is_short:
        facts = bundle.own_facts(card)
        is_open_wide = card.state.more if isinstance(card.state, Open) else card.state.details
        if is_open_wide:
            facts = (*facts[:_OWN_FACTS], *card.details)
        most = len(facts) if is_open_wide else _OWN_FACTS
        for name, value in facts[:most]:
            yield from _fact(name, value, rank=30)
        yield from _more(len(facts) - most, card.translations)
        if danger := card.danger(_DANGERS):
            yield own(f"\n⚠️ {danger}", Look.BOLD)
        if card.is_cut:
            yield own("\n")
            yield own(_cut(number, card), Look.BOLD)


def _fact(name: str, value: str, *, rank: int) -> Iterator[Piece]:
    """A fact with its label outside of what may be anybody's words."""
    yield own("\n")
    yield label(name, rank=rank)
    yield own(" ")
    yield line(value, rank=rank)


def _cut(number: int, card: Card) -> str:
    text = card.translations.gettext("Cut, and too long for this chat")
    if card.can_reveal:
        label = card.translations.gettext("Show all")
        text = card.translations.gettext("Cut: see {show_all}")
        text = text.format(show_all=f"{label} {number}")
    return f"✂️ {text}"


def _outcome(ended: Ended, translations: NullTranslations) -> Iterator[Piece]:
    yield own("\n")
    yield from ending_pieces(ended, translations)
    for said in reason_pieces(ended, translations, stored_rank=5):
        yield own("\n")
        yield from said
    for name, value in ended.facts[:_ANSWERS]:
        yield own("\n")
        yield line(f"{name}: {value}", rank=10)
    yield from _more(len(ended.facts) - _ANSWERS, translations)


def _more(count: int, translations: NullTranslations) -> Iterator[Piece]:
    """The number of facts that there is no room for."""
    if count > 0:
        more_left = format_count(
            translations, "{count} more not shown", "{count} more not shown", count
        )
        yield own(f"\n{more_left}")


def _footing(bundle: Bundle) -> Iterator[Piece]:
    translations = bundle.translations
    if common := [*_common(bundle)]:
        yield own("\n")
        yield from common
    if bundle.notice:
        yield own(f"\n\n✂️ {bundle.notice}")
    if bundle.expires:
        first, last = bundle.expires
        expires = translations.gettext("Expires")
        yield own(f"\n\n{expires} ")
        if (last - first).total_seconds() >= 60:
            both = translations.gettext("{first}, the last one {last}")
            yield from fill_template(
                both, first=moment(first, translations), last=moment(last, translations)
            )
        else:
            yield moment(first, translations)
    for number, card in enumerate(bundle.cards, 1):
        if (choice := find_confirming(card, MAX_STORED_IN_BATCH)) is not None:
            really = card.translations.gettext(
                "Really? For {number} this would be remembered:"
            ).format(number=number)
            yield from confirmation_pieces(choice, card.translations, really)
