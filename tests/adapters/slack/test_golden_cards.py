"""Every state of a card in Slack, to the letter: blocks and the text of notifications."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.card_states import ALONE, TOGETHER
from support.golden import check_golden, see_that_all_are_used

from sayso_playground.slack.blocks import check_blocks
from sayso_slack.batch_blocks import message
from sayso_slack.modal import everything_modal

GOLDEN = Path(__file__).parent / "golden"
STATES = {name: (card,) for name, card in ALONE.items()} | TOGETHER


@pytest.mark.parametrize("state", STATES)
def test_a_card_in_this_state_is_shown_so(state: str) -> None:
    shown = message(STATES[state])

    assert not check_blocks(shown["blocks"]).errors
    check_golden(GOLDEN / f"{state}.json", shown)


def test_everything_is_shown_so() -> None:
    check_golden(GOLDEN / "everything.json", everything_modal(ALONE["cut"]))


def test_no_golden_file_is_left_over() -> None:
    see_that_all_are_used(GOLDEN, {*STATES, "everything"})
