"""The buttons under a message with several cards: a row for each, then those for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from sayso.cards.bundle import EACH, Bundle
from sayso.cards.buttons import Button
from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, Choice, Ended
from sayso_telegram.card.keyboard import (
    confirmed_choice,
    labelled,
    longer_buttons,
    sayable,
    yes_label,
)

# Undocumented; what the servers take (PTB's constants.InlineKeyboardMarkupLimit).
_MOST_BUTTONS = 100
# Beside all lines, a message has room for this many code units of what would be remembered.
MOST_STORED_IN_BUNDLE = 300

Row = list[InlineKeyboardButton]


def bundle_keyboard(cards: Sequence[Card]) -> InlineKeyboardMarkup | None:
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
    if (confirming := confirmed_choice(card, MOST_STORED_IN_BUNDLE)) is not None:
        sure = Button(card.handle, confirming.key, confirmed=True)
        yield [
            labelled(f"{yes_label(confirming, card.translations)} {number}", sure, confirming.style)
        ]
        for longer in longer_buttons(card.handle, confirming, f" {number}"):
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
    others, more = (list(sayable(some, MOST_STORED_IN_BUNDLE)) for some in (others, card.more))
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
    return labelled(label, Button(handle, choice.key), choice.style)
