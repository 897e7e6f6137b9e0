"""The buttons under a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from gettext import NullTranslations

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from sayso.cards.buttons import Button
from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, Choice, Ended, Style
from sayso.text.visible import visible
from sayso_telegram.card.formatted import units
from sayso_telegram.reading.buttons import button_data

# Undocumented; what the servers take (PTB's constants.InlineKeyboardMarkupLimit).
_MOST_BUTTONS = 100
_A_ROW = 3
# Beside all else that a message cannot do without, 4,096 code units have room for this many.
MOST_STORED = 600
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
    if (confirming := confirmed_choice(card)) is not None:
        return _second_step(card, confirming)
    more = sayable(card.more)
    choices = sayable(card.choices)
    if card.state.more:
        choices = (*more, card.step_back)
    elif more or (card.leads_on and card.body.digest):
        choices = (*choices, card.show_more)
    if len(choices) > _MOST_BUTTONS:
        raise ValueError(f"{len(choices)} buttons are too many: Telegram takes {_MOST_BUTTONS}")
    rows = [[_button(card.handle, choice) for choice in row] for row in _rows(choices)]
    return InlineKeyboardMarkup(rows) if rows else None


def confirmed_choice(card: Card, most: int = MOST_STORED) -> Choice | None:
    """The choice at its second step, where a message can say in full what it stores."""
    if isinstance(card.state, Ended) or card.state.confirming is None:
        return None
    return next(iter(sayable((card.state.confirming,), most)), None)


def sayable(choices: Sequence[Choice], most: int = MOST_STORED) -> tuple[Choice, ...]:
    """What cannot be said in full, in so many code units, cannot be stored."""
    return tuple(
        choice for choice in choices if units(visible(choice.stores, one_line=True)) <= most
    )


def _second_step(card: Card, choice: Choice) -> InlineKeyboardMarkup:
    """Telegram has no dialog to confirm in: the card itself asks once more."""
    sure = Button(card.handle, choice.key, confirmed=True)
    yes = labelled(yes_label(choice, card.translations), sure, choice.style)
    longer = [[button] for button in longer_buttons(card.handle, choice)]
    return InlineKeyboardMarkup([[yes], *longer, [_button(card.handle, card.step_back)]])


def longer_buttons(handle: str, choice: Choice, number: str = "") -> Iterator[InlineKeyboardButton]:
    """The buttons of a second step that store the same for longer."""
    for one in choice.longer:
        sure = Button(handle, one.key, confirmed=True)
        yield labelled(f"{one.step}{number}", sure, one.style)


def yes_label(choice: Choice, translations: NullTranslations) -> str:
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
    return labelled(choice.label, Button(handle, choice.key), choice.style)


def labelled(label: str, button: Button, style: Style) -> InlineKeyboardButton:
    """A button of ours with these words on it."""
    return InlineKeyboardButton(
        visible(label, one_line=True), callback_data=button_data(button), style=_STYLES[style]
    )
