"""Several calls as one Telegram message: what it shows, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from telegram import MessageEntity

from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.locales import NAMES, load_translations
from sayso.text.visible import visible
from sayso.values import one_value
from sayso_telegram.batch_message import batch_capacity, build_batch_keyboard, build_batch_message
from sayso_telegram.formatted_text import count_units

TOKEN = "4000000000:PLAYGROUND-token"
GROUP, OLD = -1001234567890, -300
NOW = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
ALLOW = Choice("allow", "Allow", "primary", needs_sight=True)
ALWAYS = Choice("always", "Always", stores="bash with exactly these arguments", needs_sight=True)
DENY = Choice("deny", "Deny", "danger")
MORE = tuple(Choice(f"more-{n}", f"More of {n}") for n in range(3))
BODY = CardBody(
    title="bash",
    values=one_value("command: make"),
    digest="0123456789ab",
    facts=(("Session", "s-42"),),
    choices=(ALLOW, ALWAYS, DENY),
    more=MORE,
)


def a_line(number: int, count: int = 3, *, state: Open | Ended | None = None, **body: Any) -> Card:
    """A card as the desk makes it for a message with so many."""
    if "content" in body:
        body["values"] = one_value(body.pop("content"))
    whole = replace(BODY, **{"title": f"tool-{number}", **body})
    room = batch_capacity(whole, count)
    assert room is not None
    return Card(
        handle=handle(number),
        body=whole,
        asker="deploy-bot › researcher",
        expires_at=datetime(2026, 11, 21, 12, 30, tzinfo=UTC),
        limit=room.content,
        reveal_limit=1_000_000,
        state=state or Open(),
        description_limit=room.description,
        lines=room.lines,
    )


def handle(number: int) -> str:
    return f"HANDLEHANDLEHANDLE-{number:03}"


def an_ending(outcome: str = "approved", **changes: Any) -> Ended:
    return Ended(**{"outcome": outcome, "at": NOW, "by": "alice", **changes})


def rows(*cards: Card) -> list[list[str]]:
    """The labels of the buttons, row by row."""
    shown = build_batch_keyboard(cards)
    return [[button.text for button in row] for row in shown.inline_keyboard] if shown else []


def data(*cards: Card) -> dict[str, object]:
    shown = build_batch_keyboard(cards)
    assert shown is not None
    return {button.text: button.callback_data for row in shown.inline_keyboard for button in row}


def text(*cards: Card) -> str:
    return build_batch_message(cards).text


def test_each_line_has_a_row_and_all_of_them_have_one_more() -> None:
    assert rows(a_line(1), a_line(2)) == [
        ["Allow 1", "Deny 1", "More… 1"],
        ["Allow 2", "Deny 2", "More… 2"],
        ["Allow all", "Deny all"],
    ]
    assert data(a_line(1), a_line(2))["Deny 2"] == f"p1:{handle(2)}:deny"
    assert data(a_line(1), a_line(2))["Allow all"] == f"p1:{handle(1)}:allow-all"


def test_it_says_how_many_wait_who_asks_and_what_each_of_them_is() -> None:
    assert text(a_line(1), a_line(2, description="Build it")) == (
        "🔔 deploy-bot › resear… · 2 calls are waiting\n\n"
        "1. tool-1\n"
        "command: make\n\n"
        "2. tool-2\n"
        "command: make\n"
        "Reason given Build it\n\n"
        "Asked by deploy-bot › researcher\n"
        "Session s-42\n\n"
        "Expires 2026-11-21 12:30 UTC"
    )


def test_facts_that_have_no_room_are_counted() -> None:
    common = tuple((f"Common {n}", "x") for n in range(5))
    own = tuple((f"Own {n}", "x") for n in range(4))
    answers = tuple((f"Answer {n}", "x") for n in range(3))

    shown = text(
        a_line(1, facts=common + own),
        a_line(2, facts=common),
        a_line(3, facts=common, state=an_ending("answered", facts=answers)),
    )

    assert "Common 2 x\n2 more not shown\n\nExpires" in shown
    assert "Own 1 x\n2 more not shown\n\n2. tool-2" in shown
    assert "Answer 1: x\n1 more not shown\n" in shown
    assert shown.count("more not shown") == 3


def test_a_decided_line_says_how_and_the_others_keep_their_buttons() -> None:
    denied = a_line(1, state=an_ending("denied", reason="too risky"))
    cards = (denied, a_line(2), a_line(3))

    assert rows(*cards) == [
        ["Details 1"],
        ["Allow 2", "Deny 2", "More… 2"],
        ["Allow 3", "Deny 3", "More… 3"],
        ["Allow all", "Deny all"],
    ]
    assert "🔔 deploy-bot › resear… · 2 of 3 calls are waiting" in text(*cards)
    assert "⛔ Denied by alice · 2026-11-21 12:00 UTC\nReason too risky\n" in text(*cards)


def test_when_one_waits_there_is_nothing_for_all_and_when_none_does_only_details() -> None:
    ended = a_line(1, state=an_ending())

    assert rows(ended, a_line(2)) == [["Details 1"], ["Allow 2", "Deny 2", "More… 2"]]
    assert rows(ended, ended) == [["Details 1"], ["Details 2"]]
    assert text(ended, ended).startswith("deploy-bot › resear… · All 2 calls are decided\n")


def test_a_line_that_is_cut_offers_show_all_and_holds_back_allow_all() -> None:
    cut = a_line(2, content="x" * 5_000)

    assert rows(a_line(1), cut)[1:] == [["Deny 2", "Show all 2", "More… 2"], ["Deny all"]]
    assert "✂️ Cut: see Show all 2" in text(a_line(1), cut)
    assert "Allow all is offered once everything was seen" in text(a_line(1), cut)
    seen = replace(cut, revealed=True)
    assert rows(a_line(1), seen)[1:] == [
        ["Allow 2", "Deny 2", "Show all 2", "More… 2"],
        ["Allow all", "Deny all"],
    ]


def test_a_line_that_is_opened_up_keeps_its_own_buttons_and_those_of_the_others() -> None:
    opened = a_line(1, state=Open(more=True))

    assert rows(opened, a_line(2)) == [
        ["Allow 1", "Deny 1"],
        ["Always 1"],
        ["More of 0 1"],
        ["More of 1 1"],
        ["More of 2 1"],
        ["Back 1"],
        ["Allow 2", "Deny 2", "More… 2"],
        ["Allow all", "Deny all"],
    ]


def test_the_second_step_says_what_would_be_remembered_and_keeps_the_other_lines() -> None:
    asked = a_line(1, state=Open(confirming=ALWAYS))

    assert rows(asked, a_line(2))[:3] == [
        ["Yes, Always 1"],
        ["Back 1"],
        ["Allow 2", "Deny 2", "More… 2"],
    ]
    assert data(asked, a_line(2))["Yes, Always 1"] == f"p1:{handle(1)}:!always"
    assert f"For 1 this would be remembered:\n{ALWAYS.stores}" in text(asked, a_line(2))


def test_what_is_too_long_to_be_said_in_full_is_not_offered() -> None:
    wordy = replace(ALWAYS, stores="x" * 301)
    opened = a_line(1, state=Open(more=True), choices=(ALLOW, wordy, DENY))

    assert ["Always 1"] not in rows(opened, a_line(2))


def test_texts_of_the_agent_stay_on_their_lines_where_telegram_refuses_entities() -> None:
    sly = a_line(1, content="command: ls\n\n2. tool-2 · fake\ncommand: @everyone")
    plain = build_batch_message([sly, a_line(2)]).without_entities

    assert "\ncommand： ls⏎⏎2． tool-2 · fake⏎command： ＠everyone\n" in plain
    assert plain.count("\n2. ") == 1


def test_a_call_whose_name_has_no_room_on_a_line_stands_alone() -> None:
    assert batch_capacity(replace(BODY, title="t" * 65), 2) is None
    assert batch_capacity(replace(BODY, title="t" * 64), 9) is None


@pytest.mark.parametrize(("count", "room"), [(2, 1_378), (5, 424), (8, 185)])
def test_arguments_and_the_reason_given_share_the_room_of_a_line(count: int, room: int) -> None:
    both = batch_capacity(
        replace(BODY, values=one_value("x" * 3_000), description="y" * 3_000), count
    )
    alone = batch_capacity(replace(BODY, values=one_value("x" * 3_000)), count)

    assert both is not None
    assert alone is not None
    assert both.content + both.description <= room
    assert alone.content == min(room - 1, 1_000)


def test_what_takes_two_code_units_a_character_has_half_the_room() -> None:
    plain, double = (
        batch_capacity(replace(BODY, values=one_value(character * 3_000)), 8) for character in "x🦀"
    )

    assert plain is not None
    assert double is not None
    assert plain.content // 2 - 2 <= double.content <= plain.content // 2


@pytest.mark.parametrize("character", ["x", "🦀"])
@pytest.mark.parametrize("count", [2, 5, 8])
@pytest.mark.parametrize("step", ["open", "confirming", "ended"])
@pytest.mark.parametrize("language", NAMES)
def test_cards_full_to_their_limits_fit_into_a_message(
    character: str, count: int, step: str, language: str
) -> None:
    full = character * 3_000
    wordy = replace(ALWAYS, stores=character * (300 // count_units(character)), warning=full)
    state: Open | Ended = Open(confirming=wordy if step == "confirming" else None)
    if step == "ended":
        told = ((full, full),) * 9
        state = an_ending(by=full, by_name=full, reason=full, stored=full, facts=told)
    cards = [
        replace(
            a_line(
                number,
                count,
                state=state if number == 0 or step == "ended" else Open(),
                title="t" * 64,
                content=full,
                description=full,
                facts=((full, f"{number}{full}"),) * 9,
            ),
            asker=f"{number}{full}",
            translations=load_translations(language),
        )
        for number in range(count)
    ]

    message = build_batch_message(cards)

    assert 4_000 < count_units(message.text) <= 4_096
    assert count_units(message.without_entities) <= 4_096
    assert len(message.entities) <= 100
    parts = [part.text for part in message.parts]
    for card in cards:
        assert card.content in parts
        assert isinstance(card.state, Ended) or card.description in parts


def test_what_is_under_way_is_said_on_its_line() -> None:
    assert "✍️ alice denies this" in text(
        a_line(1, state=Open(notice="alice denies this")), a_line(2)
    )


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "@everyone /start https://evil.example",
            "\u202etxt.exe",
            "\ud800",
            "2. read_file\n\ncommand: ls",
            "é" * 3_000,
            "👩‍👩‍👧‍👦" * 700,
            "🦀" * 400,
            " " * 400,
            "\n" * 300,
        ]
    ),
).map(visible)
STATES = st.one_of(
    st.just(Open()),
    st.just(Open(more=True)),
    st.builds(Open, notice=HOSTILE),
    st.just(Open(confirming=replace(ALWAYS, stores="🦀" * 150, warning="w" * 500))),
    st.builds(
        an_ending,
        HOSTILE,
        by=HOSTILE,
        by_name=HOSTILE,
        reason=HOSTILE,
        stored=HOSTILE,
        facts=st.lists(st.tuples(HOSTILE, HOSTILE), max_size=4).map(tuple),
    ),
)


@st.composite
def cards(draw: Callable[[Any], Any]) -> list[Card]:
    """Up to 8 cards as the desk makes them, of which one at most is opened up."""
    count = draw(st.integers(2, 8))
    made, opened = [], False
    for number in range(count):
        state = draw(STATES)
        if isinstance(state, Open) and (state.more or state.confirming):
            state, opened = (Open() if opened else state), True
        card = a_line(
            number,
            count,
            state=state,
            title=draw(HOSTILE)[:30].replace("\n", " "),
            content=draw(HOSTILE),
            description=draw(HOSTILE),
            digest=draw(HOSTILE),
            facts=draw(st.lists(st.tuples(HOSTILE, HOSTILE), max_size=4).map(tuple)),
        )
        made.append(replace(card, asker=draw(HOSTILE), revealed=draw(st.booleans())))
    return made


@settings(max_examples=examples(60), database=None)
@given(cards())
def test_whatever_the_cards_hold_telegram_takes_them(shown: list[Card]) -> None:
    message = build_batch_message(shown)

    assert 0 < count_units(message.text) <= 4_096
    assert 0 < count_units(message.without_entities) <= 4_096
    assert len(message.entities) <= 100
    assert "@" not in message.without_entities
    covered = [range(one.offset, one.offset + one.length) for one in message.entities]
    assert all(one.stop <= count_units(message.text) for one in covered)
    keyboard = build_batch_keyboard(shown)
    if keyboard is not None:
        labels = [button for row in keyboard.inline_keyboard for button in row]
        assert len(labels) <= 100
        assert len({button.callback_data for button in labels}) == len(labels)


@settings(max_examples=examples(60), database=None)
@given(cards())
def test_nothing_unseen_can_be_allowed_alone_or_with_the_rest(shown: list[Card]) -> None:
    keyboard = build_batch_keyboard(shown)
    offered = (
        {button.callback_data for row in keyboard.inline_keyboard for button in row}
        if keyboard
        else set()
    )
    blocks = [part.text for part in build_batch_message(shown).parts]

    for card in shown:
        if not isinstance(card.state, Open) or card.revealed:
            continue
        if card.body.content and card.body.content not in blocks:
            assert f"p1:{card.handle}:allow" not in offered
            assert f"p1:{shown[0].handle}:allow-all" not in offered


def test_what_an_agent_wrote_is_code() -> None:
    message = build_batch_message([a_line(1, description="see https://a.example"), a_line(2)])
    raw = message.text.encode("utf-16-le")
    code = {
        raw[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le")
        for one in message.entities
        if one.type in (MessageEntity.CODE, MessageEntity.PRE)
    }

    assert {"tool-1", "command: make", "see https://a.example", "deploy-bot › researcher"} <= code
