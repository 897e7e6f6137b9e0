"""How many messages Slack takes, as budgets.

docs.slack.dev, rate limits: one message a second in a channel, and several hundred a minute in a
workspace. chat.update is a method of its own; what it allows in a minute is for the whole app.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.chats.budgets import Budget
from sayso.chats.limits import Sending
from sayso.chats.places import Place
from sayso_slack.config import SlackConfig
from sayso_slack.failures import PLATFORM


def budgets_of(config: SlackConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """What a message to a channel uses up; a change of one has a budget of its own."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:
        rates = [(f"{PLATFORM}:{place.address}:{sending}", config.per_channel)]
        if sending == "show":
            rates.append((PLATFORM, config.overall))
        return tuple(Budget(name, rate) for name, rate in rates if rate is not None)

    return budgets
