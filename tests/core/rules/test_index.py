"""Of a thousand rules hardly one is looked at, and none that counts is left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support.examples import examples

from sayso.calls import ToolCall
from sayso.digests import arguments_digest
from sayso.errors import ConfigError
from sayso.globs.glob import Glob, escape
from sayso.rules.index import RuleIndex
from sayso.rules.rule import Rule, literal_rule


def bash(command: str) -> ToolCall:
    return ToolCall("bash", {"command": command})


KINDS: list[tuple[Callable[[int], str], Callable[[int], str], str]] = [
    (lambda n: f"git log --grep=t-{n}*", lambda n: f"git log --grep=t-{n} x", "git status"),
    (lambda n: f"@(git|hg) +(a|b{n})*", lambda n: f"git b{n} x", "git status --short"),
    (lambda n: f"**/f{n}/*.{{py,js}}", lambda n: f"src/f{n}/x.py", "src/g/x.py"),
    (lambda n: f"*[a-c]*é{n}*", lambda n: f"xa é{n} y", "caba é"),
    (lambda n: f"src/p{n}/**/*.ts", lambda n: f"src/p{n}/a/b.ts", "src/q/a/b.ts"),
    (lambda n: f"git {{status,log*}} --m{n}*", lambda n: f"git log x --m{n}", "git log -p"),
    (lambda n: f"*.e{n}", lambda n: f"a.e{n}", "a.md"),
    (lambda n: f"npm run *:{n}", lambda n: f"npm run x:{n}", "npm run x"),
    (lambda n: f"!(x{n})y{n}", lambda n: f"ay{n}", "z"),
    (lambda n: f"[ab]{n}?", lambda n: f"b{n}x", "c"),
]


@pytest.mark.parametrize(("pattern", "value", "miss"), KINDS)
def test_of_a_thousand_rules_few_are_looked_at(
    pattern: Callable[[int], str], value: Callable[[int], str], miss: str
) -> None:
    rules = [Rule("bash", {"command": pattern(number)}) for number in range(1_000)]
    index = RuleIndex(rules)

    for number in (0, 7, 77, 999):
        assert len(index.looked_at(bash(value(number)))) <= 4
        assert list(index.matching(bash(value(number)))) == [
            at for at, rule in enumerate(rules) if rule.matches(bash(value(number)))
        ]
        assert number in index.matching(bash(pattern(number)))
    assert index.looked_at(bash(miss)) == []


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"command": "ls -l", "cwd": "/srv"}, True),
        ({"command": "ls -l", "cwd": "/etc"}, False),
        ({"command": "ls -l"}, False),
        ({"cwd": "/srv"}, False),
        ({"command": "cat", "cwd": "/srv"}, False),
    ],
)
def test_every_parameter_must_be_there_and_fit(arguments: dict[str, str], fits: bool) -> None:
    for params in ({"command": "ls*", "cwd": "/srv"}, {"cwd": "/srv*", "command": "ls -*"}):
        index = RuleIndex([Rule("bash", params)])

        assert list(index.matching(ToolCall("bash", arguments))) == [0] * fits


pieces = st.sampled_from(
    [*"ab./ *?é", "**/", "{a,b}", "{a*,bb}", "@(a|bé)", "+(a|bb)", "*(ab)", "[a-c]", "!(a)", "\\*"]
)
patterns = st.lists(pieces, min_size=1, max_size=5).map("".join) | st.just(escape(""))
values = st.text(st.sampled_from("ab./ \n*é☃"), max_size=6)


def readable(pattern: str) -> bool:
    try:
        Glob(pattern)
    except ConfigError:
        return False
    return True


@settings(max_examples=examples(300))
@example([{"c": escape("")}], ["d"], {"c": ""})
@example([{"c": escape(""), "d": "a*"}, {"c": "*"}], [], {"c": "", "d": "a"})
@given(
    st.lists(st.dictionaries(st.sampled_from("cd"), patterns.filter(readable)), max_size=8),
    st.lists(st.sampled_from("  do"), max_size=8),
    st.dictionaries(st.sampled_from("cde"), values | patterns),
)
def test_the_index_answers_as_the_rules_do(
    params: list[dict[str, str]], held: list[str], arguments: dict[str, str]
) -> None:
    call = ToolCall("t", arguments)
    rules = [
        Rule("t", some, digest(arguments, some, hold), others(arguments, some, hold))
        for some, hold in zip(params, held + [" "] * 8, strict=False)
    ]

    expected = [number for number, rule in enumerate(rules) if rule.matches(call)]

    assert list(RuleIndex(rules).matching(call)) == expected
    assert RuleIndex(rules).first(call) == (expected[0] if expected else None)


def digest(arguments: dict[str, str], params: dict[str, str], hold: str) -> str | None:
    return arguments_digest({**arguments, **params}) if hold == "d" else None


def others(arguments: dict[str, str], params: dict[str, str], hold: str) -> str | None:
    rest = {name: value for name, value in arguments.items() if name not in params}
    return arguments_digest(rest if len(rest) < 2 else {}) if hold == "o" else None


def test_a_rule_for_an_empty_value_is_looked_at() -> None:
    empty = Rule("bash", {"command": escape("")})

    (found,) = RuleIndex([empty]).matching(bash(""))

    assert found == 0
    assert list(RuleIndex([empty]).matching(bash("ls"))) == []


PARTS = st.sampled_from(
    ["*", "**", "/", "src", "a", "b1", ".", "?", "[a-c]", "[^a]", "{a,b}", " ", "-", "!(a)", "\\*"]
)
GLOBS = st.lists(PARTS, min_size=1, max_size=5).map("".join) | st.just(escape(""))
TEXTS = st.lists(st.sampled_from(["src", "a", "b1", "/", ".", " ", "-", "*", "\n"])).map("".join)


@settings(max_examples=examples(500))
@example(globs=[escape("")], texts=[""])
@example(globs=["", escape(""), "*", "?(a)", "!(a)"], texts=["", "a"])
@given(globs=st.lists(GLOBS, min_size=1, max_size=6), texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_the_index_leaves_out_no_rule_that_matches(globs: list[str], texts: list[str]) -> None:
    rules: list[Rule] = []
    for glob in globs:
        try:
            rules.append(Rule("t", {"x": glob}))
        except ConfigError:
            continue
    index = RuleIndex(rules)

    for text in [*texts, *globs]:
        call = ToolCall("t", {"x": text})
        assert list(index.matching(call)) == [n for n, r in enumerate(rules) if r.matches(call)]


def test_the_first_rule_that_matches_decides_whatever_it_is_told_apart_by() -> None:
    rules = [
        Rule("t", {"x": "[a-z]*"}),
        Rule("t", {"y": "b"}),
        Rule("t"),
        Rule("t", {"x": "a"}),
        literal_rule(ToolCall("t", {"x": "a", "y": "b"})),
    ]

    assert list(RuleIndex(rules).matching(ToolCall("t", {"x": "a", "y": "b"}))) == [0, 1, 2, 3, 4]


def test_a_rule_for_several_tools_is_found_by_each_of_them() -> None:
    rules = [Rule("Write"), Rule("Edit", {"path": "src/*"}, also=("Write", "MultiEdit"))]
    index = RuleIndex(rules)

    assert list(index.matching(ToolCall("Write", {"path": "src/a"}))) == [0, 1]
    for tool, path, found in (
        ("Edit", "src/a", 1),
        ("MultiEdit", "src/a", 1),
        ("MultiEdit", "b", None),
        ("Read", "src/a", None),
    ):
        call = ToolCall(tool, {"path": path})
        assert index.first(call) == found
        assert rules[1].matches(call) == (found is not None)


@pytest.mark.parametrize("also", [("Edit",), ("Write", "Write")])
def test_a_rule_names_each_tool_once(also: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="twice"):
        Rule("Edit", also=also)


def test_a_rule_for_one_tool_is_written_as_it_always_was() -> None:
    def written(rule: Rule) -> dict[str, object]:
        return dict(TypeAdapter(Rule).dump_python(rule, by_alias=True))

    assert "also" not in written(Rule("Edit"))
    assert TypeAdapter(Rule).validate_python(written(Rule("Edit", also=("Write",)))).also == (
        "Write",
    )
