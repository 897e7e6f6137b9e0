"""Settings: what is read, and one clear line for everything that is wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.settings_text import BOTH, ROUTE, ROUTE_TO_BOTH, SLACK, TELEGRAM, read

from sayso.always.terms import GrantOptions
from sayso.calls import RunRef, ToolCall
from sayso.chats.places import Place
from sayso.errors import StoreUnreachableError
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.testing import a_request
from sayso.toml_file import SettingsError
from sayso_bots.config.store_settings import read_ask_settings
from sayso_slack.config import SIGNING_SECRET
from sayso_telegram.config import WEBHOOK_SECRET


def test_tokens_and_a_route_are_enough() -> None:
    settings = read(ROUTE)

    assert set(settings.platforms) == {"slack"}
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8080)
    assert settings.store.url == "redis://127.0.0.1:6379/0"
    assert settings.routes.routes[0].to == (Place("slack", "C0OPS"),)
    assert settings.always.remember_for == timedelta(hours=24)
    assert settings.warnings == ()


def test_the_environment_overrides_the_file() -> None:
    text = '[store]\nurl = "redis://a"\n[server]\nport = 1\n[slack]\nmode = "socket"\n' + ROUTE
    env = {
        **SLACK,
        "SAYSO_STORE_URL": "redis://:secret@b",
        "SAYSO_HOST": "0.0.0.0",
        "SAYSO_PORT": "2",
        "SAYSO_SLACK_MODE": "http",
        "SAYSO_SLACK_API_URL": "http://127.0.0.1:9/api",
    }
    settings = read(text, env)

    assert settings.store.url == "redis://:secret@b"
    assert (settings.server.host, settings.server.port) == ("0.0.0.0", 2)
    slack = settings.platforms["slack"].settings.section
    assert slack.mode == "http"
    assert slack.api_url == "http://127.0.0.1:9/api"


def test_several_secrets_are_taken_while_one_is_replaced() -> None:
    settings = read(
        ROUTE_TO_BOTH,
        {**BOTH, "SLACK_SIGNING_SECRET": "new, old", "TELEGRAM_WEBHOOK_SECRET": "c,d,"},
    )

    slack, telegram = settings.platforms["slack"], settings.platforms["telegram"]
    assert slack.settings.values(SIGNING_SECRET) == ("new", "old")
    assert telegram.settings.values(WEBHOOK_SECRET) == ("c", "d")


def test_people_may_have_several_accounts() -> None:
    settings = read('[people.alice]\nslack = ["U0A", "W0A"]\ntelegram = 42\n' + ROUTE)

    assert settings.routes.people["alice"] == {"slack:U0A", "slack:W0A", "telegram:42"}


@pytest.mark.parametrize("asker", ["telegram:alice", "slack:alice", "slack:u0a", "slack:U0A "])
def test_what_its_platform_could_not_call_an_account_may_be_whoever_presses(asker: str) -> None:
    routes = read('[people.alice]\nslack = "U0A"\n' + ROUTE).routes
    request = a_request().model_copy(update={"requested_by": asker})

    assert routes.asked_by("slack:U0B", request)
    for known in ("telegram:77", "slack:U0A", "api:ci", "jira:carol", "alice"):
        plain = request.model_copy(update={"requested_by": known})
        assert not routes.asked_by("slack:U0B", plain)


async def test_a_deny_rule_of_the_settings_for_an_empty_value_denies_it() -> None:
    rule = "{ tool = 'bash', params = { command = '\"\"\"\"' } }"
    settings = read(f"{ROUTE}[policy]\ndefault = 'allow'\ndeny = [{rule}]\n")
    policy = settings.policies

    denied = await evaluate(
        policy, ToolCall("bash", {"command": ""}), PolicyContext(RunRef("a", "s"))
    )
    allowed = await evaluate(
        policy, ToolCall("bash", {"command": "ls"}), PolicyContext(RunRef("a", "s"))
    )

    assert denied is not None
    assert denied.ruling is Ruling.DENY
    assert allowed is not None
    assert allowed.ruling is Ruling.ALLOW


def test_policy_and_timeouts_are_read() -> None:
    settings = read(
        ROUTE
        + 'timeout = "1m30s"\n[always]\nremember = "7d"\n[policy]\ndefault = "allow"\n'
        + 'deny = [{ tool = "bash", params = { command = "ls" } }]\n'
    )

    assert settings.routes.routes[0].seconds == 90
    assert settings.policies.sections[0].default == "allow"
    assert settings.policies.sections[0].deny[0].rule.params == {"command": "ls"}
    assert settings.always.remember_for == timedelta(days=7)


def test_always_is_remembered_for_the_session_only_unless_told() -> None:
    assert read(ROUTE).always == GrantOptions()
    told = read(ROUTE + '[always]\nscopes = ["session", "agent", "window"]\n')
    off = read(ROUTE + "[always]\nscopes = []\n")

    assert told.always == GrantOptions(scopes=frozenset({"session", "agent", "tool-window"}))
    assert off.always.scopes == frozenset()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('window = "1h"', "always.window is not a setting; settings here are remember, scopes"),
        ('remember = "0s"', "always.remember '0s' must be more than 0s"),
        ('scopes = ["world"]', "always.scopes 1 must be 'session', 'project', 'agent' or 'window'"),
        ('scopes = "agent"', "always.scopes must be a list"),
    ],
)
def test_terms_that_cannot_be_are_explained(line: str, problem: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(ROUTE + f"[always]\n{line}\n")

    assert problem in str(raised.value)


def test_no_secret_is_in_the_repr() -> None:
    env = {**BOTH, "SAYSO_STORE_URL": "redis://:store-of-a-test@host"}
    settings = read(ROUTE_TO_BOTH, env)

    assert set(settings.platforms) == {"slack", "telegram"}
    assert "of-a-test" not in repr(settings) + str(settings)


def test_places_where_nobody_may_approve_are_warned_of() -> None:
    settings = read(
        '[people.alice]\nslack = "U0A"\n'
        '[[route]]\ntool = "x"\nto = ["slack:C0OPS"]\n'
        '[[route]]\nto = ["slack:C0OPS", "telegram:42"]\napprovers = ["alice"]\n'
        '[[route]]\ntool = "y"\nto = ["slack:C0OPS"]\napprovers = ["slack:@oncall"]\n',
        BOTH,
    )

    assert tuple(warning.text for warning in settings.warnings) == (
        (
            "route 1 has no approvers: NOBODY may approve what is shown in slack:C0OPS; "
            'add approvers = ["slack:U0ALICE"] or a person'
        ),
        (
            "none of the approvers of route 2 has a Telegram account, so NOBODY may approve in "
            "telegram:42; add one, such as telegram:4242"
        ),
        "route 3 is never used: route 2 takes everything first",
    )


def test_a_machine_that_only_asks_knows_the_names_of_people_and_no_platform(
    tmp_path: Path,
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text('[people.alice]\nslack = ["U0ALICE", "U0ADMIN"]\ntelegram = 4242\n')

    routes = read_ask_settings(str(config), {}).routes

    names = [routes.name(actor) for actor in ("slack:U0ADMIN", "telegram:4242", "slack:U0BOB")]
    assert names == ["alice", "alice", ""]


def test_examples_are_of_the_platform_that_the_route_leads_to() -> None:
    settings = read('[[route]]\nto = ["telegram:42"]\n', TELEGRAM)

    (warning,) = settings.warnings
    assert 'add approvers = ["telegram:4242"]' in warning.text
    assert warning.nobody


@pytest.mark.parametrize(
    ("to", "approvers", "nobody"),
    [
        ('"telegram:42"', '"slack:U0ALICE"', True),
        ('"telegram:42", "slack:C0OPS"', '"slack:U0ALICE"', False),
    ],
)
def test_a_route_is_told_apart_on_which_nobody_may_approve_anything(
    to: str, approvers: str, nobody: bool
) -> None:
    settings = read(f"[[route]]\nto = [{to}]\napprovers = [{approvers}]\n", BOTH)

    assert [warning.nobody for warning in settings.warnings] == [nobody]


def test_secrets_of_a_platform_that_no_route_leads_to_are_spoken_of() -> None:
    assert read(ROUTE).unrouted == {}
    assert read(ROUTE, BOTH).unrouted == {
        "telegram": (
            "TELEGRAM_BOT_TOKEN is set, but no route leads to Telegram; add a place such as "
            "telegram:-1001234567890 to a route, or unset it"
        )
    }


def test_a_default_store_that_is_away_is_called_that_and_its_address_said_once() -> None:
    error = StoreUnreachableError("no Redis answers at 127.0.0.1:6379; start one")

    assert read(ROUTE).store.explain_unreachable(error) == (
        "the default store: no Redis answers at 127.0.0.1:6379; start one; "
        "name another one with store.url or SAYSO_STORE_URL"
    )
