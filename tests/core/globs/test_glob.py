import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.globs.dangers import dangers
from sayso.globs.glob import Glob, check_pattern, compiled, escape
from sayso.globs.notes import DangerKind
from sayso.globs.parser import parse
from sayso.globs.value import Text
from sayso.globs.words import danger_in_words

ROWS = json.loads((Path(__file__).parent / "picomatch.json").read_text(encoding="utf-8"))["cases"]

# (pattern, value) -> why agreeing with the reference would be unsafe.
EXCEPTIONS = {
    ("a\\*b", "a\\*b"): (
        "text escaped with backslashes, against its own spelling: the reference lets every "
        "pattern match itself; a rule made for one text must not match a second one"
    ),
}
# Refused, because nobody means what they mean; the reference matches them with none of the rows.
REFUSED = {"{a,b", "{{a,b}"}


def spelled(value: Any) -> str:
    """A fixture's value as JavaScript's ``String`` spells it."""
    if isinstance(value, dict):
        text, times = value["times"]
        return str(text * times)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "1e+21" if value == 1e21 else str(value)


def outcome(pattern: str, value: str) -> bool | None:
    try:
        return Glob(pattern).matches(value)
    except ConfigError:
        return None


def found_by_parts(pattern: str, value: str) -> bool:
    part = parse(pattern).part
    text = Text(value)
    return part is not None and part.starts(text, 1) >> text.size == 1


def test_the_rows_of_the_reference_agree_except_for_those_named() -> None:
    agreeing: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    different: dict[tuple[str, str], tuple[bool | None, bool | None]] = {}
    refused: set[str] = set()

    for row in ROWS:
        pattern, value = spelled(row["pattern"]), spelled(row["value"])
        expected = row.get("match")
        found = outcome(pattern, value)
        if pattern in REFUSED and found is None:
            assert expected is False
            refused.add(pattern)
            continue
        rows[row["class"]] += 1
        agreeing[row["class"]] += found is expected
        if found is not expected:
            different[pattern, value] = (expected, found)

    print(f"\npicomatch 4.0.7, bash: true: {agreeing.total()} of {rows.total()} rows agree")
    for name, count in sorted(rows.items()):
        print(f"  {name:12} {agreeing[name]:4} of {count:4}")
    for (pattern, value), reason in EXCEPTIONS.items():
        print(f"  exception: {pattern!r} on {value!r}: {reason}")
    assert set(different) == set(EXCEPTIONS)
    assert all(found is not True for _, found in different.values())
    assert refused == REFUSED
    assert (rows.total(), agreeing.total()) == (4638, 4637)


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        # What the README says.
        ("a*(z)", "a", True),
        ("a*(z)", "azzz", True),
        ("a+(z)", "a", False),
        ("a+(z)", "azzz", True),
        ("!(foo).!(bar)", "foo.bar", False),
        ("!(!(foo)).!(!(bar))", "foo.bar", True),
        ("*.!(*a)", "a.a", False),
        ("*.!(*a)", "a.b", True),
        ("!(foo)*", "foo", False),
        ("!(foo)*", "foobar", False),
        ("+(a|aa)", "aaa", False),
        ("x+(a|aa)*", "x+(a|aa)y", True),
        ("+(+(a))", "aaa", False),
        ("[[:word:]]+", "ab", True),
        ("[[:word:]]+", "ab/", False),
        ("./src/*.ts", "src/a.ts", True),
        ("./src/*.ts", "./src/a.ts", False),
        # What follows from the rows.
        ("!(*.min).js", "a.js", True),
        ("!(*.min).js", "a.min.js", False),
        ("**/x*", "a/xb", True),
        ("**/x*", "a/b", False),
        ("{a,{b,c}}d", "cd", True),
        ("{a{b}c,d}", "a{b}c", True),
        ("{a{b}c,d}", "d", True),
        ("[a-cx-z]", "y", True),
        ("[\\d-]", "-", True),
        ("+(ab|c)d", "abcabd", True),
        ("+(ab|c)d", "d", False),
        ("*(ab|c)d", "d", True),
        ("a😀?", "a😀b", True),
        ("a???", "a😀b", True),
        ("a😀", "a😀", True),
        ("{1..3}", "2", True),
        ("{c..a}", "b", True),
    ],
)
def test_other_patterns_follow_the_documented_meaning(
    pattern: str, value: str, expected: bool
) -> None:
    assert Glob(pattern).matches(value) is expected


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("", "empty pattern"),
        ("a" * 65_537, "65536 are allowed"),
        ("😀" * 32_769, "65536 are allowed"),
        ("?" * 1_001, "1000 parts"),
        ("{a,b}" * 500, "1000 parts"),
        ("@(a|" * 41 + "b" + ")" * 41, "nests more than 40"),
        ("[a" * 60 + "\\]", r"write \\\[ for a \["),
        ("@(a", r"write \\\( for a \("),
        ('"hi', "never closed; write"),
        ('"a\\b"', "backslash between quotes"),
        ("(a)?", r"write \?\(\.\.\.\)"),
        ("(a)+", r"write \\\+ or \+\(\.\.\.\)"),
        ("@(c++|g++)", r"write \\\+"),
        ("(?<!a)b", "not supported"),
        ("+(a*)", "more than one way"),
        ("+(a|ab)", "more than one way"),
        ("*(@(a))", "more than one way"),
        ("*(a|)", "more than one way"),
        ("+(!(a))", "more than one way"),
        ("{01..03}", r"write a list, as in \{8,9,10\}"),
        ("{1..3,x}", "neither a range"),
        ("(a)\\1", "no plain meaning"),
        ("./!a", r"leave the first \./ out"),
    ],
    ids=lambda text: text[:24],
)
def test_a_pattern_that_is_too_large_or_unclear_is_refused_with_the_fix(
    pattern: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=hint):
        Glob(pattern)


