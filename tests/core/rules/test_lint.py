"""Rules that would surprise their author are named before they do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sayso.calls import ToolCall
from sayso.errors import ConfigError
from sayso.rules.glob import Glob
from sayso.rules.lint import lint_rules as lint
from sayso.rules.rule import Rule, literal_rule


def lint_rules(
    allow: Sequence[Rule], deny: Sequence[Rule], allow_once: Sequence[Rule] = ()
) -> tuple[str, ...]:
    """The findings as people read them."""
    return tuple(map(str, lint(allow, deny, allow_once)))


def bash(pattern: str) -> Rule:
    return Rule("bash", {"command": pattern})


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (bash("ls*"), "'ls; rm -rf /'"),
        (Rule("read", {"path": "src/**"}), "'src/../etc/passwd'"),
        (bash("**"), "matches nearly everything"),
        (bash("!rm*"), "nearly everything that is not named"),
        (bash("[!r]*"), "is not a negation"),
        (bash("{1..100}"), "not a number in a range"),
        (Rule("bash"), "allows every call of bash"),
    ],
)
def test_the_dangers_of_an_allow_rule_are_named(rule: Rule, said: str) -> None:
    for sentences in (lint_rules([rule], []), lint_rules([], [], [rule])):
        assert any(said in sentence for sentence in sentences), sentences


def test_a_wide_deny_rule_is_no_danger() -> None:
    said = lint_rules([], [bash("rm*"), Rule("deploy")])

    assert not any("another one after it" in sentence for sentence in said)
    assert not any("deny rule 2" in sentence for sentence in said)


@pytest.mark.parametrize("pattern", ["[[:foo:]]", "[[.a.]]", "[[=a=]] *", "x[:alpha:]", "[a"])
def test_a_bracket_that_means_something_else_is_an_error_and_denies_nothing_else(
    pattern: str,
) -> None:
    with pytest.raises(ConfigError, match=r"the pattern of 'command' is refused: .* write "):
        bash(pattern)


@pytest.mark.parametrize(
    ("pattern", "missed"),
    [
        ("rm -rf *", ["rm -rf x\ny", "rm -rf /.x", " rm -rf x"]),
        ("rm*", ["rmx\ny", "rm/.x", " rmx"]),
        ("{rm,mv} *", ["rm x\ny", " rm x"]),
        ("/etc/**", ["/etc/x\ny", "/etc//.x", " /etc/x"]),
        ("*.env", ["x\ny.env", ".x.env"]),
    ],
)
def test_what_a_deny_rule_misses_is_told_with_values_that_it_does_not_match(
    pattern: str, missed: list[str]
) -> None:
    [said] = [text for text in lint_rules([], [bash(pattern)]) if "does not match" in text]

    assert said.startswith(f"deny rule 1, command {pattern!r}: It does not match values with ")
    assert said.endswith(f"for example {', '.join(map(repr, missed))}")
    assert not any(Glob(pattern).matches(value) for value in missed)


@pytest.mark.parametrize("rule", [bash("rm"), bash("!ls"), Rule("bash", {}, "0" * 64)])
def test_a_deny_rule_without_stars_is_not_said_to_miss_anything(rule: Rule) -> None:
    assert not any("does not match" in text for text in lint_rules([], [rule]))


@pytest.mark.parametrize("tool", ["*", "bash*", "{a,b}", "!bash", "mcp__[a-z]"])
def test_a_pattern_as_the_name_of_a_tool_is_named(tool: str) -> None:
    said = f"rule 1: the names of tools are compared exactly, and {tool!r} looks like a pattern"
    rule = Rule(tool, {"command": "ls"})

    for sentences in (
        lint_rules([rule], []), lint_rules([], [rule]), lint_rules([], [], [rule])
    ):  # fmt: skip
        assert any(said in sentence for sentence in sentences), sentences
    assert not any("exactly" in text for text in lint_rules([Rule("mcp__a.b-c/d")], []))


def test_careful_rules_are_not_complained_about() -> None:
    literal = literal_rule(ToolCall("bash", {"command": "ls *"}))

    assert lint_rules([bash("ls"), literal, Rule("read", {"path": "a.txt"})], [bash("rm")]) == ()


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (bash("git *"), bash("git status")),
        (bash("git *"), bash("git status *")),
        (Rule("bash"), bash("ls")),
        (bash("ls"), Rule("bash", {"command": "ls", "cwd": "/"})),
        (bash("ls"), literal_rule(ToolCall("bash", {"command": "ls"}))),
    ],
)
def test_a_rule_shadowed_by_an_earlier_one_is_named(wide: Rule, narrow: Rule) -> None:
    said = "allow rule 2 changes nothing: allow rule 1 covers all its calls"

    assert any(said in sentence for sentence in lint_rules([wide, narrow], []))
    assert not any("changes nothing" in sentence for sentence in lint_rules([narrow, wide], []))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bash("src/*"), bash("src/.git*")),
        (bash("*"), bash(".git*")),
        (bash("ls*"), bash("l*")),
        (bash("ls"), Rule("read", {"command": "ls"})),
        (Rule("bash", {"cwd": "/"}), bash("ls")),
        (literal_rule(ToolCall("bash", {"command": "ls"})), bash("ls")),
    ],
)
def test_a_rule_that_may_still_count_is_not_called_shadowed(first: Rule, second: Rule) -> None:
    assert not any("changes nothing" in sentence for sentence in lint_rules([first, second], []))


def test_an_allow_rule_that_a_deny_rule_shadows_is_named() -> None:
    said = "allow rule 1 never applies: deny rule 1 covers all its calls and comes first"

    assert said in lint_rules([bash("rm x")], [bash("rm*")])


def test_a_duplicate_is_named() -> None:
    assert lint_rules([bash("ls"), bash("ls")], []) == (
        "allow rule 2 changes nothing: it repeats allow rule 1",
    )


def test_an_allow_once_rule_behind_an_allow_rule_is_named_and_one_that_stands_twice_is_not() -> (
    None
):
    once = [bash("ls"), bash("ls")]

    assert lint_rules([], [], once) == ()
    assert any("never used up" in sentence for sentence in lint_rules([bash("ls")], [], once))


def test_a_rule_that_holds_its_other_arguments_shadows_nothing_but_itself() -> None:
    holding = Rule("bash", {"command": "git *"}, others_digest="0" * 64)

    assert not any("comes first" in said for said in lint_rules([holding, bash("git push")], []))
    assert any("repeats allow rule 1" in said for said in lint_rules([holding, holding], []))


def test_a_rule_for_several_tools_is_told_of_each_and_covers_each() -> None:
    both = Rule("Edit", also=("Wri*",))

    assert any("Wri*" in sentence and "pattern" in sentence for sentence in lint_rules([both], []))
    covered = lint_rules([Rule("Edit", also=("Write",)), Rule("Write", {"path": "a"})], [])
    assert any("allow rule 2" in sentence and "covers all" in sentence for sentence in covered)
    wider = lint_rules([Rule("Write"), Rule("Write", {"path": "a"}, also=("Edit",))], [])
    assert not any("covers all" in sentence for sentence in wider)
