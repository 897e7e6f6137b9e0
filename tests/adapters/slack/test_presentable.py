"""What a message can hold of a card: all of it as it is, or a copy that is cut to fit."""

from dataclasses import replace

from support.card_states import ALONE

from sayso.values import Value
from sayso_slack.limits import fit_card


def test_a_card_that_can_be_shown_as_it_is_is_not_worked_out_again() -> None:
    card = ALONE["open"]

    assert fit_card(card) is card


def test_what_cannot_be_shown_as_it_is_is_shown_on_a_copy() -> None:
    card = ALONE["open"]
    body = replace(card.body, values=(Value("command", "ls \u202e", "shell"),))

    shown = fit_card(replace(card, body=body, asker="a" * 400))

    assert shown.body.values[0].text == "ls ⟨U+202E⟩"
    assert len(shown.asker) == 300
    assert (card.body.values[0].text, body.values[0].text) == ("git status", "ls \u202e")
