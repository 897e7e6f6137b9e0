"""Budgets: how many messages Slack takes.

docs.slack.dev, rate limits: one message a second in a channel, and several hundred a minute in a
workspace. chat.update is a method of its own; what it allows in a minute is for the whole app.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Sending
from sayso.chats.places import Place
from sayso_slack.config import SlackConfig
from sayso_slack.failures import PLATFORM

# "Several hundred messages per minute per workspace" of chat.postMessage.
_WORKSPACE = Rate(300, 60)


def budgets_of(config: SlackConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """Return the budgets that a message to a channel uses up; a change of one has its own."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:
        if config.per_channel is None:
            return ()
        channel = Budget(f"{PLATFORM}:{place.address}:{sending}", config.per_channel)
        return (channel, Budget(PLATFORM, _WORKSPACE)) if sending == "show" else (channel,)

    return budgets
