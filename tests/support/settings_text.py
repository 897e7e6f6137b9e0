"""Settings as text, and what is read of them or told about them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sayso.toml_file import SettingsError
from sayso_bots.config.settings import Settings, build_settings
from sayso_bots.config.source import parse_source

SLACK = {"SLACK_BOT_TOKEN": "xoxb-of-a-test", "SLACK_SIGNING_SECRET": "signing-of-a-test"}
TELEGRAM = {"TELEGRAM_BOT_TOKEN": "123:of-a-test", "TELEGRAM_WEBHOOK_SECRET": "hook-of-a-test"}
BOTH = {**SLACK, **TELEGRAM}

ROUTE = """
[[route]]
to = ["slack:C0OPS"]
approvers = ["slack:U0ALICE"]
"""

ROUTE_TO_BOTH = ROUTE.replace('"slack:C0OPS"', '"slack:C0OPS", "telegram:42"')


def read(text: str, env: Mapping[str, str] = SLACK) -> Settings:
    return build_settings(parse_source(text, env))


def problems(text: str, env: Mapping[str, str] = SLACK) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        read(text, env)
    return caught.value.problems
