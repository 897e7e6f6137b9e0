"""``[api]`` of the settings, ``sayso api token`` and what ``sayso check`` says of it."""

from __future__ import annotations

import asyncio
import re

import pytest
from support.api_world import CI, token_lines
from support.commands import Run, env_of

from sayso.toml_file import SettingsError
from sayso_bots.config.api_tokens import ApiSettings, hash_token
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_playground import Playground

ENV = {"SLACK_BOT_TOKEN": "xoxb-of-a-test", "SLACK_SIGNING_SECRET": "s" * 32}
ROUTE = '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["slack:U0ALICE"]\n'
GOOD = token_lines("ci", CI, '["deploy-*"]')


def read(toml: str) -> ApiSettings | None:
    return build_settings(parse_source(ROUTE + toml, ENV)).api


def problems(toml: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read(toml)
    return list(caught.value.problems)


def test_a_token_and_origins_are_read() -> None:
    api = read(f'[api]\norigins = ["https://a.example", "http://localhost:3000"]\n{GOOD}')

    assert api is not None
    assert api.origins == {"https://a.example", "http://localhost:3000"}
    (token,) = api.tokens
    assert (token.name, token.agents, token.answers_own) == ("ci", ("deploy-*",), False)
    assert token.speaks_for("deploy-bot")
    assert not token.speaks_for("other")


def test_a_person_may_have_tokens_that_there_are() -> None:
    person = '[people.alice]\nslack = "U0ALICE"\napi = ["ci"]\n'

    routes = build_settings(parse_source(f"{person}{ROUTE}{GOOD}", ENV)).routes

    assert routes.people == {"alice": {"slack:U0ALICE", "api:ci"}}
    with pytest.raises(SettingsError) as unknown:
        build_settings(parse_source(f"{person}{ROUTE}", ENV))
    assert unknown.value.problems == (
        "sayso.toml line 3: people.alice.api names 'ci', but no [[api.token]] has this name",
    )
    with pytest.raises(SettingsError) as wrong:
        build_settings(parse_source(f'[people.alice]\napi = "c i"\n{ROUTE}', ENV))
    assert "people.alice.api 'c i' is not the name of an [[api.token]]" in str(wrong.value)


def test_without_a_token_it_is_off() -> None:
    assert read("") is None
    assert read('[api]\norigins = ["https://a.example"]\n') is None


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        (
            '[[api.token]]\nname = "ci"\nsha256 = "abc"\nagents = ["*"]\n',
            (
                "sayso.toml line 6: api.token 1.sha256 is not the SHA-256 of a token in 64 hex "
                "digits; `sayso api token NAME` prints this line"
            ),
        ),
        (
            f'[[api.token]]\nname = "c i"\nsha256 = "{"0" * 64}"\nagents = ["*"]\n',
            (
                "sayso.toml line 5: api.token 1.name must be 1 to 64 letters, digits and _ . -; "
                "the actor is api:NAME"
            ),
        ),
        (
            f'[[api.token]]\nname = "ci"\nsha256 = "{"0" * 64}"\nagents = []\n',
            (
                "sayso.toml line 7: api.token 1.agents names no agent; "
                'add agents = ["deploy-*"], or ["*"] for all'
            ),
        ),
        (
            f'[[api.token]]\nname = "ci"\nsha256 = "{"0" * 64}"\n',
            "sayso.toml line 4: api.token 1 has no 'agents'; add one",
        ),
        (
            "[api]\ntoken = 7\n",
            "sayso.toml line 5: api.token must be written with two brackets: [[api.token]]",
        ),
        (
            f"[api]\nper_second = 0\n{GOOD}",
            "sayso.toml line 5: api.per_second 0 is not a whole number from 1 to 10000",
        ),
        (
            f'[api]\norigins = ["https://a.example/path"]\n{GOOD}',
            (
                "sayso.toml line 5: api.origins 1 'https://a.example/path' is not an origin such "
                "as https://dashboard.example.com, without a path"
            ),
        ),
        (
            f'[api]\norigins = ["*"]\n{GOOD}',
            (
                "sayso.toml line 5: api.origins 1 '*' is not an origin such as "
                "https://dashboard.example.com, without a path"
            ),
        ),
        (
            GOOD + GOOD,
            "sayso.toml line 11: api.token 2.sha256 appears twice; remove one",
        ),
        (
            GOOD + token_lines("ci", f"{CI}2", '["*"]'),
            (
                "sayso.toml line 9: api.token 2 differs in agents or answers_own from another "
                "token named ci; give it a name of its own, or the same values"
            ),
        ),
        (
            f"{GOOD}answers_own = 7\n",
            "sayso.toml line 9: api.token 1.answers_own must be true or false, not 7",
        ),
        (
            '[api]\norigin = "x"\n',
            "sayso.toml line 5: api.origin is not a setting; did you mean origins?",
        ),
    ],
)
def test_a_wrong_setting_names_the_key_the_line_and_the_fix(toml: str, problem: str) -> None:
    assert problems(toml) == [problem]


