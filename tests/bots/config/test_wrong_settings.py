"""Settings that are wrong: one clear line for everything, and the fix."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import Field
from support.settings_text import BOTH, ROUTE, ROUTE_TO_BOTH, SLACK, TELEGRAM, problems

from sayso.platforms import Section
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import read_settings
from sayso_bots.config.source import parse_source


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["slack:U0A"]\ntimout = "10m"',
            "sayso.toml line 4: route 1.timout is not a setting; did you mean timeout?",
        ),
        (
            "[servr]\nport = 1" + ROUTE,
            "sayso.toml line 1: servr is not a setting; did you mean server?",
        ),
        (
            "[server]\nqqq = 1" + ROUTE,
            (
                "sayso.toml line 2: server.qqq is not a setting; settings here are "
                "host, port, connections_per_source, reuse_port"
            ),
        ),
        (
            "[server]\nport = 70000" + ROUTE,
            "sayso.toml line 2: server.port must be at most 65535, not 70000",
        ),
        (
            '[slack]\nmode = "htp"' + ROUTE,
            "sayso.toml line 2: slack.mode must be 'http' or 'socket', not 'htp'",
        ),
        (
            '[slack]\nbot_token = "xoxb-of-a-test"' + ROUTE,
            (
                "sayso.toml line 2: slack.bot_token holds a secret, "
                "which must not stand in a file; "
                "remove it and set SLACK_BOT_TOKEN in the environment"
            ),
        ),
        (
            '[store]\nurl = "redis://:of-a-test@host"' + ROUTE,
            (
                "sayso.toml line 2: store.url holds a password, which must not stand in a file; "
                "set the whole address in SAYSO_STORE_URL"
            ),
        ),
        (
            '[store]\nurl = "postgres://host"' + ROUTE,
            (
                "sayso.toml line 2: store.url is not the address of a store; "
                "write redis://host:6379/0, or memory:// to try out"
            ),
        ),
        (
            '[people.alice]\ntelegram = "@alice"' + ROUTE,
            (
                "sayso.toml line 2: people.alice.telegram '@alice' is not a numeric "
                "Telegram user id such as 4242; usernames can change hands, "
                "@userinfobot tells the id"
            ),
        ),
        (
            "[people.alice]" + ROUTE,
            (
                "sayso.toml line 1: people.alice has no account; "
                'add slack = "U0ALICE" or telegram = 4242'
            ),
        ),
        (
            '[people.a]\nslack = "U0A"\n[people.b]\nslack = "U0A"' + ROUTE,
            "sayso.toml line 4: people.b.slack has the account slack:U0A, and so has a; remove one",
        ),
        (
            '[people.a]\nslack = ["U0A", "U0C"]\n[people.b]\ntelegram = 7\nslack = ["U0B", "U0A"]'
            + ROUTE,
            "sayso.toml line 5: people.b.slack has the account slack:U0A, and so has a; remove one",
        ),
        (
            f'{ROUTE.strip()}\nself_approval = "yes"',
            "sayso.toml line 4: route 1.self_approval must be true or false, not 'yes'",
        ),
        (
            '[[route]]\nto = ["slack:#ops"]',
            (
                "sayso.toml line 2: route 1.to 1 'slack:#ops' is not a Slack channel id; "
                "write slack:C0123ABCD, the id at the end of the channel's details"
            ),
        ),
        (
            '[[route]]\nto = ["telegram:@ops"]',
            (
                "sayso.toml line 2: route 1.to 1 'telegram:@ops' is not a Telegram chat id; write "
                "the number, such as telegram:-1001234567890: names can change hands"
            ),
        ),
        (
            '[[route]]\nto = ["telegram:-100"]',
            (
                "sayso.toml line 2: route 1.to 1 leads to telegram:-100, but telegram is not "
                "configured; set TELEGRAM_BOT_TOKEN or remove the place"
            ),
        ),
        (
            '[[route]]\nto = "slack:C0OPS"',
            "sayso.toml line 2: route 1.to must be a list such as [\"…\"], not 'slack:C0OPS'",
        ),
        (
            '[route]\nto = ["slack:C0OPS"]',
            "sayso.toml line 1: route must be written with two brackets: [[route]]",
        ),
        (
            "[server]\nport = true" + ROUTE,
            "sayso.toml line 2: server.port must be a whole number such as 10, not 'True'",
        ),
        (
            '[slack]\nteam_id = "acme"' + ROUTE,
            (
                "sayso.toml line 2: slack.team_id 'acme' cannot be right; "
                "write an id such as T0123ABCD"
            ),
        ),
        (
            '[slack]\napi_url = "slack.com/api"' + ROUTE,
            (
                "sayso.toml line 2: slack.api_url 'slack.com/api' cannot be right; "
                "write an address that begins with https://"
            ),
        ),
        (
            "[[route]]\nto = []",
            "sayso.toml line 2: route 1.to names no place; add one such as slack:C0123ABCD",
        ),
        ("[[route]]", "sayso.toml line 1: route 1 has no 'to'; add one"),
        (
            ROUTE + 'timeout = "10m"\nremind = ["3m", "10m"]',
            (
                "sayso.toml line 6: route 1.remind reminds after 10m, when a question has expired: "
                'its timeout is 10m; write less, such as "5m", or a longer timeout'
            ),
        ),
        (
            '[[slack]]\nmode = "socket"\n[[slack]]\nmode = "http"',
            (
                "sayso.toml line 3: slack 2 is written [slack], once: one `sayso serve` serves one "
                "workspace or bot of Slack; start another one, with settings of its own, for the "
                "next"
            ),
        ),
        (
            "[[telegram]]\n[[telegram]]",
            (
                "sayso.toml line 2: telegram 2 is written [telegram], once: one `sayso serve` "
                "serves one workspace or bot of Telegram; start another one, with settings of its "
                "own, for the next"
            ),
        ),
        (
            'server = "here"',
            (
                "sayso.toml line 1: server must be one table: write [server], and its settings "
                "below, not 'here'"
            ),
        ),
        (
            '[people]\nalice = "U0ALICE"',
            (
                "sayso.toml line 2: people.alice must be one table: write [people.alice], and its "
                "settings below, not 'U0ALICE'"
            ),
        ),
        (
            'route = ["slack:C0OPS"]',
            (
                "sayso.toml line 1: route 1 must be a table: write [[route]], and its settings "
                "below, not 'slack:C0OPS'"
            ),
        ),
        (
            '[people.alice]\nslack = "U0A"\n[[route]]\nto = ["slack:C0OPS"]\napprovers = ["alcie"]',
            (
                "sayso.toml line 5: route 1.approvers 1 'alcie' is not in [people]; "
                "did you mean alice?"
            ),
        ),
        (
            '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["@oncall"]',
            (
                "sayso.toml line 3: route 1.approvers 1 '@oncall' is not an approver; "
                "a Slack user group is written slack:@oncall"
            ),
        ),
        (
            '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["telegram:@alice"]',
            (
                "sayso.toml line 3: route 1.approvers 1 'telegram:@alice' cannot approve: "
                "Telegram has no groups of approvers, and usernames can change hands; "
                "write telegram: and the numeric user id"
            ),
        ),
        (
            ROUTE + "timeout = 10",
            (
                "sayso.toml line 5: route 1.timeout 10 is not a duration: "
                "10 has no unit, write 10s or 10m"
            ),
        ),
        (
            ROUTE + '[policy]\ndefault = "deny"',
            "sayso.toml line 6: policy.default must be 'ask' or 'allow', not 'deny'",
        ),
        (
            ROUTE + '[policy]\ndeny = [\n  { tol = "bash", tool = "x" },\n]',
            "sayso.toml line 7: policy.deny 1.tol is not a setting; did you mean tool?",
        ),
        (
            "[slack]\nbot_token = 'x'\n[[slack]]",
            (
                "sayso.toml is not valid TOML: Cannot overwrite a value (at line 3, column 8); "
                "such a table is written once, as [slack]: one `sayso serve` serves one workspace "
                "or bot of a platform"
            ),
        ),
        ("port = = 1", "sayso.toml is not valid TOML: Invalid value (at line 1, column 8)"),
    ],
)
def test_a_wrong_setting_is_one_line_with_file_line_key_and_fix(text: str, line: str) -> None:
    assert line in problems(text)


@pytest.mark.parametrize(
    ("env", "line"),
    [
        (
            {"SLACK_BOT_TOKEN": "xoxb-of-a-test"},
            (
                "SLACK_SIGNING_SECRET is not set; it is the Signing Secret under Basic Information "
                "of your Slack app"
            ),
        ),
        (
            {"SLACK_SIGNING_SECRET": "x", "SAYSO_SLACK_MODE": "http"},
            (
                "no platform is configured; set SLACK_BOT_TOKEN with SLACK_APP_TOKEN for Slack, "
                'TELEGRAM_BOT_TOKEN with telegram.mode = "polling" for Telegram, or both; '
                "docs/setup.md shows each step"
            ),
        ),
        (
            {"TELEGRAM_BOT_TOKEN": "123:of-a-test"},
            (
                "TELEGRAM_WEBHOOK_SECRET is not set; choose one, for example the output of "
                "`openssl rand -hex 32`, and register it with `sayso webhook set URL`"
            ),
        ),
        (
            {**SLACK, "SAYSO_SLACK_MODE": "socket"},
            (
                'SLACK_APP_TOKEN is not set; slack.mode = "socket" needs an app-level token '
                "(xapp-…) with the scope connections:write; make one under Basic Information "
                "of your Slack app"
            ),
        ),
        (
            {**SLACK, "SLACK_BOT_TOKEN": "xapp-of-a-test"},
            "SLACK_BOT_TOKEN holds another kind of token; the bot token begins with xoxb-",
        ),
        (
            {**TELEGRAM, "TELEGRAM_BOT_TOKEN": "of-a-test"},
            (
                "TELEGRAM_BOT_TOKEN does not have the form digits:letters; "
                "@BotFather shows it after /mybots, under API Token, copy all of it"
            ),
        ),
        (
            {**TELEGRAM, "TELEGRAM_WEBHOOK_SECRET": "of a test"},
            (
                "TELEGRAM_WEBHOOK_SECRET must have 1 to 256 characters of A-Z a-z 0-9 _ -; "
                "for example the output of `openssl rand -hex 32`"
            ),
        ),
        (
            {**SLACK, "SAYSO_PORT": "http"},
            "SAYSO_PORT must be a whole number such as 10, not 'http'",
        ),
        (
            {**SLACK, "SAYSO_STORE_URL": "localhost"},
            (
                "SAYSO_STORE_URL is not the address of a store; write redis://host:6379/0, "
                "or memory:// to try out"
            ),
        ),
    ],
)
def test_a_wrong_variable_is_one_line_with_its_name_and_the_fix(
    env: Mapping[str, str], line: str
) -> None:
    assert line in problems(ROUTE_TO_BOTH, env)


def test_a_section_without_its_token_names_the_variable_and_where_to_find_it() -> None:
    found = problems("[slack]\n[telegram]" + ROUTE, {})

    assert (
        "SLACK_BOT_TOKEN is not set; it is the Bot User OAuth Token (xoxb-…) under "
        "OAuth & Permissions of your Slack app"
    ) in found
    assert (
        "TELEGRAM_BOT_TOKEN is not set; @BotFather shows it after /mybots, under API Token"
    ) in found


def test_all_problems_are_told_at_once() -> None:
    assert len(problems('[server]\nport = "x"\nhst = 1\n[[route]]\nto = []\n', {})) == 4


def test_without_a_route_nothing_could_be_shown() -> None:
    assert problems("[slack]\n") == (
        (
            "sayso.toml has no [[route]], so nothing could be shown anywhere; add one such as "
            '[[route]] to = ["slack:C0123ABCD"] approvers = ["slack:U0ALICE"]'
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        '[slack]\nteam_id = "xoxb-1234-of-a-test"\n' + ROUTE,
        '[store]\nurl = "redis://user:of-a-test@host"\n' + ROUTE,
        '[telegram]\ntoken = "of-a-test"\n' + ROUTE,
        '[[route]]\nto = ["1234567890:' + 'AAHdqTcvCH1vGWJxfSeAAHdqTcvCH1of-a-test"]\n',
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(text: str) -> None:
    found = problems(text, BOTH)

    assert len(found) == 1
    assert "must not stand in a file" in found[0]
    assert "of-a-test" not in "".join(found)


class OfOnesOwn(Section):
    """A section as a platform from outside may have one."""

    width: int = Field(80, ge=20, le=200)
    share: float = Field(0.5, gt=0, lt=1)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("width = 10", "my.width must be at least 20, not 10"),
        ("width = 201", "my.width must be at most 200, not 201"),
        ("share = 0", "my.share must be more than 0.0, not 0"),
        ("share = 1.5", "my.share must be less than 1.0, not 1.5"),
    ],
)
def test_a_number_out_of_bounds_is_told_the_bounds_of_its_own_field(
    written: str, sentence: str
) -> None:
    source = parse_source(f"[my]\n{written}\n", {})

    assert source.read_section(OfOnesOwn, "my") is None
    assert source.problems == [("my", f"sayso.toml line 2: {sentence}")]


def test_a_string_without_its_closing_quote_is_asked_about() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_source('[server]\nhost = "127.0.0.1\nport = 1\n', {})

    (text,) = caught.value.problems
    assert "line 2" in text
    assert text.endswith("is a closing quote missing in that line?")


def test_a_byte_order_mark_is_read_past(tmp_path: Path) -> None:
    file = tmp_path / "sayso.toml"
    file.write_bytes(b"\xef\xbb\xbf" + ROUTE.lstrip().encode())

    assert read_settings(str(file), SLACK).routes.routes
