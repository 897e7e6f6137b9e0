"""Every state of a card in Telegram, to the letter: text, entities and buttons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.card_states import ALONE, TOGETHER
from support.golden import check_golden, see_that_all_are_used

from sayso.cards.card import Card
from sayso_telegram.batch_message import build_batch_keyboard, build_batch_message
from sayso_telegram.keyboard import keyboard
from sayso_telegram.message_text import message

GOLDEN = Path(__file__).parent / "golden"
STATES = {name: (card,) for name, card in ALONE.items()} | TOGETHER


def shown(cards: tuple[Card, ...]) -> dict[str, Any]:
    alone = len(cards) == 1
    text = message(cards[0]) if alone else build_batch_message(cards)
    buttons = keyboard(cards[0]) if alone else build_batch_keyboard(cards)
    return {
        "text": text.text,
        "entities": [entity.to_dict() for entity in text.entities],
        "without_entities": text.without_entities,
        "buttons": buttons and buttons.to_dict(),
    }


@pytest.mark.parametrize("state", STATES)
def test_a_card_in_this_state_is_shown_so(state: str) -> None:
    check_golden(GOLDEN / f"{state}.json", shown(STATES[state]))


def test_no_golden_file_is_left_over() -> None:
    see_that_all_are_used(GOLDEN, set(STATES))