async def test_an_api_without_a_token_is_pointed_out(run: Run, playground: Playground) -> None:
    toml = ROUTE + '[api]\norigins = ["https://a.example"]\n'
    env = env_of(playground, SAYSO_STORE_URL="memory://")

    settings = build_settings(parse_source(toml, ENV))
    done = await asyncio.to_thread(run, "check", toml=toml, env=env)

    text = "[api] has no [[api.token]], so the hosted API is off; `sayso api token NAME` makes one"
    assert settings.api_warnings == (text,)
    (line,) = [line for line in done.out.splitlines() if " api " in line]
    assert line.startswith("warning")
    assert text in line
    assert build_settings(parse_source(ROUTE, ENV)).api_warnings == ()


def test_an_approver_that_is_no_token_is_wrong() -> None:
    toml = ROUTE.replace('"slack:U0ALICE"', '"api:cj"') + GOOD
    with pytest.raises(SettingsError) as caught:
        build_settings(parse_source(toml, ENV))

    assert caught.value.problems == (
        (
            "sayso.toml line 3: route 1.approvers 1 names 'api:cj', but no [[api.token]] has "
            "this name; `sayso api token cj` makes one"
        ),
    )


def test_a_new_token_is_printed_once_with_the_settings_for_it(run: Run) -> None:
    done = run("api", "token", "ci", "--agent", "deploy-*", "--agent", "b")

    token = done.out.strip()
    assert done.code == 0
    assert re.fullmatch(r"sayso_[A-Za-z0-9_-]{43}", token)
    assert token not in done.err
    toml = done.err.partition("[[api.token]]")[2]
    api = read(f"[[api.token]]{toml}")
    assert api is not None
    assert api.tokens[0].sha256 == hash_token(token)
    assert api.tokens[0].agents == ("deploy-*", "b")


def test_patterns_of_any_text_are_printed_as_toml(run: Run) -> None:
    patterns = ["dépl💥y-*", 'a"b\\c', "tab\tand\x7f\x01"]
    done = run("api", "token", "ci", *(part for one in patterns for part in ("--agent", one)))

    api = read(f"[[api.token]]{done.err.partition('[[api.token]]')[2]}")

    assert done.code == 0
    assert api is not None
    assert list(api.tokens[0].agents) == patterns


def test_a_pattern_that_is_no_text_is_refused(run: Run) -> None:
    done = run("api", "token", "ci", "--agent", "a\udcff")

    assert (done.code, done.out) == (2, "")
    assert "not valid UTF-8" in done.err


def test_a_token_is_no_name_of_itself(run: Run) -> None:
    done = run("api", "token", CI)

    assert (done.code, done.out) == (2, "")
    assert CI not in done.err


def test_a_name_that_is_none_is_refused(run: Run) -> None:
    done = run("api", "token", "c i")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sayso: 'c i' is not a name")


async def test_sayso_check_says_who_may_call(run: Run, playground: Playground) -> None:
    toml = ROUTE + GOOD + token_lines("ci", f"{CI}2", '["deploy-*"]')
    env = env_of(playground, SAYSO_STORE_URL="memory://")

    done = await asyncio.to_thread(run, "check", toml=toml, env=env)

    assert "api        ci (2 tokens) speaks for deploy-*" in done.out
