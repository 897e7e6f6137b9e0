"""The buttons under a card, and a button as callback data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from gettext import NullTranslations

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from sayso.cards import buttons
from sayso.cards.buttons import Button
from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, Choice, Ended, Style
from sayso.text.visible import visible
from sayso_telegram.formatted_text import count_units

# InlineKeyboardButton, callback_data: 1-64 bytes. `p1:` + 22 + `:!` + 20 takes 47.
_MOST_BYTES = 64
_PREFIX = "p1:"
_HANDLE = re.compile(r"[A-Za-z0-9_-]{16,39}", re.ASCII)


def button_data(button: Button) -> str:
    """The button as callback data.

    Raises:
        ValueError: Telegram or our own reader would not take it.
    """
    data = _PREFIX + buttons.button_data(button)
    size = len(data.encode())
    if size > _MOST_BYTES:
        raise ValueError(f"a button carries {size} bytes, Telegram allows {_MOST_BYTES}")
    if not _HANDLE.fullmatch(button.handle):
        raise ValueError("a button carries a handle of 16 to 39 URL-safe characters and a key")
    return data


def read_button(data: str) -> Button | None:
    """The button that callback data stands for; None when it is not one of ours."""
    if not data.startswith(_PREFIX):
        return None
    button = buttons.read_button(data.removeprefix(_PREFIX))
    return button if button is not None and _HANDLE.fullmatch(button.handle) else None


# Undocumented; what the servers take (PTB's constants.InlineKeyboardMarkupLimit).
_MOST_BUTTONS = 100
_A_ROW = 3
# Beside all else that a message cannot do without, 4,096 code units have room for this many.
MAX_STORED = 600
# Three labels of this length fit beside each other on a narrow phone.
_SHORT_LABEL = 10

# Colours repeat what the labels say: older clients do not show them.
_STYLES: dict[Style, str | None] = {
    "default": None,
    "primary": KeyboardButtonStyle.SUCCESS,
    "danger": KeyboardButtonStyle.DANGER,
}


def keyboard(card: Card) -> InlineKeyboardMarkup | None:
    """The buttons that the card offers now; None where there is nothing left to do.

    Raises:
        ValueError: Telegram would not take these buttons.
    """
    if isinstance(card.state, Ended):
        left = [_button(card.handle, choice) for choice in card.choices]
        return InlineKeyboardMarkup([left]) if left else None
    if (confirming := find_confirming(card)) is not None:
        return _second_step(card, confirming)
    more = find_storable(card.more)
    choices = find_storable(card.choices)
    if card.state.more:
        choices = (*more, card.step_back)
    elif more or (card.leads_on and card.body.digest):
        choices = (*choices, card.show_more)
    if len(choices) > _MOST_BUTTONS:
        raise ValueError(f"{len(choices)} buttons are too many: Telegram takes {_MOST_BUTTONS}")
    rows = [[_button(card.handle, choice) for choice in row] for row in _rows(choices)]
    return InlineKeyboardMarkup(rows) if rows else None


def find_confirming(card: Card, most: int = MAX_STORED) -> Choice | None:
    """The choice at its second step, where a message can say in full what it stores."""
    if isinstance(card.state, Ended) or card.state.confirming is None:
        return None
    return next(iter(find_storable((card.state.confirming,), most)), None)


def find_storable(choices: Sequence[Choice], most: int = MAX_STORED) -> tuple[Choice, ...]:
    """Return the choices whose rule can be shown in full, in so many code units."""
    return tuple(
        choice for choice in choices if count_units(visible(choice.stores, one_line=True)) <= most
    )


def _second_step(card: Card, choice: Choice) -> InlineKeyboardMarkup:
    """Telegram has no dialog to confirm in: the card itself asks once more."""
    sure = Button(card.handle, choice.key, confirmed=True)
    yes = make_button(confirm_label(choice, card.translations), sure, choice.style)
    longer = [[button] for button in make_longer_buttons(card.handle, choice)]
    return InlineKeyboardMarkup([[yes], *longer, [_button(card.handle, card.step_back)]])


def make_longer_buttons(
    handle: str, choice: Choice, number: str = ""
) -> Iterator[InlineKeyboardButton]:
    """The buttons of a second step that store the same for longer."""
    for one in choice.longer:
        sure = Button(handle, one.key, confirmed=True)
        yield make_button(f"{one.step}{number}", sure, one.style)


def confirm_label(choice: Choice, translations: NullTranslations) -> str:
    """The words on the button of a second step."""
    return choice.step or translations.gettext("Yes, {label}").format(label=choice.label)


def _rows(choices: Sequence[Choice]) -> Iterator[Sequence[Choice]]:
    """Short labels beside each other, long ones below each other, what leads on by itself."""
    alone = (SHOW_ALL.key, MORE.key, BACK.key)
    decisions = [choice for choice in choices if choice.key not in alone]
    width = _A_ROW if all(len(choice.label) <= _SHORT_LABEL for choice in decisions) else 1
    for start in range(0, len(decisions), width):
        yield decisions[start : start + width]
    yield from ([choice] for choice in choices if choice.key in alone)


def _button(handle: str, choice: Choice) -> InlineKeyboardButton:
    return make_button(choice.label, Button(handle, choice.key), choice.style)


def make_button(label: str, button: Button, style: Style) -> InlineKeyboardButton:
    """A button of ours with these words on it."""
    return InlineKeyboardButton(
        visible(label, one_line=True), callback_data=button_data(button), style=_STYLES[style]
    )