# Everything a pattern is made of, so that random patterns are not all text.
pieces = st.sampled_from(
    [
        *'ab./ ,*?!|\\[]{}()+@^-1\n😀"',
        *("**", "**/", "?(", "*(", "+(", "!(", "@(", "(?!", "../", "./", "\\d", "\\b"),
        *("[!", "[^", "[[:alpha:]]", "{a,b}", "{1..3}"),
    ]
)
patterns = st.lists(pieces, min_size=1, max_size=12).map("".join)
values = st.text(st.sampled_from("ab./ -1\n\\*!(😀é"), max_size=12)


@given(st.text(max_size=40) | patterns, st.text(max_size=40) | values)
@example("", "")
@example("", '""""')
@example("!a", "b")
@example("./a*", "a*")
@example("a/", "a")
@example("a\\", "a\\\\")
@example("a*b", "a\\*b")
@example("\ud83d\ude00", "😀")
def test_an_escaped_text_matches_itself_and_nothing_else(text: str, other: str) -> None:
    glob = Glob(escape(text))

    assert glob.matches(text)
    assert glob.matches(other) is (text == other)
    assert glob.matches(glob.pattern) is (text == glob.pattern)


@pytest.mark.parametrize(
    "near", ["{}\n", "{}/", "./{}", "/{}", "{} ", " {}", "{}{}", "\n{}", "!{}", "\\{}"]
)
@given(text=st.text(max_size=20) | patterns)
def test_an_escaped_text_does_not_match_what_is_near_it(near: str, text: str) -> None:
    other = near.replace("{}", text)

    assert Glob(escape(text)).matches(other) is (other == text)


def test_the_longest_text_that_can_be_escaped_makes_the_longest_pattern() -> None:
    assert Glob(escape("a" * 65_536)).matches("a" * 65_536)
    with pytest.raises(ConfigError, match="digest of the arguments"):
        escape("*" * 32_769)


@settings(max_examples=examples(1_000))
@given(patterns, values)
def test_every_pattern_is_either_refused_or_answers(pattern: str, value: str) -> None:
    assert outcome(pattern, value) in (True, False, None)


@settings(max_examples=examples(1_000))
@given(patterns, values)
def test_the_shortcuts_answer_as_the_parts_do(pattern: str, value: str) -> None:
    try:
        glob, parsed = Glob(pattern), parse(pattern)
    except ConfigError:
        return
    if value == pattern or parsed.negated or not value:
        return

    assert glob.matches(value) is found_by_parts(pattern, value)
    assert not glob.matches(value) or glob.needs.allow(value)


