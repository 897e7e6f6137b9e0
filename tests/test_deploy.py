"""What is in deploy/ parses, fits the code, and keeps within the platforms' limits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sayso.errors import ConfigError

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
MANIFESTS = ("slack-manifest.yaml", "slack-manifest-socket.yaml")
SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-of-a-test",
    "SLACK_SIGNING_SECRET": "of-a-test",
    "SLACK_APP_TOKEN": "xapp-of-a-test",
    "TELEGRAM_BOT_TOKEN": "123456:of-a-test",
    "TELEGRAM_WEBHOOK_SECRET": "of-a-test",
}


def _yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


# The Slack app


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_keeps_within_slacks_limits(name: str) -> None:
    manifest = _yaml(name)

    # docs.slack.dev, app manifest reference.
    assert len(manifest["display_information"]["name"]) <= 35
    assert len(manifest["display_information"]["description"]) <= 140
    assert re.fullmatch(r"[a-z0-9._-]{1,80}", manifest["features"]["bot_user"]["display_name"])


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_asks_for_the_scopes_we_need_and_no_other(name: str) -> None:
    scopes = _yaml(name)["oauth_config"]["scopes"]

    # chat.* methods; conversations.info; bots.info; usergroups.list and usergroups.users.list;
    # dnd.teamInfo; the slash command.
    needed = {"chat:write", "chat:write.public", "channels:read", "groups:read"}
    needed |= {"users:read", "usergroups:read", "dnd:read", "commands"}
    assert set(scopes) == {"bot"}
    assert sorted(scopes["bot"]) == sorted(needed)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_turns_on_buttons_and_tells_of_a_removal(name: str) -> None:
    settings = _yaml(name)["settings"]

    assert settings["interactivity"]["is_enabled"] is True
    assert settings["event_subscriptions"]["bot_events"] == [
        "app_uninstalled",
        "tokens_revoked",
        "app_home_opened",
        "subteam_members_changed",
        "subteam_updated",
        "user_change",
    ]
    assert settings["token_rotation_enabled"] is False


def test_the_manifest_for_http_names_our_endpoint() -> None:
    settings = _yaml("slack-manifest.yaml")["settings"]

    assert settings["socket_mode_enabled"] is False
    assert settings["interactivity"]["request_url"] == "https://HOST/slack/events"
    assert settings["event_subscriptions"]["request_url"] == "https://HOST/slack/events"


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_has_the_command_the_home_and_the_messages_tab(name: str) -> None:
    features = _yaml(name)["features"]

    (command,) = features["slash_commands"]
    assert command["command"] == "/approvals"
    assert len(command["description"]) <= 2_000
    assert features["app_home"]["home_tab_enabled"] is True
    assert features["app_home"]["messages_tab_enabled"] is True


def test_the_manifests_differ_only_in_the_way_in() -> None:
    over_http, over_socket = (_yaml(name) for name in MANIFESTS)

    assert over_socket["settings"].pop("socket_mode_enabled") is True
    del over_http["settings"]["socket_mode_enabled"]
    del over_http["settings"]["interactivity"]["request_url"]
    del over_http["settings"]["event_subscriptions"]["request_url"]
    assert over_http["features"]["slash_commands"][0].pop("url") == "https://HOST/slack/events"

    assert over_http == over_socket


# The systemd unit


def _unit() -> Mapping[str, list[str]]:
    settings: dict[str, list[str]] = {}
    for line in (DEPLOY / "sayso.service").read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(key, []).append(value)
    return settings


def test_the_unit_is_confined_and_stops_in_its_own_time() -> None:
    unit = _unit()

    for switch in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "DynamicUser"):
        assert unit[switch] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["EnvironmentFile"] == ["/etc/sayso/sayso.env"]
    assert int(unit["TimeoutStopSec"][0]) > 8
    assert "Environment" not in unit


def test_the_unit_says_how_it_is_ready_read_again_and_started_again() -> None:
    unit = _unit()

    assert unit["Type"] == ["notify"]
    assert unit["TimeoutStartSec"] == ["infinity"]
    assert unit["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert unit["Restart"] == ["on-failure"]
    assert unit["RestartPreventExitStatus"] == ["2"]


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="no systemd-analyze here; on Debian: apt-get install systemd",
)
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "sayso.service").read_text()
    installed = text.replace("/opt/sayso/bin/sayso", sys.executable)
    (tmp_path / "sayso.service").write_text(installed)

    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "sayso.service")],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert "sayso.service" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


# Example settings


def test_the_example_settings_load() -> None:
    from sayso_bots.config.settings import read_settings

    settings = read_settings(str(DEPLOY / "sayso.example.toml"), SECRETS)

    assert settings.warnings == ()
    assert set(settings.platforms) == {"slack", "telegram"}


def test_the_example_settings_load_with_all_that_is_commented_out(tmp_path: Path) -> None:
    from sayso_bots.config.settings import read_settings

    text = (DEPLOY / "sayso.example.toml").read_text()
    everything = re.sub(r"^# (?=[a-z0-9_]+ = |\[)", "", text, flags=re.MULTILINE)
    (tmp_path / "all.toml").write_text(everything)
    (tmp_path / "policy.toml").write_text("")

    settings = read_settings(str(tmp_path / "all.toml"), SECRETS)

    assert everything != text
    assert settings.platforms["slack"].settings.section.team_id == "T0123ABCD"
    assert settings.api is not None
    assert [token.actor for token in settings.api.tokens] == ["api:ci"]


def test_the_example_settings_show_every_setting() -> None:
    from sayso.platforms import Section
    from sayso.policy.policy_file import RuleTable
    from sayso_bots.config import api_tokens, people, policies, routes, settings, store_settings
    from sayso_bots.config.platforms import load_platforms
    from sayso_bots.config.source import parse_source

    text = (DEPLOY / "sayso.example.toml").read_text()
    shown = set(re.findall(r"^(?:# )?([a-z0-9_]+) = ", text, re.MULTILINE))
    shown |= set(re.findall(r"\b(tool|params|talk|matchers|also) = ", text))
    shown |= set(re.findall(r"^# \[\[api\.([a-z]+)]]$", text, re.MULTILINE))
    platforms = load_platforms(parse_source("", {}), ())
    models = [platform.section for platform in platforms]
    models += [
        kind
        for room in (api_tokens, policies, routes, settings, store_settings)
        for kind in vars(room).values()
        if isinstance(kind, type) and issubclass(kind, Section) and kind.__module__ == room.__name__
    ]
    models += [people.build_person_section(platforms), policies.PolicySection, RuleTable]
    known = {name for model in models for name in model.model_fields}

    assert shown == known


def test_the_example_environment_names_every_variable_and_holds_no_value() -> None:
    from sayso_bots.config.platforms import load_platforms
    from sayso_bots.config.source import CONFIG_VARIABLE, OVERRIDES, list_variables, parse_source

    platforms = load_platforms(parse_source("", {}), ())
    of_platforms = {name for platform in platforms for name in list_variables(platform)}
    text = (DEPLOY / "sayso.example.env").read_text()
    named = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))

    of_compose = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    assert set(named) == {*SECRETS, *OVERRIDES, *of_platforms, CONFIG_VARIABLE, *of_compose}
    assert [name for name in SECRETS if named[name]] == []


def test_a_copied_environment_file_that_was_not_filled_in_is_refused() -> None:
    from sayso_bots.config.settings import read_settings

    with pytest.raises(ConfigError, match="SLACK_BOT_TOKEN is not set"):
        read_settings(str(DEPLOY / "sayso.example.toml"), dict.fromkeys(SECRETS, ""))
