"""How many messages Slack is sent."""

from __future__ import annotations

from support.slack_kit import SECRET, TOKEN, a_config

from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso_slack import SlackAdapter, SlackConfig

OPS, THREAD = Place("slack", "C0OPS"), Place("slack", "C0OPS", "17.1")


def test_a_channel_gets_one_card_a_second_and_all_of_them_300_a_minute() -> None:
    limits = SlackAdapter(SlackConfig(bot_token=TOKEN, signing_secrets=(SECRET,))).limits

    assert limits.budgets(OPS, "show") == (
        Budget("slack:C0OPS:show", Rate(1, 1)),
        Budget("slack", Rate(300, 60)),
    )
    assert limits.budgets(THREAD, "show") == limits.budgets(OPS, "show")


def test_changes_have_a_budget_of_their_own() -> None:
    limits = SlackAdapter(SlackConfig(bot_token=TOKEN, signing_secrets=(SECRET,))).limits

    assert limits.budgets(OPS, "update") == (Budget("slack:C0OPS:update", Rate(1, 1)),)


def test_settings_may_say_otherwise_or_nothing() -> None:
    slow = SlackAdapter(a_config(per_channel=Rate(2, 60))).limits
    without = SlackAdapter(a_config(per_channel=None)).limits

    assert slow.budgets(OPS, "show") == (
        Budget("slack:C0OPS:show", Rate(2, 60)),
        Budget("slack", Rate(300, 60)),
    )
    assert without.budgets(OPS, "show") == without.budgets(OPS, "update") == ()