@given(st.lists(st.sampled_from(["ab", "cd", "efg", "ba"]), max_size=600), st.booleans())
def test_repetitions_agree_with_a_regular_expression(words: list[str], spoiled: bool) -> None:
    value = "x" + "".join(words) + ("?" if spoiled else "")

    for pattern, expression in [("x*(ab|cd|efg)", "x(ab|cd|efg)*"), ("x+(ab|cd)", "x(ab|cd)+")]:
        expected = re.fullmatch(expression, value) is not None
        assert Glob(pattern).matches(value) is expected


HOSTILE = [
    ("*a*a*a*a*a*a*b", "a"),
    ("*a*a*a*a*a*a*b*", "a"),
    ("+(+(a))", "a"),
    ("*(a)*(a)*(a)*(a)b", "a"),
    ("+(ab|cd)*(ab|ef)+(ab)x", "ab"),
    ("{a,b}" * 20 + "*c", "ab"),
    ("!(*a*a*a*a)b", "a"),
    ("!(!(!(*a*a)))c", "a"),
    ("**/**/**/**/**/b", "a/"),
    ("@(a|@(a|@(a|b)))*@(a|b)*x", "a"),
    ("*" + "ab" * 500 + "*" + "ab" * 500 + "c*", "ab"),
    ("[!a]*[^b]*[[:alpha:]]*é", "aé日"),
]


