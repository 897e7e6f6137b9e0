"""How many messages Telegram takes, as budgets.

core.telegram.org/bots/faq: one message a second in a chat, 20 a minute in a group, 30 a second
overall. Nothing is said of edits; they are counted as messages.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.chats.budgets import Budget
from sayso.chats.limits import Sending
from sayso.chats.places import Place
from sayso_telegram.config import TelegramConfig
from sayso_telegram.failures import PLATFORM


def budgets_of(config: TelegramConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """What a message to a chat uses up, and a change of one as well."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:  # noqa: ARG001
        chat = f"{PLATFORM}:{place.address}"
        rates = [(chat, config.per_chat), (PLATFORM, config.overall)]
        # The ids of groups, supergroups and channels are negative.
        if place.address.startswith("-"):
            rates.append((f"{chat}:group", config.per_group))
        return tuple(Budget(name, rate) for name, rate in rates if rate is not None)

    return budgets
