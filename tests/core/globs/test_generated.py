"""Generated patterns, with the answers of the reference itself."""

import json
import time
from pathlib import Path

import pytest

from sayso.errors import ConfigError
from sayso.globs.glob import Glob, escape

ROWS = json.loads((Path(__file__).parent / "picomatch_generated.json").read_text(encoding="utf-8"))[
    "rows"
]
PATTERNS = [row[1] for row in ROWS]


def compiled(pattern: str) -> Glob | None:
    try:
        return Glob(pattern)
    except ConfigError:
        return None


def test_no_generated_pattern_matches_wider_than_the_reference() -> None:
    wider = [
        (pattern, value)
        for _, pattern, values, answers in ROWS
        if (glob := compiled(pattern)) is not None and answers != "?"
        for value, answer in zip(values, answers, strict=True)
        if glob.matches(value) and answer == "0"
    ]

    assert wider == []
    assert len(ROWS) > 500


def test_ordinary_patterns_agree_with_the_reference_exactly() -> None:
    different = [
        (pattern, value)
        for kind, pattern, values, answers in ROWS
        if kind == "ordinary" and (glob := compiled(pattern)) is not None
        for value, answer in zip(values, answers, strict=True)
        # Text with backslashes means that text and not its own spelling.
        if value != pattern and glob.matches(value) is not (answer == "1")
    ]

    assert different == []


def test_hardly_an_ordinary_pattern_is_refused() -> None:
    ordinary = [row[1] for row in ROWS if row[0] == "ordinary"]
    refused = [pattern for pattern in ordinary if compiled(pattern) is None]

    assert len(refused) <= len(ordinary) // 50, refused


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("a{b", r"write \\\{ for a \{"),
        ("{*", r"write \\\{ for a \{"),
        ("{a,b", r"write \\\{ for a \{"),
        ("a)(b)", r"write \\\) for a \)"),
        ("))*", r"write \\\) for a \)"),
        ("[]*", r"write \\\[ for a \["),
        ("![])", r"write \\\[ for a \["),
        ("./[].", r"write \\\[ for a \["),
        ("{+,-}", r"write \\\+"),
        ("{+}*", r"write \\\+"),
        ("*(a| )", "repeat distinct words"),
        ("+(b|?)", "repeat distinct words"),
        ("+(*(a))b", "write it without"),
        ("@(!(*.a).b)", "write several rules"),
        ("(?!(a))b", r"write !\("),
        ("!!(?a)", r"write one ! or !\("),
        ("!(*.a).|", "write several rules"),
        ("{a..}", "neither a range"),
        ("{...}", "neither a range"),
        ("a||b*", "a backslash before each"),
        ("a$$*", "a backslash before each"),
        ("\\\\<*", "for the backslash"),
        ("*a\\\\\\\\b", "for each backslash"),
        ("a*\\", "for a backslash at the end|not clear"),
        ("{a,?(..)}", "write"),
        ("{a**}", "has no comma"),
        ("{@(a)}", "has no comma"),
        ("a\0[b]", "a backslash before it"),
        ('*"a"', 'write \\\\" for a "'),
        ('"a"*', 'write \\\\" for a "'),
        ("!a.[[:alpha:]]", r"write !\(...\)"),
        ("!!./a", "leave ! out"),
        ("".join(f"[{chr(97 + at // 26)}{chr(97 + at % 26)}]" for at in range(60)), "more than 50"),
        ("*(ab|c)" * 17, "more than 16 repeated groups"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_the_reference_reads_in_a_way_nobody_means_is_refused(pattern: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        Glob(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "[[:alpha:]",
        "[[:digit:]x",
        "[^[:alpha:]",
        "[a[:alpha:]",
        "[[:alpha:][:digit:]",
        "[[:alpha:x]",
        "[[:alpha:\\]:]]",
        "[[xalpha::]",
        "[\\[:alpha:]]",
        "[a-[:alpha:]]",
        "[[:word:]-)]",
    ],
)
def test_a_class_of_characters_that_is_not_closed_or_not_on_its_own_is_refused(
    pattern: str,
) -> None:
    with pytest.raises(ConfigError, match=r"write it as \[\[:alpha:\]\], or \\\[ for a \["):
        Glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("[[:alpha:]]", "a", "1"),
        ("[-[:alpha:]]", "-", "1"),
        ("[^-[:digit:]]", "a", "-"),
        ("[[:alpha:]-]", "-", "["),
        ("[[:alpha:][:digit:]_]", "1", ":"),
        ("\\[\\[:alpha:\\]", "[[:alpha:]", "[a"),
    ],
)
def test_a_class_on_its_own_means_its_characters(pattern: str, fits: str, misses: str) -> None:
    assert Glob(pattern).matches(fits)
    assert not Glob(pattern).matches(misses)


@pytest.mark.parametrize(
    "text", ["\\<", "\\\\", "a\\", "\\.", "a\\\\b\\*", "$$", "^^x", "\0[", "\\\0", "C:\\x\\y.z"]
)
def test_an_escaped_text_of_awkward_signs_still_means_that_text(text: str) -> None:
    glob = Glob(escape(text))

    assert glob.matches(text)
    assert not glob.matches(text + "/")
    assert not glob.matches(text.replace("\\", "", 1) + "x")


def test_a_repeated_group_that_is_too_long_is_refused_inside_a_negation_too() -> None:
    inner = "+(" + "|".join(f"{at:04}" for at in range(14)) + ")"

    for pattern in (inner, f"!({inner})", f"!{inner}"):
        with pytest.raises(ConfigError, match="64 are allowed"):
            Glob(pattern)


NEAR = ["a" * 10_000, "ab" * 5_000, "/" * 10_000, "." * 10_000, "a/" * 5_000, "a" * 9_999 + "\n"]
SLOWEST = [
    "*a*a*a*a*a*a*b",
    "+(-|[ab]|\\/.)",
    "!(+(ab|cd))",
    "*(ab|ba)*" * 12,
    "+(" + "|".join(f"a{sign}" for sign in "bcdefghijklmnopqrst") + ")",
    "[ab]" * 300,
    "a/**/" * 80,
]


@pytest.mark.parametrize("pattern", [*SLOWEST, *PATTERNS[::9]], ids=lambda text: ascii(text)[:24])
def test_no_pattern_is_slow_with_a_hostile_value(pattern: str) -> None:
    glob = compiled(pattern)
    if glob is None:
        return
    for value in NEAR:
        began = time.thread_time()
        glob.matches(value)
        # Some milliseconds on one core; ten times the aim, for a machine that is busy.
        assert time.thread_time() - began < 0.1
