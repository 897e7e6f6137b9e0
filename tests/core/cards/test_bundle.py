"""What a message with several cards says of all of them."""

from __future__ import annotations

from dataclasses import replace

from sayso.cards.bundle import Bundle
from sayso.cards.card import Card, CardBody, Ended
from sayso.cards.outcomes import SUPERSEDED
from sayso.clock import utc_now


def a_card(outcome: str = "") -> Card:
    card = Card("h", CardBody("bash"), "deploy-bot", utc_now(), 2_000, 50_000)
    return replace(card, state=Ended(outcome, utc_now())) if outcome else card


def test_the_title_says_how_many_wait() -> None:
    assert Bundle((a_card(), a_card())).title == "2 calls are waiting"
    assert Bundle((a_card(), a_card("denied"))).title == "1 of 2 calls is waiting"
    assert Bundle((a_card("approved"), a_card("denied"))).title == "All 2 calls are decided"


def test_a_message_that_another_one_stands_for_says_so_and_not_that_all_is_decided() -> None:
    closed = Bundle((a_card(SUPERSEDED), a_card("denied")))

    assert closed.title == "Shown in another message here"
    assert closed.choices == ()
    assert Bundle((a_card(SUPERSEDED), a_card())).title == "1 of 2 calls is waiting"
