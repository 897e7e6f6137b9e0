"""What a glob needs is in every value that it matches: whoever lacks it can be left out unread."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.globs.glob import Glob
from sayso.globs.needs import Needs

VALUES = ["".join(some) for size in range(1, 6) for some in product("abx", repeat=size)]


def joined(parts: list[str]) -> str:
    return "".join(parts)


def grouped(parts: list[str]) -> str:
    return f"@({'|'.join(parts)})"


branches = st.recursive(
    st.sampled_from(["a", "b", "ab", "bx", "*", "?", "[ab]", "+(a|bx)", "*(ab)", "!(a)"]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(joined)
        | st.lists(inner, min_size=2, max_size=3).map(grouped)
    ),
    max_leaves=7,
)


@settings(max_examples=examples(300))
@given(branches)
def test_every_value_that_matches_has_what_is_needed(pattern: str) -> None:
    try:
        glob = Glob(pattern)
    except ConfigError:
        return

    assert [value for value in VALUES if glob.matches(value) and not glob.needs.allow(value)] == []


@pytest.mark.parametrize(
    ("pattern", "heads", "tails", "words"),
    [
        ("git log*", {"git log"}, {""}, []),
        ("*.{py,js}", {""}, {".py", ".js"}, []),
        ("@(git|hg) +(a|b)*", {"git a", "git b", "hg a", "hg b"}, {""}, []),
        ("*@(a*b|c*d)*", {""}, {""}, [{"a", "c"}, {"b", "d"}]),
        ("*[ab]x*y*", {""}, {""}, [{"ax", "bx", "[ab]x"}, {"y"}]),
        ("!(a)b", {""}, {"b"}, []),
        ("!ab", {""}, {""}, []),
    ],
)
def test_what_is_needed_is_as_telling_as_the_pattern(
    pattern: str, heads: set[str], tails: set[str], words: list[set[str]]
) -> None:
    found = Glob(pattern).needs

    assert (set(found.heads), set(found.tails)) == (heads, tails)
    assert list(map(set, found.words)) == words


def test_a_pattern_with_halves_of_characters_needs_nothing() -> None:
    assert Glob("a😀*").needs == Needs()
    assert Glob("a😀*").matches("a😀b")
