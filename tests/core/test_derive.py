"""From a call to rules worth storing: never wider than what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.calls import ToolCall, arguments_digest
from assent.derive import derive, describe
from assent.requirements import Declaration
from assent.rules import Rule, literal_rule


def bash(command: Any, **others: Any) -> ToolCall:
    return ToolCall("bash", {"command": command, **others})


def program(command: str, **others: Any) -> Rule:
    _, rule, _ = derive(bash(command, **others))
    return rule


def test_widths_go_from_this_command_to_this_program_to_this_tool() -> None:
    call = bash("git status")

    exact, program, tool = derive(call)

    assert exact == literal_rule(call)
    assert [rule.matches(bash("git push origin main")) for rule in (exact, program, tool)] == [
        False,
        True,
        True,
    ]
    assert [rule.matches(bash("rm -rf /")) for rule in (exact, program, tool)] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "other",
    [
        "gitk",
        "git2 status",
        "git status; rm -rf /",
        "git status && rm x",
        "git status | sh",
        "git status\nrm x",
        "git $(rm x)",
        "git `rm x`",
        "git status > x",
        "git a,b",
        "git 'x'",
        " git status",
        "./git status",
        "GIT status",
        ["git status", "rm x"],
        {"git": "status"},
    ],
)
def test_this_program_is_never_wider_than_plain_words(other: Any) -> None:
    assert not program("git status").matches(bash(other))


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf /",
        "git log | head",
        "echo $HOME",
        "sudo ls",
        "env ls",
        "bash x.sh",
        "python3.12 x.py",
        "./run.sh",
        "A=1 ls",
        "ls\n",
        "",
        " ls",
        "~/x",
        ["ls"],
        5,
    ],
)
def test_this_program_is_not_offered_where_it_could_mean_more(command: Any) -> None:
    assert derive(bash(command)) == (literal_rule(bash(command)), Rule("bash"))


def test_this_program_keeps_the_other_arguments_as_they_were() -> None:
    rule = program("git status", cwd="/srv/*", dry=True)

    assert rule.matches(bash("git push", cwd="/srv/*", dry=True))
    assert not rule.matches(bash("git push", cwd="/srv/x", dry=True))
    assert not rule.matches(bash("git push", cwd="/srv/*", dry=False))
    assert len(derive(bash("git status", env={"A": 1}))) == 2
    assert len(derive(bash("git status", cmd="git log"))) == 2


LS_ANYTHING = arguments_digest({"command": "ls *"})


def suggests(arguments: Mapping[str, Any]) -> list[Rule]:
    return [Rule("bash", {"command": "git status*"}), Rule("bash", {"command": "other"})]


@pytest.mark.parametrize("declared", [suggests, Declaration(derive=suggests)])
def test_a_tool_declares_better_rules_and_those_not_about_the_call_are_dropped(
    declared: Any,
) -> None:
    call = bash("git status")

    assert derive(call, declared=declared) == (literal_rule(call), suggests({})[0], Rule("bash"))


@pytest.mark.parametrize("said", [None, [None], ["bash"], 5, Rule("other")])
def test_a_tool_that_declares_nonsense_suggests_nothing(said: Any) -> None:
    call = bash("git status")

    assert derive(call, declared=lambda arguments: said) == (literal_rule(call), Rule("bash"))


def test_a_tool_that_fails_to_suggest_is_asked_about_all_the_same() -> None:
    def fails(arguments: Mapping[str, Any]) -> Rule:
        raise KeyError("command")

    assert derive(bash("ls"), declared=fails) == (literal_rule(bash("ls")), Rule("bash"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule("bash"), "every call of bash, whatever its arguments"),
        (
            program("git status"),
            (
                "bash where command is git, alone or followed by any plain words (letters, "
                "digits, spaces and _ . / : = @ % + -; no other character); "
                "any other arguments may be anything"
            ),
        ),
        (
            Rule("read", {"path": "src/**"}),
            'read where path fits the pattern "src/**"; any other arguments may be anything',
        ),
        (
            Rule("read", {"path": "a\\*"}),
            'read where path is "a*"; any other arguments may be anything',
        ),
        (
            literal_rule(bash("ls *")),
            (
                f"bash with exactly these arguments (digest {LS_ANYTHING[:12]})"
                ' and no others: command is "ls *"'
            ),
        ),
    ],
)
def test_a_rule_is_described_in_words_that_say_exactly_what_it_allows(
    rule: Rule, words: str
) -> None:
    assert describe(rule) == words


def test_a_description_shows_no_secrets_and_nothing_invisible() -> None:
    words = describe(literal_rule(ToolCall("login", {"password": "hunter2", "to\u202e": "a\nb"})))

    assert "hunter2" not in words
    assert "\u202e" not in words
    assert "\n" not in words


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.text(max_size=6)
    | st.sampled_from(["*", "!a", "{a,b}", "[a-z]", "a\\", "./a", "1", "true", "null", ""])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["command", "path", "x"]), JSON, max_size=3)


@settings(max_examples=400, deadline=None)
@given(arguments=ARGUMENTS, other=ARGUMENTS)
def test_a_derived_rule_matches_its_own_call_and_the_literal_one_no_other_value(
    arguments: dict[str, Any], other: dict[str, Any]
) -> None:
    call, stranger = ToolCall("t", arguments), ToolCall("t", other)
    rules = derive(call)

    assert all(rule.matches(call) for rule in rules)
    same = arguments_digest(arguments) == arguments_digest(other)
    assert rules[0].matches(stranger) is same
    assert not any(rule.matches(ToolCall("t2", arguments)) for rule in rules)


@settings(max_examples=400, deadline=None)
@given(arguments=ARGUMENTS.filter(bool), value=JSON, data=st.data())
def test_a_literal_rule_matches_no_call_with_any_other_argument_value(
    arguments: dict[str, Any], value: Any, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(arguments)))
    changed = {**arguments, name: value}
    rule = derive(ToolCall("t", arguments))[0]

    same = repr(changed[name]) == repr(arguments[name])
    if not same and changed[name] != arguments[name]:
        assert not rule.matches(ToolCall("t", changed))


@settings(max_examples=400, deadline=None)
@given(tail=st.text(alphabet="ab -./;|&$`\n\\'\"(){}<>*?#~,!", max_size=8))
def test_this_program_takes_only_what_its_words_say(tail: str) -> None:
    plain = tail == "" or (tail[0] == " " and len(tail) > 1 and set(tail) <= set("ab -./"))

    assert program("git status").matches(bash("git" + tail)) is plain
