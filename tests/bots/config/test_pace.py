"""Budgets of messages in the settings, and how long the audit is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.settings_text import BOTH, ROUTE_TO_BOTH, read

from sayso.chats.budgets import Rate
from sayso.toml_file import SettingsError
from sayso_slack.config import build_config as slack_config
from sayso_telegram.config import build_config as telegram_config


def test_without_settings_the_budgets_are_those_of_the_platforms() -> None:
    settings = read(ROUTE_TO_BOTH, BOTH)
    slack = slack_config(settings.platforms["slack"].settings)
    telegram = telegram_config(settings.platforms["telegram"].settings)

    assert (slack.per_channel, telegram.per_chat) == (Rate(1, 1), Rate(1, 1))


def test_budgets_are_set_in_the_file_and_overridden_by_the_environment() -> None:
    text = '[slack]\nper_channel = "5/5s"\n[telegram]\nper_chat = "off"\n'
    env = {"SAYSO_SLACK_PER_CHANNEL": "60/m"}
    settings = read(text + ROUTE_TO_BOTH, {**BOTH, **env})
    slack = slack_config(settings.platforms["slack"].settings)
    telegram = telegram_config(settings.platforms["telegram"].settings)

    assert (slack.per_channel, telegram.per_chat) == (Rate(60, 60), None)


@pytest.mark.parametrize("written", ['"fast"', "1", '"0/s"', "true"])
def test_a_budget_that_is_none_is_refused_with_what_to_write(written: str) -> None:
    with pytest.raises(SettingsError, match=r'slack\.per_channel.*write 1/s, 20/m or 5/10s; or "o'):
        read(f"[slack]\nper_channel = {written}\n" + ROUTE_TO_BOTH, BOTH)


def test_the_audit_is_kept_for_a_year_unless_told_otherwise() -> None:
    assert read(ROUTE_TO_BOTH, BOTH).store.keep_audit == timedelta(days=365)
    text = '[store]\nkeep_audit = "3650d"\n' + ROUTE_TO_BOTH
    assert read(text, BOTH).store.keep_audit == timedelta(days=3_650)


@pytest.mark.parametrize(
    ("written", "fix"),
    [("12h", "write at least 1d"), ("3651d", "at most 3650d"), ("a year", "write 90s, 10m")],
)
def test_a_time_to_keep_the_audit_that_is_none_is_refused(written: str, fix: str) -> None:
    with pytest.raises(SettingsError, match=f"keep_audit.*{fix}"):
        read(f'[store]\nkeep_audit = "{written}"\n' + ROUTE_TO_BOTH, BOTH)
