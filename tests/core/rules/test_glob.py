"""Globs are equal to picomatch's, or refused when they are made: never wider, never narrower."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.rules.glob import Glob, escape_glob

ROWS = json.loads((Path(__file__).parent / "picomatch.json").read_text(encoding="utf-8"))["cases"]

# (pattern, value) -> why agreeing with the reference would be unsafe.
EXCEPTIONS = {
    ("a\\*b", "a\\*b"): (
        "text escaped with backslashes, against its own spelling: the reference lets every "
        "pattern match itself; a rule made for one text must not match a second one"
    ),
}


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


def test_the_rows_of_the_reference_agree_except_for_those_named() -> None:
    different: dict[tuple[str, str], tuple[bool | None, bool | None]] = {}
    refused = 0

    for row in ROWS:
        pattern, value = spelled(row["pattern"]), spelled(row["value"])
        expected, found = row.get("match"), outcome(pattern, value)
        if found is None and expected is not None:
            refused += 1
        elif found is not expected:
            different[pattern, value] = (expected, found)

    assert set(different) == set(EXCEPTIONS)
    assert refused <= len(ROWS) * 5 // 100
    assert len(ROWS) == 4646


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("ls*", ["ls", "ls -la"], ["cat", "ls /root/.ssh\n"]),
        ("*.txt", ["a.txt", "src/a.txt"], [".a.txt", "a.py"]),
        ("src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["src/.a.ts", "a.ts"]),
        ("{read,write}", ["read", "write"], ["readwrite", ""]),
        ("file[0-9].txt", ["file3.txt"], ["filex.txt", "file10.txt"]),
        ("cat *", ["cat a", "cat a b"], ["cat", "cat a\n"]),
        ("/app/data/**", ["/app/data/a/b", "/app/data"], ["/app/data/a/.b", "/app"]),
        ("@(ls|cat|grep|find|head|tail) *", ["cat x", "tail -f y"], ["rm x", "cat"]),
        ("src/{a,b}/**", ["src/a/x", "src/b"], ["src/c/x"]),
        ("{src,tests}/**", ["src/a", "tests/a/b"], ["docs/a", "src/a/.b"]),
        ("/**", ["/a/b", "/"], ["a/b", "/a/.b"]),
        ("./build/**", ["build/x"], ["./build/x", "x"]),
        ("(src|lib)/*.ts", ["src/a.ts", "lib/a.ts"], ["test/a.ts", "src/.a.ts"]),
        ("*@example.com", ["a@example.com"], ["a@example.org", ".a@example.com"]),
        ("[!a-z]*", ["!x", "a"], ["A", ""]),
        ("file{1..3}.txt", ["file1.txt", "file3.txt"], ["file4.txt", "file1xtxt"]),
        ("a\\*b", ["a*b"], ["axb", "a\\*b"]),
        ("a\\\\b*", ["a\\bc"], ["ab"]),
        ("?(a)b", ["ab", "b"], ["aab"]),
        ("*(ab|c)d", ["d", "abcd"], ["ad"]),
        ("+(ab|c)d", ["abd"], ["d"]),
        ("!rm*", ["ls"], ["rm", "rm -rf /", "ls\n"]),
        ("!(rm*|sudo*)", ["ls", "a/b"], ["rm x", "sudo", "a/.b"]),
        ("[[:digit:]]*", ["1a"], ["a1"]),
        ("a/**/*", ["a", "a/b", "a/b/c"], ["b", "a/.b"]),
        ("{a/*,b}c", ["a/xc", "a/c", "bc"], ["a/.c"]),
        ("a😀?", ["a😀b"], ["a😀"]),
        ("a???", ["a😀b"], ["a😀"]),
        ("\ud83d\ude00", ["😀"], ["\ud83d"]),
    ],
)
def test_what_people_write_means_what_the_reference_says(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    glob = Glob(pattern)

    assert [value for value in matching if not glob.matches(value)] == []
    assert [value for value in others if glob.matches(value)] == []


@pytest.mark.parametrize("char", ["\ud83d", "a\udfff", "\ud800b"], ids=ascii)
def test_half_a_character_is_a_character_as_in_javascript(char: str) -> None:
    assert Glob("*").matches(char)
    assert Glob("x*").matches("x" + char)
    assert not Glob("!*").matches(char)
    assert Glob("?" * len(char)).matches(char)
    assert Glob(escape_glob(char)).matches(char)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("", "empty pattern"),
        ("a" * 65_537, "65536 are allowed"),
        ("😀" * 32_769, "65536 are allowed"),
        ("?" * 4_097, "4096 characters"),
        ("*" + "?" * 513, "512 characters after its first star"),
        ("+(a|b)x" + "?" * 520, "512 characters after its first star"),
        ("[ab]+" + "?" * 513, "512 characters after its first star"),
        ("!*" + "?" * 513, "512 characters after its first star"),
        ("@(a|" * 41 + "b" + ")" * 41, "nests more than 40"),
        ("*?( )" * 100, "too large"),
        ("/**/*" * 7, "too large"),
        ("|".join(["a/**/*/**/*/**/*"] * 20), "too large"),
        ("cat !(*.env)", "another rule that denies the exceptions"),
        ("a{b", r"write \\\( for a \(, or \\\{ for a \{"),
        ("{a,b", r"write \\\( for a \(, or \\\{ for a \{"),
        ("@(a", r"write \\\( for a \(, or \\\{ for a \{"),
        ("a)(b)", r"write \\\) for"),
        ("[]*", r"write \\\[ for a \["),
        ("file[.txt", r"write \\\[ for a \["),
        ("[z-a]", r"write \[abc\]"),
        ("[[:nope:]]", r"write \[abc\]"),
        ("[a-[:alpha:]]", r"write \[abc\]"),
        ("[\\[:alpha:]]", r"write \\\[ for a \["),
        ("{+,-}", r"write \\\+"),
        ("@(c++|g++)", r"write \\\+"),
        ("g++*", r"a backslash before each \+"),
        ("a||b*", r"a backslash before each \|"),
        ("*(a| )", "distinct words"),
        ("+(b|?)", "distinct words"),
        ("+(a|aa)", "distinct words"),
        ("+(*(a))b", "distinct words"),
        ("(a)?", r"write \?\(\.\.\.\)"),
        ("(?=a)b", r"write \?\(\.\.\.\)"),
        ("{a..}", r"\[\.\]\[\.\], or a range"),
        ("a.b[[:alpha:]]", r"write \[\.\] for the \."),
        ("\\\\<*", r"@\(\\\\\) for each backslash"),
        ("\\d*", "for a backslash"),
        ("a*\\", "for a backslash"),
        ("{a**}", r"\\\{ for a \{"),
        ("a\0[b]", "for the character"),
        ('*"a"', 'write \\\\" for'),
        ("./!a", r"write it without the \./"),
        ("{a/*,b}*.c", "one pattern for each branch"),
        ("{a/**/*,b}", "one pattern for each branch"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_cannot_be_equal_to_the_reference_is_refused_with_the_fix(
    pattern: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=hint):
        Glob(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "src/{" + ",".join(f"module_{at}" for at in range(300)) + "}/*.py",
        "*(a|bc)*(d|ef)*(g|hij)",
        "".join(map(chr, range(0x4E00, 0x4E00 + 2_000))) + "*",
        "a/**/b/**/c/*.{ts,tsx,js,jsx}",
        "kubectl get pods -o jsonpath={.items}*",
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_people_write_is_not_too_large(pattern: str) -> None:
    assert Glob(pattern).matches(pattern)


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
    glob = Glob(escape_glob(text))
    same = text.encode("utf-16", "surrogatepass") == other.encode("utf-16", "surrogatepass")

    assert glob.matches(text)
    assert glob.matches(other) is same
    assert glob.matches(glob.pattern) is (text == glob.pattern)


@pytest.mark.parametrize(
    "near", ["{}\n", "{}/", "./{}", "/{}", "{} ", " {}", "{}{}", "\n{}", "!{}", "\\{}"]
)
@given(text=st.text(max_size=20) | patterns)
def test_an_escaped_text_does_not_match_what_is_near_it(near: str, text: str) -> None:
    other = near.replace("{}", text)

    assert Glob(escape_glob(text)).matches(other) is (other == text)


@pytest.mark.parametrize(
    "text", ["\\<", "\\\\", "a\\", "\\.", "a\\\\b\\*", "$$", "^^x", "\0[", "\\\0", "C:\\x\\y.z"]
)
def test_an_escaped_text_of_awkward_signs_still_means_that_text(text: str) -> None:
    glob = Glob(escape_glob(text))

    assert glob.matches(text)
    assert not glob.matches(text + "/")
    assert not glob.matches(text.replace("\\", "", 1) + "x")


def test_the_longest_text_that_can_be_escaped_makes_the_longest_pattern() -> None:
    """A text is compared and never compiled: it may be longer than what is."""
    assert Glob(escape_glob("a" * 65_536)).matches("a" * 65_536)
    assert Glob(escape_glob("*" * 32_768)).matches("*" * 32_768)
    with pytest.raises(ConfigError, match="digest of the arguments"):
        escape_glob("*" * 32_769)


@settings(max_examples=examples(1_000), deadline=None)
@given(patterns, values)
def test_every_pattern_is_either_refused_or_answers(pattern: str, value: str) -> None:
    assert outcome(pattern, value) in (True, False, None)


HOSTILE = [
    ("*a*a*a*a*a*a*b", "a"),
    ("*(a)*(a)*(a)*(a)b", "a"),
    ("+(ab|cd)*(ab|ef)+(ab)x", "ab"),
    ("{a,b}" * 20 + "*c", "ab"),
    ("**/**/**/**/**/b", "a/"),
    ("@(a|@(a|@(a|b)))*@(a|b)*x", "a"),
    ("/**/*" * 6, "a///"),
    ("{,a}/**/**" * 4, "a///"),
    ("*" + "ab" * 120 + "*" + "ab" * 120 + "c*", "ab"),
    ("[!a]*[^b]*[[:alpha:]]*é", "aé日"),
    ("*a" + "?" * 300 + "*b", "ab"),
    ("*a" * 256, "ab"),
    ("*?" * 240 + "b", "日a"),
]


def took(glob: Glob, value: str) -> float:
    """The least processor time of some tries, with a microsecond for the clock."""
    spent = []
    for _ in range(3):
        began = time.thread_time()
        glob.matches(value)
        spent.append(time.thread_time() - began)
    return min(spent) + 1e-6


@pytest.mark.parametrize(("pattern", "unit"), HOSTILE, ids=lambda text: ascii(text)[:24])
def test_a_hostile_value_takes_time_in_proportion_to_its_length(pattern: str, unit: str) -> None:
    glob = Glob(pattern)
    value = unit * (10_000 // len(unit))

    for tail in ("", "x", "\n", "😀"):
        assert took(glob, value + tail) < 0.25
    # A test of squares would take 64 times as long.
    assert took(glob, value * 8) < 25 * took(glob, value) + 0.005


# Of these nothing need follow: what may stand after each is written twice.
NULLABLE = [
    "{,a}/**/**",
    "?(a)/**/**",
    "{,*}/**/**",
    "*?( )",
    "*{a,}",
    "/**/*",
    "a/**/*",
    "*(ab|c)*",
    "/*",
    "?( )",
    "**/*/",
]


@pytest.mark.parametrize(
    "unit", ["[", "{", "[a\\", "\\(", '"a"', "*?", "{a,", "!(", "+(ab|c)", *NULLABLE]
)
def test_a_hostile_pattern_is_compiled_or_refused_at_once(unit: str) -> None:
    for length in (4_000, 65_000):
        began = time.thread_time()
        outcome(unit * (length // len(unit)), "a")
        assert time.thread_time() - began < 2
