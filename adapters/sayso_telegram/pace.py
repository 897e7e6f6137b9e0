"""Budgets: how many messages Telegram takes.

core.telegram.org/bots/faq: one message a second in a chat, 20 a minute in a group, 30 a second
overall. Nothing is said of edits; they are counted as messages.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Sending
from sayso.chats.places import Place
from sayso_telegram.config import TelegramConfig
from sayso_telegram.failures import PLATFORM

_GROUP, _ALL_CHATS = Rate(20, 60), Rate(30, 1)


def budgets_of(config: TelegramConfig) -> Callable[[Place, Sending], tuple[Budget, ...]]:
    """Return the budgets that a message to a chat uses up, and a change of one as well."""

    def budgets(place: Place, sending: Sending) -> tuple[Budget, ...]:  # noqa: ARG001
        if config.per_chat is None:
            return ()
        chat = f"{PLATFORM}:{place.address}"
        budgets = (Budget(chat, config.per_chat), Budget(PLATFORM, _ALL_CHATS))
        # The ids of groups, supergroups and channels are negative.
        is_group = place.address.startswith("-")
        return (*budgets, Budget(f"{chat}:group", _GROUP)) if is_group else budgets

    return budgets
