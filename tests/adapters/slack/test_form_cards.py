"""A form's dialog and the card it is for: which one, and what closing the dialog does to it."""

from __future__ import annotations

import json
from dataclasses import replace

from support.slack_forms import FILL_IN, ORDER, WHERE, a_view, metadata
from support.slack_kit import Payload, a_card

from sayso_playground.slack.blocks import check_view
from sayso_slack.modal import form_modal


def words(view: Payload) -> str:
    return json.dumps(view, ensure_ascii=False)


def test_a_dialog_knows_its_card_and_nothing_secret() -> None:
    assert metadata(a_view()) == {
        "handle": "h4ndle",
        "choice": "order",
        "channel": "C0OPS",
        "message": "1700000000.000100",
        "thread": "1600000000.000001",
    }


def test_a_dialog_of_a_shared_card_says_which_call_it_is_for() -> None:
    card = replace(a_card(choices=(FILL_IN,)), number=3, count=8)

    view = a_view(card=card)

    first, asker = view["blocks"][:2]
    assert "Call 3 of 8 · bash · 0123456789ab" in words(first)
    assert "command: git status" in words(first)
    assert "Asked by deploy-bot › researcher" in words(asker)
    assert not check_view(view).errors


def test_a_dialog_of_a_card_that_stands_alone_says_its_digest() -> None:
    view = a_view()

    assert "deploy-bot › researcher asks: bash · 0123456789ab" in words(view)
    assert "Call 1" not in words(view)


def test_a_long_asker_leaves_room_for_which_call_it_is() -> None:
    card = a_card(asker="a" * 400, title="t" * 100, choices=(FILL_IN,))

    for shown in (card, replace(card, number=8, count=8)):
        view = a_view(card=shown)
        assert "0123456789ab" in words(view)
        assert "a" * 149 + "…" in words(view)
        assert "a" * 150 not in words(view)


def test_a_dialog_that_falls_back_is_told_of_when_it_is_closed() -> None:
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), ORDER, WHERE)

    assert not check_view(view).errors
    assert view["notify_on_close"] is True
    assert view["close"]["text"] == "Leave it out"
    assert metadata(view)["falls_back"] == "deny"
    assert "Closed without an answer, it counts at once." in words(view)


def test_a_form_may_say_itself_what_closing_it_means() -> None:
    form = replace(ORDER, leave_out="Without a reason", if_closed="Then it is denied at once.")
    view = form_modal(a_card(), replace(FILL_IN, falls_back="deny"), form, WHERE)

    assert view["close"]["text"] == "Without a reason"
    assert "Then it is denied at once." in words(view)
    assert "Closed without" not in words(view)


def test_any_other_dialog_is_closed_without_a_word() -> None:
    view = a_view()

    assert "notify_on_close" not in view
    assert view["close"]["text"] == "Cancel"
    assert "Closed without" not in words(view)
