"""Rules and the simplest policy: nothing comes before a denial."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assent.calls import RunRef, ToolCall
from assent.errors import ConfigError
from assent.globs import escape
from assent.policy import Context, RulePolicy, Ruling
from assent.rules import RememberedRule, Rule, literal_rule

RUN = RunRef("a", "s")
LS = ToolCall("bash", {"command": "ls"})


def remembered(call: ToolCall) -> tuple[RememberedRule, ...]:
    now = datetime.now(UTC)
    return (RememberedRule(literal_rule(call), "allow", "slack:U0ALICE", now, now + timedelta(1)),)


@pytest.mark.parametrize(
    ("policy", "ruling", "line"),
    [
        (RulePolicy(), Ruling.ASK, "default"),
        (RulePolicy(default="allow"), Ruling.ALLOW, "default"),
        (RulePolicy(allow=[Rule("bash")]), Ruling.ALLOW, "allow rule 1"),
        (RulePolicy(allow=[Rule("other"), Rule("bash")]), Ruling.ALLOW, "allow rule 2"),
        (RulePolicy(allow=[Rule("bash")], deny=[Rule("bash")]), Ruling.DENY, "deny rule 1"),
        (RulePolicy(default="allow", deny=[Rule("bash")]), Ruling.DENY, "deny rule 1"),
        (RulePolicy(deny=[Rule("bash", {"command": "rm"})]), Ruling.ASK, "default"),
    ],
)
def test_the_order_of_the_policy(policy: RulePolicy, ruling: Ruling, line: str) -> None:
    decision = policy.decide(LS, Context(RUN))

    assert decision.ruling is ruling
    assert decision.line == line
    assert decision.reason


def test_what_a_person_stored_allows_the_call() -> None:
    decision = RulePolicy().decide(LS, Context(RUN, remembered(LS)))

    assert decision.ruling is Ruling.ALLOW
    assert "slack:U0ALICE" in decision.reason


def test_a_deny_rule_beats_what_a_person_stored() -> None:
    decision = RulePolicy(deny=[Rule("bash")]).decide(LS, Context(RUN, remembered(LS)))

    assert decision.ruling is Ruling.DENY


@pytest.mark.parametrize(
    "arguments",
    [{}, {"command": "ls "}, {"command": "LS"}, {"command": "ls", "more": 1}, {"command": ["ls"]}],
)
def test_a_literal_rule_is_about_its_own_arguments_only(arguments: dict[str, Any]) -> None:
    rule = literal_rule(LS)

    assert rule.matches(ToolCall("bash", {"command": "ls"}))
    assert not rule.matches(ToolCall("bash", arguments))
    assert not rule.matches(ToolCall("bash2", {"command": "ls"}))


@pytest.mark.parametrize("value", ["*", "a\\*b", "[x]", "{a,b}", "!(x)", "a|b", "?", "@(a)", "\\"])
def test_glob_characters_from_arguments_are_only_characters(value: str) -> None:
    rule = Rule("bash", {"command": escape(value)})

    assert rule.matches(ToolCall("bash", {"command": value}))
    assert not rule.matches(ToolCall("bash", {"command": "anything"}))


@pytest.mark.parametrize("pattern", ["(", "x" * 70_000])
def test_a_pattern_that_is_refused_names_its_parameter(pattern: str) -> None:
    with pytest.raises(ConfigError, match="'command'"):
        Rule("bash", {"command": pattern})


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"command": "git status --short"}, True),
        ({"command": "git push"}, False),
        ({"command": "git status", "depth": 3}, True),
        ({}, False),
    ],
)
def test_every_pattern_must_fit(arguments: dict[str, Any], fits: bool) -> None:
    assert Rule("bash", {"command": "git status*"}).matches(ToolCall("bash", arguments)) is fits


@pytest.mark.parametrize(
    ("value", "pattern"), [(True, "true"), (3, "[0-9]"), (None, "null"), ([1, 2], "1,*")]
)
def test_patterns_see_values_as_javascript_writes_them(value: Any, pattern: str) -> None:
    assert Rule("t", {"x": pattern}).matches(ToolCall("t", {"x": value}))


def test_a_missing_parameter_does_not_match() -> None:
    assert not Rule("bash", {"path": "x"}).matches(LS)
