"""``sayso check`` points at doubtful rules and sections of [[policy]]."""

from __future__ import annotations

import pytest
from support.settings_text import ROUTE, SLACK

from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.checks import policy_findings


def told(text: str) -> list[str]:
    policies = build_settings(parse_source(ROUTE + text, SLACK)).policies
    return [f"{one.level} {one.text}" for one in policy_findings(policies)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", 'agent = "deploy-*"'),
        ('agent = "deploy-*"', 'agent = "deploy-prod-*"'),
        ('agent = "deploy-*"', 'agent = "deploy-1"'),
        ('tool = "git_*"', 'agent = "a"\ntool = "git_push"'),
    ],
)
def test_a_section_behind_a_wider_one_is_about_no_call(first: str, second: str) -> None:
    (found,) = told(f"[[policy]]\n{first}\n[[policy]]\n{second}\ndeny = [{{ tool = 'x' }}]\n")

    assert found.startswith("warning policy 2: is about no call (sayso.toml:")
    assert "policy 1 (sayso.toml:" in found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('agent = "deploy-*"', ""),
        ('agent = "deploy-*"', 'agent = "*-prod"'),
        ('agent = "d*y"', 'agent = "dx*"'),
        ('tool = "git_*"', 'agent = "deploy-*"'),
    ],
)
def test_a_section_that_some_calls_come_to_is_none_of_them(first: str, second: str) -> None:
    rule = "deny = [{ tool = 'x' }]\n"
    found = told(f"[[policy]]\n{first}\n[[policy]]\n{second}\n{rule}")

    assert found == ["ok 1 rule without surprises"]


def test_a_rule_about_a_tool_that_never_comes_to_its_section_is_named_with_its_line() -> None:
    found = told(
        '[[policy]]\ntool = "bash"\n[[policy]]\ndeny = [{ tool = "bash" }, { tool = "drop" }]\n'
        '[[policy]]\ntool = "git_*"\nallow_once = [{ tool = "push" }]\n'
    )

    line = ROUTE.count("\n") + 4
    assert found[0] == (
        f"warning policy 2: deny rule 1 (sayso.toml:{line}) never matches: policy 1 "
        f"(sayso.toml:{line - 3}) comes first for 'bash'"
    )
    assert any("policy 3: is about no call" in one for one in found)


def test_a_rule_about_a_tool_that_its_section_is_not_about_is_named() -> None:
    (found,) = told('[[policy]]\ntool = "git_*"\ndeny = [{ tool = "push" }]\n')

    assert "deny rule 1 (sayso.toml:" in found
    assert "never matches: the section is about tools such as 'git_*', not 'push'" in found


def test_dangers_of_rules_are_named_with_their_section() -> None:
    found = told(
        '[[policy]]\nagent = "a"\n[[policy]]\n'
        'allow = [{ tool = "bash", params = { command = "ls*" } }]\n'
        'allow_once = [{ tool = "read" }]\ndeny = [{ tool = "read" }]\n'
    )

    assert any("policy 2: allow rule 1, command 'ls*'" in one for one in found)
    assert any("policy 2: allow-once rule 1 never applies" in one for one in found)


def test_a_preset_for_agents_that_are_named_is_nothing_to_tell() -> None:
    assert told('[[policy]]\nagent = "claude-*"\npreset = "coding"\n') == []


def test_a_preset_for_every_agent_is_named_with_its_line() -> None:
    (found,) = told('[[policy]]\npreset = "coding"\n')

    assert found.startswith("warning policy 1: takes the names of tools as every agent uses them")
    assert f"(sayso.toml:{ROUTE.count(chr(10)) + 1})" in found
    assert 'agent = "…"' in found
