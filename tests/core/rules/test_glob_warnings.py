"""Dangers of a pattern are told, each with a value that it does match."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.rules.glob import Glob
from sayso.rules.glob_warnings import DangerKind, explain_danger, find_dangers, find_misses


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
        ("!rm*", DangerKind.NEGATED, "x; rm -rf /"),
        ("{1..100}", DangerKind.RANGE_AS_SET, "0"),
        ("!(*.env)", DangerKind.ANYTHING_BUT, "rm -rf /"),
        ("*a|b", DangerKind.WHOLE_BRANCHES, "b"),
        ("./run", DangerKind.DROPPED_START, "run"),
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
    danger = next(danger for danger in find_dangers(pattern) if danger.kind is kind)

    assert danger.sample == sample
    assert Glob(pattern).matches(sample)
    assert explain_danger(danger).endswith(f"for example {sample!r}")


@pytest.mark.parametrize(
    ("pattern", "spelling"), [("[!r]*", "[!r]"), ("{1..9}", "{1..9}"), ("!(x)", "!(x)")]
)
def test_the_words_for_a_danger_quote_its_spelling(pattern: str, spelling: str) -> None:
    [danger] = [danger for danger in find_dangers(pattern) if danger.spelling]

    assert danger.spelling == spelling
    assert explain_danger(danger).startswith(f"{spelling} ")


@pytest.mark.parametrize("pattern", ["ls", "git status", "ls\\*", "a/b.txt", "v[0-9]", "+([a-z])"])
def test_a_text_has_no_dangers(pattern: str) -> None:
    assert find_dangers(pattern) == ()


pieces = st.sampled_from(
    [
        *'ab./ ,*?!|\\[]{}()+@^-1\n😀"',
        *("**", "**/", "?(a)", "*(ab|c)", "+([a-c])", "!(", "@(", "../", "./", "[!a]"),
        *("[^", "[[:alpha:]]", "{a,b}", "{1..3}", "https://", "{src,a/*}"),
    ]
)


@settings(max_examples=examples(500), deadline=None)
@given(st.lists(pieces, min_size=1, max_size=8).map("".join))
def test_every_example_of_a_danger_matches_and_of_a_miss_does_not(pattern: str) -> None:
    try:
        glob = Glob(pattern)
    except ConfigError:
        return

    assert all(glob.matches(danger.sample) for danger in find_dangers(pattern))
    assert not any(glob.matches(miss.sample) for miss in find_misses(pattern))


def count_steps(pattern: str) -> int:
    steps: list[str] = []
    find_dangers.cache_clear()
    sys.setprofile(lambda _frame, event, _argument: steps.append(event))
    try:
        find_dangers(pattern)
    finally:
        sys.setprofile(None)
    return len(steps)


@pytest.mark.parametrize("piece", ["ab/", "a*/", "{a,b}/", "@(a|b)", "[ab]", "a?", "[!a]"])
def test_steps_grow_with_the_length_of_a_pattern_alone(piece: str) -> None:
    assert count_steps(piece * 100) < 2.5 * count_steps(piece * 50)
