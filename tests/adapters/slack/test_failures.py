"""Slack's refusals: what they are called is a value, and what to do about them is said."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from sayso_slack.errors import delivery_error


def _said(name: str, **more: object) -> SlackApiError:
    response = type("Response", (), {"status_code": 200, "data": {"error": name, **more}})()
    return SlackApiError("", response)  # type: ignore[no-untyped-call]  # as slack_sdk has it


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "not_in_channel",
            "chat.postMessage: not_in_channel: invite the bot there: /invite @sayso",
        ),
        ("channel_not_found", "chat.postMessage: channel_not_found: check the channel's id"),
        ("never_heard_of", "chat.postMessage: never_heard_of: Slack refused it"),
    ],
)
def test_a_refusal_has_a_code_and_words_that_help(name: str, words: str) -> None:
    error = delivery_error("chat.postMessage", _said(name), bot="sayso")

    assert (error.code, error.permanent) == (name, True)
    assert error.reason.startswith(words)


@pytest.mark.parametrize("name", ["internal_error", "ratelimited"])
def test_slacks_own_trouble_is_no_refusal(name: str) -> None:
    error = delivery_error("chat.postMessage", _said(name), bot="sayso")

    assert not error.code
    assert not error.permanent
