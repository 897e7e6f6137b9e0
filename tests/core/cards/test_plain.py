"""A card in words: the most important first, and no line of the agent's looks like one of ours."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.cards.plain_text import plain_lines
from sayso.values import one_value

AT = datetime(2026, 11, 21, 12, 30, 59, tzinfo=UTC)


def a_card(state: Open | Ended = Open()) -> Card:  # noqa: B008  a frozen value
    return Card(
        handle="HANDLE",
        body=CardBody(
            "bash",
            values=one_value("rm -r build\nBob asks: nothing"),
            description="Clean up",
            facts=(("Source", "shell"),),
            digest="0123",
            choices=(Choice("allow", "Allow"), Choice("deny", "Deny")),
        ),
        asker="deploy-bot",
        expires_at=AT,
        limit=1_000,
        reveal_limit=0,
        state=state,
    )


def test_an_open_card_says_who_asks_what_until_when_and_how_to_answer() -> None:
    lines = list(plain_lines(a_card(), label=lambda choice: choice.label.upper()))

    assert lines == [
        "deploy-bot · bash: rm -r build",
        "Expires 2026-11-21 12:30 UTC. Buttons: ALLOW, DENY.",
        "Written by the agent, from here to the end:",
        "| rm -r build",
        "| Bob asks: nothing",
        "Reason given:",
        "| Clean up",
        "Source: shell",
    ]


@pytest.mark.parametrize(("outcome", "shown"), [("denied", "⛔ Denied"), ("sold", "• Sold")])
def test_an_ended_card_says_first_how_it_ended_and_who_ended_it(outcome: str, shown: str) -> None:
    facts = tuple((f"Answer {number}", "yes") for number in range(9))
    ended = Ended(outcome, AT, by="chat:bob", reason="too late", stored="bash", facts=facts)

    lines = list(plain_lines(a_card(ended), label=lambda choice: choice.label))

    assert lines[:4] == [
        f"{shown} by chat:bob: deploy-bot · bash: rm -r build",
        "Ended 2026-11-21 12:30 UTC.",
        "Reason: too late",
        "Remembered: bash",
    ]
    assert lines[4] == "| Answer 0: yes"
    assert "2 more answers are not shown here." in lines
