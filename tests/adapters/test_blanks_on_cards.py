"""Blanks push no part of a question out of sight: in both chats, in everything that is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.cards.card import Card, CardBody
from sayso.digests import shown_and_digest
from sayso.events import UserInputRequest
from sayso.questions.clarification import ClarificationRequestEvent
from sayso.questions.continuation import ContinuationRequestEvent
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.rules.rule import literal_rule
from sayso_slack.batch_blocks import message as in_slack
from sayso_slack.modal import everything_modal
from sayso_telegram.batch_message import build_batch_message
from sayso_telegram.message_text import CONTENT_LIMIT, message

BLANK = "ls" + "\n" * 301 + "; rm" + " " * 900 + "-rf /" + "\t" * 50 + "x" + "\u3000" * 70 + "!"
SAID = ("[300 blank lines]", "[900 spaces]", "[50 tabs]", "[70 × U+3000]")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ASKED = {
    "source_name": "deploy-bot",
    "run": RunRef("deploy-bot", "s-1"),
    "expires_at": NOW + timedelta(minutes=10),
}


def a_permission(arguments: dict[str, object], description: str = "") -> PermissionRequestEvent:
    plain, digest = shown_and_digest(arguments)
    return PermissionRequestEvent(
        permission_id="p-1",
        function_name="bash",
        call_id="c-1",
        description=description,
        arguments=plain,
        arguments_digest=digest,
        suggested_rules=(literal_rule(ToolCall("bash", arguments)),),
        **_ASKED,
    )


REQUESTS = {
    "an argument": a_permission({"command": BLANK}),
    "a value in JSON": a_permission({"steps": [{"run": BLANK}]}),
    "a description": a_permission({"command": "ls"}, BLANK),
    "a text": TextApprovalRequestEvent(request_id="r", title="Plan", text=BLANK, **_ASKED),
    "its context": TextApprovalRequestEvent(
        request_id="r", title="Plan", text="x", context=BLANK, **_ASKED
    ),
    "a question": ClarificationRequestEvent(request_id="r", question=BLANK, **_ASKED),
    "why it goes on": ContinuationRequestEvent(
        continuation_id="r",
        current_iteration=1,
        max_iterations=2,
        description=BLANK,
        **_ASKED,
    ),
}


@dataclass(frozen=True)
class _Told:
    slack: str
    telegram: str
    everything: str


def told(card: Card) -> _Told:
    return _Told(
        json.dumps(in_slack([card]), ensure_ascii=False),
        message(card).text,
        json.dumps(everything_modal(card), ensure_ascii=False),
    )


def a_card(request: UserInputRequest) -> Card:
    body: CardBody = request.card()
    return Card("h" * 23, body, request.asker, request.expires_at, CONTENT_LIMIT, 150_000)


@pytest.mark.parametrize("which", REQUESTS)
def test_a_run_of_blanks_is_said_in_words_in_both_chats(which: str) -> None:
    card = a_card(REQUESTS[which])
    shown = told(card)

    assert not card.is_cut
    for said in SAID:
        assert said in shown.slack
        assert said in shown.telegram
        assert said in shown.everything
    assert "-rf /" in shown.slack
    assert "-rf /" in shown.telegram
    for one in (shown.slack, shown.telegram, shown.everything):
        assert " " * 41 not in one
        assert "\n\n\n\n" not in one.replace("\\n", "\n")


def test_a_run_of_blanks_is_said_on_a_card_with_several_calls() -> None:
    cards = [a_card(REQUESTS["an argument"]) for _ in range(MOST_IN_BUNDLE // 4)]

    for shown in (json.dumps(in_slack(cards), ensure_ascii=False), build_batch_message(cards).text):
        assert shown.count(SAID[0]) >= len(cards)
        assert "-rf /" in shown


def test_the_words_for_blanks_count_against_the_limit() -> None:
    lines = "".join(f"{number}{' ' * 50}" for number in range(200))
    card = a_card(a_permission({"command": lines}))

    assert card.is_cut
    assert all(choice.key != "allow" for choice in card.choices)
    assert len(card.content) <= CONTENT_LIMIT