@pytest.mark.parametrize(("pattern", "unit"), HOSTILE)
def test_a_hostile_value_takes_steps_in_proportion_to_its_length(pattern: str, unit: str) -> None:
    part = parse(pattern).part
    assert part is not None
    steps = {}

    for length in (1_000, 10_000, 40_000):
        text = Text(unit * (length // len(unit)))
        part.starts(text, 1)
        steps[length] = text.steps

    assert steps[40_000] <= len(pattern) * 40_000
    assert steps[40_000] <= 4.1 * steps[10_000] + 100
    assert steps[10_000] <= 10.1 * steps[1_000] + 100


@pytest.mark.parametrize(("pattern", "unit"), HOSTILE)
def test_a_hostile_value_of_ten_kilobytes_is_answered_at_once(pattern: str, unit: str) -> None:
    glob = Glob(pattern)
    began = time.thread_time()

    for tail in ("", "x", "\n", "😀"):
        glob.matches(unit * (10_000 // len(unit)) + tail)

    assert time.thread_time() - began < 1


@pytest.mark.parametrize("unit", ["[", "{", "[a\\", "\\(", '"a"', "*?", "{a,", "!(", "+(ab|c)"])
def test_a_hostile_pattern_is_compiled_or_refused_at_once(unit: str) -> None:
    began = time.thread_time()

    outcome(unit * (65_000 // len(unit)), "a")

    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("pattern", "kind", "sample"),
    [
        ("*", DangerKind.MATCHES_EVERYTHING, "rm -rf /"),
        ("ls*", DangerKind.COMMAND_AFTER, "ls; rm -rf /"),
        ("git status*", DangerKind.COMMAND_AFTER, "git status; rm -rf /"),
        ("@(ls|cat) *", DangerKind.COMMAND_AFTER, "cat ; rm -rf /"),
        ("src/**", DangerKind.LEAVES_FOLDER, "src/../etc/passwd"),
        ("src/**/*.py", DangerKind.LEAVES_FOLDER, "src/../etc/passwd.py"),
        ("/app/data*", DangerKind.LEAVES_FOLDER, "/app/data/../../etc/passwd"),
        ("[!r]*", DangerKind.BANG_IN_SET, "r"),
        ("[[:foo:]]", DangerKind.NO_CLASS, "o]"),
        ("rm [[.a.]]", DangerKind.NO_CLASS, "rm a]"),
        ("[^[=a=]]", DangerKind.NO_CLASS, "x]"),
        ("[a", DangerKind.OPEN_BRACKET, "[a"),
        ("rm [a", DangerKind.OPEN_BRACKET, "rm [a"),
        ("!rm*", DangerKind.NEGATED, "x; rm -rf /"),
        ("{1..100}", DangerKind.RANGE_AS_SET, "0"),
        ("cat !(*.env)", DangerKind.ANYTHING_BUT, "cat rm -rf /"),
        ("*a|b", DangerKind.WHOLE_BRANCHES, "b"),
        ("\\d", DangerKind.ESCAPE, "0"),
        ('"say *"', DangerKind.QUOTES, "say *"),
        ("+(a|aa)", DangerKind.TEXT_AFTER_ALL, "+(a|aa)"),
        ("a(?!b)*", DangerKind.LOOKS_AHEAD, "arm -rf /"),
        ("./run", DangerKind.DROPPED_START, "run"),
        ("a[z-a]", DangerKind.MATCHES_NOTHING, "a[z-a]"),
        # Text after a star, or after a repeated set, holds nobody back.
        ("kubectl get * -n dev", DangerKind.COMMAND_AFTER, "kubectl get x; rm -rf / -n dev"),
        ("npm run *:test", DangerKind.COMMAND_AFTER, "npm run x; rm -rf / #x:test"),
        ("make +([!-~ ])-all", DangerKind.COMMAND_AFTER, "make xx; rm -rf / #x-all"),
        ("*.py", DangerKind.COMMAND_BEFORE, "rm -rf / #x.py"),
        ("* --dry-run", DangerKind.COMMAND_BEFORE, "rm -rf / --dry-run"),
        ("*.py", DangerKind.OTHER_FOLDERS, "/etc/x.py"),
        ("src/*/main.py", DangerKind.LEAVES_FOLDER, "src/x/../../etc/passwd/main.py"),
        ("https://*.example.com/**", DangerKind.LEAVES_HOST, "https://evil.example/a.example.com"),
        ("https://example.com*", DangerKind.LEAVES_HOST, "https://example.com.evil.example/"),
    ],
)
def test_a_danger_is_told_with_a_value_that_matches(
    pattern: str, kind: DangerKind, sample: str
) -> None:
    danger = next(danger for danger in dangers(pattern) if danger.kind is kind)

    assert danger.sample == sample
    assert Glob(pattern).matches(sample)
    assert danger_in_words(danger).endswith(f"for example {sample!r}")


@pytest.mark.parametrize(
    ("pattern", "spelling"),
    [("[!r]*", "[!r]"), ("{1..9}", "{1..9}"), ("cat !(x)", "!(x)"), ("\\d", "\\d")],
)
def test_the_words_for_a_danger_quote_its_spelling(pattern: str, spelling: str) -> None:
    [danger] = [danger for danger in dangers(pattern) if danger.spelling]

    assert danger.spelling == spelling
    assert danger_in_words(danger).startswith(f"{spelling} ")


@pytest.mark.parametrize("pattern", ["ls", "git status", "ls\\*", "a/b.txt", "v[0-9]", "+([a-z])"])
def test_a_text_has_no_dangers(pattern: str) -> None:
    assert dangers(pattern) == ()


@settings(max_examples=examples(500))
@given(patterns)
def test_every_example_of_a_danger_matches(pattern: str) -> None:
    try:
        told = dangers(pattern)
    except ConfigError:
        return

    for danger in told:
        assert Glob(pattern).matches(danger.sample)


@settings(max_examples=examples(300))
@given(st.text('ab1_/ =,:.-*?[](){}!+@|\\^$"\0é', max_size=12))
@example("a//./.b")
@example("-,=: ./a.")
def test_what_is_taken_without_a_look_would_not_be_refused(pattern: str) -> None:
    """Plain text is not compiled to learn that it can be: the answer is the same."""
    try:
        Glob(pattern)
    except ConfigError as error:
        with pytest.raises(ConfigError, match=re.escape(str(error))):
            check_pattern(pattern)
    else:
        check_pattern(pattern)


def test_plain_text_is_not_compiled_to_be_checked() -> None:
    compiled.cache_clear()

    check_pattern("deploy service-17 --to=/srv/shop.d")
    assert compiled.cache_info().misses == 0
    check_pattern("deploy service-*")
    assert compiled.cache_info().misses == 1
