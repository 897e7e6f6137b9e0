"""How many messages Telegram is sent."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.chats.budgets import Budget, Rate
from sayso.chats.limits import Limits, Sending
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_telegram import TelegramAdapter, TelegramConfig

GROUP, PERSON = Place("telegram", "-1001"), Place("telegram", "4242")


def limits_of(**changes: Any) -> Limits:
    config = TelegramConfig("4000000000:PLAYGROUND-token", ("secret",), **changes)
    return TelegramAdapter(config, MemoryKeyValue(utc_now)).limits


@pytest.mark.parametrize("sending", ["show", "update"])
def test_cards_and_changes_share_the_budgets_of_a_chat(sending: Sending) -> None:
    assert limits_of().budgets(PERSON, sending) == (
        Budget("telegram:4242", Rate(1, 1)),
        Budget("telegram", Rate(30, 1)),
    )


def test_a_group_takes_20_a_minute_besides() -> None:
    assert limits_of().budgets(GROUP, "show") == (
        Budget("telegram:-1001", Rate(1, 1)),
        Budget("telegram", Rate(30, 1)),
        Budget("telegram:-1001:group", Rate(20, 60)),
    )


def test_settings_may_say_otherwise_or_nothing() -> None:
    other = limits_of(per_chat=Rate(3, 3))

    assert other.budgets(GROUP, "show")[0] == Budget("telegram:-1001", Rate(3, 3))
    assert len(other.budgets(GROUP, "show")) == 3
    assert limits_of(per_chat=None).budgets(GROUP, "show") == ()
