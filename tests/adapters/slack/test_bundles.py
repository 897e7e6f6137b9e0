"""Several calls as one Slack message: what it shows, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.slack_kit import ALLOW, ALWAYS, DENY, a_body, a_card, an_ending

from sayso.cards.card import REVOKE, Card, Choice, Ended, Open
from sayso.locales import NAMES, load_translations
from sayso_playground.slack.blocks import characters, check_blocks
from sayso_slack.batch_blocks import bundle_message, bundle_room
from sayso_slack.blocks import card_message

MORE = tuple(Choice(f"more-{n}", f"More of {n}") for n in range(6))


def a_line(number: int, count: int = 3, **changes: Any) -> Card:
    """A card as the desk makes it for a message with so many."""
    card = a_card(handle=f"handle-{number}", **{"title": f"tool-{number}", **changes})
    room = bundle_room(card.body, count)
    assert room is not None
    return replace(card, limit=room.content, description_limit=room.description, lines=room.lines)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from objects(item)
    elif isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects(item)


def words(*cards: Card) -> str:
    found = (item["text"] for item in objects(bundle_message(cards)["blocks"]) if "text" in item)
    return "".join(text if isinstance(text, str) else "\n" for text in found)


def buttons(*cards: Card) -> dict[str, tuple[str, str]]:
    """What the buttons carry, by their labels."""
    return {
        element["text"]["text"]: (element["action_id"], element["value"])
        for block in bundle_message(cards)["blocks"]
        for element in block.get("elements", ())
        if element.get("type") == "button"
    }


def below(*cards: Card) -> list[str]:
    """What the choices of an opened line carry."""
    return [value for action, value in buttons(*cards).values() if "more-" in action]


def test_each_line_has_its_own_buttons_and_all_of_them_have_two_more() -> None:
    assert buttons(a_line(1), a_line(2)) == {
        "More… 1": ("sayso:more", "handle-1"),
        "More… 2": ("sayso:more", "handle-2"),
        "Allow 1": ("sayso:allow", "handle-1"),
        "Deny 1": ("sayso:deny", "handle-1"),
        "Allow 2": ("sayso:allow", "handle-2"),
        "Deny 2": ("sayso:deny", "handle-2"),
        "Allow all": ("sayso:allow-all", "handle-1"),
        "Deny all": ("sayso:deny-all", "handle-1"),
    }


def test_it_says_how_many_wait_who_asks_and_what_each_of_them_is() -> None:
    shown = words(a_line(1), a_line(2, content="command: make"), a_line(3))

    for part in (
        "3 calls are waiting",
        "Asked by deploy-bot › researcher",
        "2. tool-2",
        "command: make",
    ):
        assert part in shown
    assert "0123456789ab" not in shown
    opened = words(a_line(1, state=Open(more=True)), a_line(2))
    assert opened.count("Digest 0123456789ab") == 1
    assert shown.count("Source shell") == 1
    assert "Expires <!date^" in shown


def test_what_is_not_the_same_for_all_is_said_of_each() -> None:
    hidden = ("Not shown", "2 values that look like secrets; they run as they are")
    shown = words(a_line(1, facts=(hidden,)), a_line(2, facts=(), asker="deploy-bot › tester"))

    assert "Not shown 2 values that look like secrets" in shown
    assert "Asked by deploy-bot › tester" in shown


def test_facts_that_have_no_room_are_counted() -> None:
    common = tuple((f"Common {n}", "x") for n in range(6))
    answers = tuple((f"Answer {n}", "x") for n in range(5))

    shown = words(
        a_line(1, facts=common),
        a_line(2, facts=common),
        a_line(3, facts=common, state=an_ending("answered", facts=answers)),
    )

    assert "Common 3 x\nMore 2 facts are not shown here" in shown
    assert shown.count("3 more answers are not shown here.") == 1
    assert "More 0" not in shown


def test_exactly_as_many_facts_as_there_is_room_for_are_all_there() -> None:
    common = tuple((f"Common {n}", "x") for n in range(4))
    answers = tuple((f"Answer {n}", "x") for n in range(2))

    ended = a_line(2, facts=common, state=an_ending("answered", facts=answers))

    assert "not shown" not in words(a_line(1, facts=common), ended)


def test_a_decided_line_says_how_and_the_others_keep_their_buttons() -> None:
    ended = a_line(1, state=an_ending("denied", by="slack:U0BOB", reason="too risky"))

    assert set(buttons(ended, a_line(2), a_line(3))) == {
        "Details 1",
        "Allow 2",
        "Deny 2",
        "Allow 3",
        "Deny 3",
        "More… 2",
        "More… 3",
        "Allow all",
        "Deny all",
    }
    assert "2 of 3 calls are waiting" in words(ended, a_line(2), a_line(3))
    assert "⛔ Denied by " in words(ended, a_line(2))
    assert {"type": "user", "user_id": "U0BOB"} in list(
        objects(bundle_message([ended, a_line(2)])["blocks"])
    )
    assert "too risky" in words(ended, a_line(2))


def test_when_one_waits_there_is_nothing_for_all() -> None:
    left = buttons(a_line(1, state=an_ending()), a_line(2))

    assert set(left) == {"Details 1", "Allow 2", "Deny 2", "More… 2"}


def test_when_none_waits_there_are_only_details() -> None:
    cards = [a_line(number, state=an_ending()) for number in (1, 2)]

    assert set(buttons(*cards)) == {"Details 1", "Details 2"}
    assert "All 2 calls are decided" in words(*cards)
    assert "Expires" not in words(*cards)


def test_a_line_that_is_cut_offers_show_all_and_holds_back_allow_all() -> None:
    cut = a_line(2, content="x" * 5_000)

    assert set(buttons(a_line(1), cut)) == {
        "Allow 1",
        "Deny 1",
        "Deny 2",
        "Show all 2",
        "More… 1",
        "More… 2",
        "Deny all",
    }
    assert "Allow all is offered once everything was seen: 1 of the calls is cut." in words(
        a_line(1), cut
    )
    seen = replace(cut, revealed=True)
    assert {"Allow 2", "Show all 2", "Allow all"} <= set(buttons(a_line(1), seen))


def test_what_is_one_level_down_is_behind_one_button_of_its_line() -> None:
    card = a_line(1, more=MORE)
    opened = replace(card, state=Open(more=True))

    assert buttons(card, a_line(2))["More… 1"] == ("sayso:more", "handle-1")
    assert below(card, a_line(2)) == []
    assert below(opened, a_line(2)) == [
        "handle-1:always",
        *(f"handle-1:more-{n}" for n in range(6)),
    ]
    assert buttons(opened, a_line(2))["Back 1"] == ("sayso:back", "handle-1")
    assert "Allow 2" in buttons(opened, a_line(2))


def test_the_second_step_says_what_would_be_remembered_and_keeps_the_other_lines() -> None:
    asked = a_line(1, state=Open(confirming=ALWAYS))

    assert ALWAYS.stores in words(asked, a_line(2))
    assert buttons(asked, a_line(2))["Yes, Always"] == ("sayso:always", "handle-1")
    assert {"Allow 2", "Deny 2"} <= set(buttons(asked, a_line(2)))


def test_what_was_answered_shows_on_its_line() -> None:
    ended = an_ending(facts=(("Runs with", "command: make -n"),))

    assert "Runs with command: make -n" in words(a_line(1, state=ended), a_line(2))


def test_a_call_whose_name_has_no_room_on_a_line_stands_alone() -> None:
    assert bundle_room(a_body(title="t" * 81), 2) is None
    assert bundle_room(a_body(title="t" * 80), 9) is None


def test_few_calls_have_more_room_than_many() -> None:
    rooms = [bundle_room(a_body(content="x" * 9_000), count) for count in (2, 4, 8)]

    assert [room.content for room in rooms if room] == [2_900, 1_210, 247]


FULL = "&" * 3_000
WORDY = replace(ALWAYS, stores="x" * 230, warning="w" * 900)
LONG_MENU = tuple(Choice(f"m-{n}", "\u202e" * 30) for n in range(25))


def state_of(state: Open | Ended, number: int) -> Open | Ended:
    """Of the cards on one message one at a time is opened up."""
    if isinstance(state, Ended):
        return replace(state, details=state.details and number == 0)
    return state if number == 0 else Open()


@pytest.mark.parametrize(
    "state",
    [
        Open(),
        Open(more=True),
        Open(confirming=WORDY),
        an_ending(FULL, by=FULL, by_name=FULL, reason=FULL, stored=FULL, facts=((FULL, FULL),) * 9),
        an_ending(
            FULL, by=FULL, by_name=FULL, reason=FULL, stored=FULL, facts=((FULL, FULL),) * 9,
            note=FULL, details=True,
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [2, 5, 8])
@pytest.mark.parametrize("language", NAMES)
def test_cards_full_to_their_limits_are_within_the_budget_of_a_message(
    state: Open | Ended, count: int, language: str
) -> None:
    cards = [
        a_card(
            state_of(state, number),
            handle=f"handle-{number}",
            title="t" * 80,
            asker=f"{FULL}{number}",
            description=FULL,
            content=FULL,
            digest=FULL,
            facts=((FULL, f"{number}{FULL}"),) * 20,
            choices=(ALLOW, WORDY, DENY),
            more=LONG_MENU,
        )
        for number in range(count)
    ]

    translations = load_translations(language)

    blocks = bundle_message([replace(card, translations=translations) for card in cards])["blocks"]

    assert not check_blocks(blocks).errors
    assert characters(blocks) <= 10_000
    assert characters(blocks) > (2_000 if isinstance(state, Open) or state.details else 1_000)


def test_the_buttons_for_all_have_a_fresh_block_id_whenever_another_is_decided() -> None:
    ended = a_line(1, state=an_ending())
    before, after = (
        {block["block_id"] for block in bundle_message(cards)["blocks"] if "block_id" in block}
        for cards in ([a_line(1), a_line(2), a_line(3)], [ended, a_line(2), a_line(3)])
    )

    assert [one for one in before & after if ":all:" in one] == []


def test_what_is_under_way_is_said_on_its_line_and_gone_at_the_end() -> None:
    writing = a_line(1, state=Open(notice="alice denies this"))

    assert "alice denies this" in words(writing, a_line(2))
    assert "alice denies this" not in words(replace(writing, state=an_ending()), a_line(2))


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "<!channel>",
            "```",
            "<https://evil.example|Allow>",
            "\u202etxt.exe",
            "\ud800",
            "2. read_file\ncommand: ls",
            "&" * 500,
            "é" * 3_000,
            "👩‍👩‍👧‍👦" * 700,
            "\u202e" * 3_000,
            "<" * 20_000,
            " " * 400,
        ]
    ),
)
STATES = st.one_of(
    st.just(Open()),
    st.just(Open(more=True)),
    st.builds(Open, notice=HOSTILE),
    st.just(Open(confirming=ALWAYS)),
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
FIELDS = st.fixed_dictionaries(
    {
        "title": HOSTILE,
        "description": HOSTILE,
        "content": HOSTILE,
        "digest": HOSTILE,
        "asker": HOSTILE,
        "facts": st.lists(st.tuples(HOSTILE, HOSTILE), max_size=6).map(tuple),
        "more": st.just(MORE),
        "limit": st.sampled_from([0, 200, 2_900, 1_000_000]),
        "revealed": st.booleans(),
    }
)


@st.composite
def cards(draw: Callable[[Any], Any]) -> list[Card]:
    """Up to 8 cards of which one at most is opened up, as the desk has it."""
    count = draw(st.integers(2, 8))
    made, opened = [], False
    for number in range(count):
        state = draw(STATES)
        if isinstance(state, Open) and (state.more or state.confirming):
            state, opened = (Open() if opened else state), True
        made.append(a_card(state, handle=f"handle-{number}", **draw(FIELDS)))
    return made


@settings(max_examples=examples(50), database=None)
@given(cards())
def test_whatever_the_cards_hold_slack_takes_them_and_parses_nothing_of_it(
    shown: list[Card],
) -> None:
    message = bundle_message(shown)

    blocks = message["blocks"]
    assert not check_blocks(blocks).errors
    assert len(blocks) <= 50
    assert characters(blocks) <= 10_000
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(ids) == len(set(ids))
    assert 0 < len(message["text"]) <= 4_000
    assert not set(message["text"]) & set("<>")
    assert message["parse"] == "none"
    for item in objects(blocks):
        if item.get("type") == "mrkdwn":
            assert item["text"].startswith(("Expires <!date^", "The last one expires <!date^"))


@settings(max_examples=examples(50), database=None)
@given(cards())
def test_nothing_unseen_can_be_allowed_alone_or_with_the_rest(shown: list[Card]) -> None:
    offered = set(buttons(*shown).values())

    for card in shown:
        content = card.body.content
        unseen = content.isprintable() and content not in words(*shown) and not card.revealed
        if unseen and isinstance(card.state, Open):
            assert ("sayso:allow", card.handle) not in offered
            assert ("sayso:allow-all", shown[0].handle) not in offered


def test_a_decided_line_that_stored_something_offers_to_revoke_it() -> None:
    ended = Ended("approved", datetime(2026, 3, 1, tzinfo=UTC), choices=(REVOKE,))
    card, other = a_line(1, 2, state=ended), a_line(2, 2)

    assert buttons(card, other)["Revoke 1"] == ("sayso:revoke", card.handle)
    [block] = [one for one in card_message(card)["blocks"] if one["type"] == "actions"]
    assert [element["action_id"] for element in block["elements"]] == [
        "sayso:details",
        "sayso:revoke",
    ]
