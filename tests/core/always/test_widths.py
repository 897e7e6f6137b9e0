"""From a call to rules worth storing: never wider than what is said of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.always.widths import derive
from sayso.calls import ToolCall
from sayso.rules.declarations import ToolAnnotations
from sayso.rules.javascript import as_text
from sayso.rules.rule import PatternRule, Rule, literal_rule
from sayso.shell.read_only_table import read_only_table

NAMES = sorted(read_only_table().names)
FILES = sorted(read_only_table().files)
ROOT = Path(__file__).parents[3]


def bash(command: Any, **others: Any) -> ToolCall:
    return ToolCall("terminal", {"command": command, **others})


def program(command: str, **others: Any) -> Rule:
    _, rule, _ = derive(bash(command, **others))
    return rule


def test_widths_go_from_this_command_to_this_program_to_this_tool() -> None:
    call = bash("ls -la")

    exact, program, tool = derive(call)

    assert exact == literal_rule(call)
    assert [rule.matches(bash("ls /srv")) for rule in (exact, program, tool)] == [
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
        "lsof",
        "ls2 -la",
        "ls.exe -la",
        "ls; rm -rf /",
        "ls && rm x",
        "ls & rm x",
        "ls | sh",
        "ls\nrm x",
        "ls\r\nrm x",
        "ls $(rm x)",
        "ls `rm x`",
        "ls <(rm x)",
        "ls > x",
        "ls %COMSPEC%",
        "ls ^& rm",
        "ls a,b",
        "ls 'x'",
        "ls ~",
        "ls *",
        "ls \\",
        "ls \u00a0x",
        "ls \u2028rm x",
        "ls\tx",
        " ls -la",
        "./ls -la",
        "/tmp/ls -la",
        "LS -la",
        "A=1 ls",
        ["ls -la", "rm x"],
        {"ls": "-la"},
    ],
)
def test_this_program_is_never_wider_than_plain_words(other: Any) -> None:
    assert not program("ls -la").matches(bash(other))


RUNNERS = re.findall(
    r"\S+",
    """
    sudo doas su env sh bash zsh fish xargs nohup timeout nice watch eval exec command builtin
    source . trap busybox ssh python3 python3.12 perl ruby node npm npx pip uv uvx pipx awk
    sed find fd make cmake systemd-run docker podman kubectl helm terraform go cargo git hg
    svn tar zip unzip rsync scp curl wget vim vi ed less more man tee dd cp mv rm ln chmod
    chown touch mkdir date hostname sort uniq file tree diff grep rg split csplit printf
    printenv set export alias cd test which uname crontab at strace gdb ld.so openssl nc socat
    mount psql sqlite3 GCC ls.exe catt l LS
    """,
)


@pytest.mark.parametrize("name", RUNNERS)
def test_a_program_that_is_not_known_to_only_look_is_not_offered(name: str) -> None:
    for command in (name, f"{name} x", f"{name} ls"):
        assert derive(bash(command)) == (literal_rule(bash(command)), Rule("terminal"))


def test_the_programs_that_are_offered_are_those_of_the_documentation() -> None:
    documented = (ROOT / "docs/decisions/0007-widths-of-always.md").read_text()

    assert set(NAMES).isdisjoint(FILES)
    for names in (NAMES, FILES):
        assert ", ".join(f"`{name}`" for name in names) in " ".join(documented.split())
    for name in (*NAMES, *FILES):
        assert program(f"{name} x").matches(bash(f"{name} -a /srv/y"))


@pytest.mark.parametrize(
    "command",
    [
        *("ls; rm -rf /", "ls | head", "echo $HOME", "./ls", "A=1 ls", "ls\n", "", " ls", "~/ls"),
        *(["ls"], {"ls": 1}, 5, None),
    ],
)
def test_this_program_is_not_offered_where_it_could_mean_more(command: Any) -> None:
    assert derive(bash(command)) == (literal_rule(bash(command)), Rule("terminal"))


@pytest.mark.parametrize(
    "changed",
    [
        {"cwd": "/srv/x"},
        {"cwd": ["/srv/*"]},
        {"dry": "true"},
        {"dry": 1},
        {"user": "null"},
        {"tags": "1,2"},
        {"tags": [1, "2"]},
        {"env": {"A": 2}},
        {"env": {"A": 1, "LD_PRELOAD": "/tmp/x.so"}},
        {"shell": "/tmp/x"},
    ],
)
def test_this_program_keeps_the_other_arguments_as_they_were(changed: dict[str, Any]) -> None:
    others = {"cwd": "/srv/*", "dry": True, "user": None, "tags": [1, 2], "env": {"A": 1}}
    rule = program("ls -la", **others)

    assert rule.matches(bash("ls /tmp", **others))
    assert not rule.matches(bash("ls /tmp", **{**others, **changed}))


def test_this_program_takes_no_argument_beside_those_of_the_call() -> None:
    rule = program("ls -la")

    assert rule.matches(bash("ls /tmp"))
    assert not rule.matches(bash("ls /tmp", env={"LD_PRELOAD": "/tmp/x.so"}))
    assert not program("ls -la", cwd="/srv").matches(bash("ls /tmp"))


def test_of_two_command_lines_neither_is_taken_for_the_one_that_runs() -> None:
    assert len(derive(bash("ls -la", cmd="ls"))) == 2


def suggests(arguments: Mapping[str, Any]) -> list[Rule]:
    return [
        PatternRule("terminal", {"command": "git status*"}),
        Rule("terminal", {"command": "other"}),
    ]


@pytest.mark.parametrize("declared", [suggests, ToolAnnotations(derive=suggests)])
def test_a_tool_declares_better_rules_and_those_not_about_the_call_are_dropped(
    declared: Any,
) -> None:
    call = bash("git status")

    wider = Rule("terminal", {"command": "git status*"})
    assert derive(call, declared=declared) == (literal_rule(call), wider, Rule("terminal"))


@pytest.mark.parametrize("said", [None, [None], ["bash"], 5, Rule("other")])
def test_a_tool_that_declares_nonsense_suggests_nothing(said: Any) -> None:
    call = bash("git status")

    assert derive(call, declared=lambda arguments: said) == (literal_rule(call), Rule("terminal"))


def test_a_tool_that_fails_to_suggest_is_asked_about_all_the_same() -> None:
    def fails(arguments: Mapping[str, Any]) -> Rule:
        raise KeyError("command")

    assert derive(bash("ls"), declared=fails) == (literal_rule(bash("ls")), Rule("terminal"))


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


def written(value: Any) -> str:
    """A value with its type: to Python 1 and True are equal, in JSON 1 and 1.0 are."""
    return json.dumps(one_number(value), sort_keys=True)


def one_number(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [one_number(item) for item in value]
    if isinstance(value, dict):
        return {name: one_number(item) for name, item in value.items()}
    return value


def others_that_read_alike(value: Any) -> list[Any]:
    """Values of other types that a pattern cannot tell from this one."""
    text = as_text(value)
    alike: list[Any] = [text, [text], [value], [[value]]]
    if isinstance(value, list):
        alike += [text.split(","), [value]]
    if isinstance(value, dict):
        alike += [{}, {**value, "more": 1}]
    if text in ("0", "1"):
        alike += [bool(int(text)), int(text), float(text)]
    if text == "":
        alike += [[], [None], [[]], ""]
    return [other for other in alike if written(other) != written(value)]


@settings(max_examples=examples(400))
@given(arguments=ARGUMENTS, other=ARGUMENTS)
def test_a_derived_rule_matches_its_own_call_and_the_literal_one_no_other_value(
    arguments: dict[str, Any], other: dict[str, Any]
) -> None:
    call, stranger = ToolCall("t", arguments), ToolCall("t", other)
    rules = derive(call)

    assert all(rule.matches(call) for rule in rules)
    assert rules[0].matches(stranger) is (written(arguments) == written(other))
    assert not any(rule.matches(ToolCall("t2", arguments)) for rule in rules)


@settings(max_examples=examples(400))
@given(arguments=ARGUMENTS.filter(bool), value=JSON, data=st.data())
def test_a_literal_rule_matches_no_call_with_any_other_argument_value(
    arguments: dict[str, Any], value: Any, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(arguments)))
    others = [value, *others_that_read_alike(arguments[name])]
    rule = derive(ToolCall("t", arguments))[0]

    for other in others:
        same = written(other) == written(arguments[name])
        assert rule.matches(ToolCall("t", {**arguments, name: other})) is same


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("1", 1),
        (1, True),
        (True, "true"),
        (None, "null"),
        ([1, 2], "1,2"),
        ([1, 2], ["1", "2"]),
        ([1, [2, 3]], [1, 2, 3]),
        ([], ""),
        ([None], []),
        (["a"], "a"),
        ({"a": 1}, {"b": 2}),
        ({"a": 1}, "[object Object]"),
        ([{"a": 1}], [{"a": 2}]),
        (10**21, "1e+21"),
        (2**53, 2**53 + 1),
        ("a", "a "),
    ],
)
def test_a_literal_rule_tells_apart_what_reads_alike(value: Any, other: Any) -> None:
    for first, second in ((value, other), (other, value)):
        for arguments, stranger in (({"x": first}, {"x": second}), (_deep(first), _deep(second))):
            rule = derive(ToolCall("t", arguments))[0]

            assert rule.matches(ToolCall("t", arguments))
            assert not rule.matches(ToolCall("t", stranger))


def test_a_literal_rule_tells_a_missing_argument_from_one_that_is_empty() -> None:
    for more in ({"x": None}, {"x": ""}, {"y": 1}):
        assert not derive(ToolCall("t"))[0].matches(ToolCall("t", more))
        assert not derive(ToolCall("t", more))[0].matches(ToolCall("t"))


def _deep(value: Any) -> dict[str, Any]:
    return {"x": {"y": [value]}}


PROGRAMS = st.sampled_from([*NAMES, *FILES])
OFFERED = st.builds(
    "{}{}".format, PROGRAMS, st.just("") | st.text("ab -./=@:+_9", min_size=1).map(" ".__add__)
)
HOSTILE = st.sampled_from([*";&|`$(){}<>\n\r\t\0\\'\"*?[]!#~^%,", "\u2028", "\x85", "\u00a0"])


@settings(max_examples=examples(400))
@given(command=OFFERED, before=st.text(max_size=5), sign=HOSTILE, after=st.text(max_size=9))
def test_this_program_never_takes_a_value_with_a_sign_of_the_shell(
    command: str, before: str, sign: str, after: str
) -> None:
    rule = program(command)

    assert rule.matches(bash(command))
    for value in (command + before + sign + after, command + " " + sign + after, sign + command):
        assert not rule.matches(bash(value))
        assert not rule.matches(bash([value]))
        assert not rule.matches(bash([command, value]))


@settings(max_examples=examples(400))
@given(command=OFFERED, value=st.text(max_size=12) | st.sampled_from(RUNNERS) | OFFERED)
def test_this_program_never_takes_a_value_that_starts_another_program(
    command: str, value: str
) -> None:
    name = command.split(" ")[0]
    others = (value, f"{value} {command}", f"{name}{value}", f"{value}{name}")

    for other in others:
        starts = re.split(r"[^a-zA-Z0-9_./:=@+-]", other)[0]
        if program(command).matches(bash(other)):
            assert starts == name


@settings(max_examples=examples(400))
@given(tail=st.text(alphabet="ab -./;|&$`\n\\'\"(){}<>*?#~,!%^", max_size=8))
def test_this_program_takes_only_what_its_words_say(tail: str) -> None:
    plain = tail == "" or (tail[0] == " " and len(tail) > 1 and set(tail) <= set("ab -./"))

    assert program("ls -la").matches(bash("ls" + tail)) is plain
