"""The buttons under a card: their words, what they carry, and 64 bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import InlineKeyboardMarkup

from sayso.always.offers import ALWAYS
from sayso.cards.buttons import Button
from sayso.cards.card import BACK, REVOKE, SHOW_ALL, Card, Choice, Ended
from sayso.questions.permission import ALLOW, DENY
from sayso_telegram.batch_message import build_batch_keyboard
from sayso_telegram.keyboard import MAX_STORED, button_data, keyboard, read_button
from sayso_telegram.message_text import message

HANDLE = "HANDLEHANDLEHANDLE1234"
CardMaker = Callable[..., Card]


def rows(markup: InlineKeyboardMarkup | None) -> list[list[tuple[str, str]]]:
    assert markup is not None
    return [[(b.text, str(b.callback_data)) for b in row] for row in markup.inline_keyboard]


def test_a_permission_offers_allow_always_and_deny(a_card: CardMaker) -> None:
    assert rows(keyboard(a_card())) == [
        [
            ("Allow", f"p1:{HANDLE}:allow"),
            ("Always", f"p1:{HANDLE}:always"),
            ("Deny", f"p1:{HANDLE}:deny"),
        ],
        [("More…", f"p1:{HANDLE}:more")],
    ]


def test_a_cut_card_offers_to_deny_or_to_show_all(a_card: CardMaker) -> None:
    assert rows(keyboard(a_card(content="x" * 2_000))) == [
        [("Deny", f"p1:{HANDLE}:deny")],
        [("Show all", f"p1:{HANDLE}:show")],
        [("More…", f"p1:{HANDLE}:more")],
    ]


def test_the_second_step_offers_yes_and_back(a_card: CardMaker) -> None:
    card = a_card()

    assert rows(keyboard(card.confirming(card.body.choices[1]))) == [
        [("Yes, Always", f"p1:{HANDLE}:!always")],
        [("Back", f"p1:{HANDLE}:back")],
    ]


@pytest.mark.parametrize(("length", "offered"), [(MAX_STORED, True), (MAX_STORED + 1, False)])
def test_what_a_message_cannot_say_in_full_cannot_be_stored(
    a_card: CardMaker, length: int, offered: bool
) -> None:
    long = Choice("always", "Always", stores="s" * length)
    plain = a_card(choices=(Choice("allow", "Allow"), long), digest="")
    card = replace(plain, body=replace(plain.body, more=(replace(long, key="other"),)))

    shown = repr(rows(keyboard(card)))
    second = card.confirming(long)

    assert (":always'" in shown) is (":more'" in shown) is offered
    assert (":!always'" in repr(rows(keyboard(second)))) is offered
    assert ("s" * length in message(second).text) is offered
    assert ("Really?" in message(second).text) is offered


def test_an_ended_card_offers_its_details_and_then_the_way_back(a_card: CardMaker) -> None:
    ended = Ended("denied", datetime(2026, 1, 1, tzinfo=UTC))

    assert rows(keyboard(a_card(state=ended))) == [[("Details", f"p1:{HANDLE}:details")]]
    opened = a_card(state=replace(ended, details=True))
    assert rows(keyboard(opened)) == [[("Back", f"p1:{HANDLE}:shorter")]]
    elsewhere = a_card(state=replace(ended, outcome="superseded"))
    assert keyboard(elsewhere) is None


def test_colours_repeat_what_the_labels_say(a_card: CardMaker) -> None:
    markup = keyboard(a_card())

    assert markup is not None
    styles = [button.to_dict().get("style") for button in markup.inline_keyboard[0]]
    assert styles == ["success", None, "danger"]


def test_long_labels_stand_below_each_other(a_card: CardMaker) -> None:
    choices = (Choice("a", "Deploy to staging"), Choice("b", "No"))

    assert [len(row) for row in rows(keyboard(a_card(choices=choices, digest="")))] == [1, 1]


def test_a_card_without_choices_has_no_keyboard(a_card: CardMaker) -> None:
    assert keyboard(a_card(choices=())) is None


def test_more_buttons_than_telegram_takes_are_refused(a_card: CardMaker) -> None:
    choices = tuple(Choice(f"c{number}", "x") for number in range(101))

    with pytest.raises(ValueError, match="101 buttons are too many"):
        keyboard(a_card(choices=choices, digest=""))


def test_an_invisible_character_in_a_label_is_shown(a_card: CardMaker) -> None:
    markup = keyboard(a_card(choices=(Choice("a", "No\u202eseY"),)))

    assert rows(markup)[0][0][0] == "No⟨U+202E⟩seY"


@pytest.mark.parametrize("key", [ALLOW, ALWAYS, DENY, SHOW_ALL.key, BACK.key, "k" * 20])
@pytest.mark.parametrize("confirmed", [False, True])
def test_every_button_is_read_back_and_fits_64_bytes(key: str, confirmed: bool) -> None:
    button = Button(HANDLE, key, confirmed)

    data = button_data(button)

    assert len(data.encode()) <= 64
    assert read_button(data) == button


@pytest.mark.parametrize(
    ("handle", "key", "problem"),
    [
        ("h" * 41, "k" * 20, "65 bytes, Telegram allows 64"),
        ("é" * 16, "k" * 20, "URL-safe"),
        ("é" * 22, "k" * 20, "68 bytes"),
        ("short", "allow", "URL-safe"),
        ("h" * 22, "Allow", "a key"),
        ("h" * 22 + ":", "allow", "without spaces or colons"),
    ],
)
def test_a_button_that_would_not_arrive_is_refused_when_it_is_made(
    handle: str, key: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        button_data(Button(handle, key))


@pytest.mark.parametrize(
    "data",
    [
        "",
        "p1:",
        "approve_debate",
        f"p2:{HANDLE}:allow",
        f"p1:{HANDLE}:",
        f"p1:{HANDLE}:!",
        f"p1:{HANDLE}:!!always",
        f"p1:{HANDLE}:allow\n",
        f" p1:{HANDLE}:allow",
        f"p1:{HANDLE}:allow:deny",
        "p1:ＨＡＮＤＬＥＨＡＮＤＬＥＨＡＮＤＬＥ:allow",
    ],
)
def test_what_is_not_one_of_our_buttons_is_not_read(data: str) -> None:
    assert read_button(data) is None


@given(st.text(max_size=70))
def test_reading_a_button_never_raises(data: str) -> None:
    button = read_button(data)

    assert button is None or button_data(button) == data


@given(st.from_regex(re.compile(r"\Ap1:[A-Za-z0-9_-]{16,39}:!?[a-z][a-z0-9_-]{0,19}\Z", re.ASCII)))
def test_what_is_read_is_what_was_made(data: str) -> None:
    button = read_button(data)

    assert button is not None
    assert len(data.encode()) <= 64
    assert button_data(button) == data


def test_an_ended_card_that_stored_something_offers_to_revoke_it(a_card: CardMaker) -> None:
    ended = Ended("approved", datetime(2026, 3, 1, tzinfo=UTC), choices=(REVOKE,))
    card = replace(a_card(), state=ended)
    other = replace(a_card(), handle=f"{HANDLE}2", number=2)

    details = ("Details", f"p1:{HANDLE}:details")
    assert rows(keyboard(card)) == [[details, ("Revoke", f"p1:{HANDLE}:revoke")]]
    together = [replace(one, count=2) for one in (card, other)]
    assert rows(build_batch_keyboard(together))[0] == [
        ("Details 1", f"p1:{HANDLE}:details"),
        ("Revoke 1", f"p1:{HANDLE}:revoke"),
    ]
