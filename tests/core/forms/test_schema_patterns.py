"""JSON Schema's patterns mean in a form what they mean in JavaScript, or are refused."""

from __future__ import annotations

import string

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import SchemaError

from sayso.forms.form import FormField
from sayso.forms.schema_patterns import as_rust


def matches(pattern: str, text: str) -> bool:
    try:
        FormField("it", "It", pattern=as_rust(pattern)).read(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("b", "abc", "xyz"),
        ("^a$", "a", "a\n"),
        (r"^\d+$", "123", "٣"),
        (r"^\w+$", "a_1", "é"),
        (r"^\W$", "é", "a"),
        (r"^\s$", "\ufeff", "\u0085"),
        (r"^\S$", "\u0085", "\ufeff"),
        (r"a\b", "aé", "ab"),
        ("^.$", "é", "\u2028"),
        ("^.$", "\u0085", "\r"),
        ("^[a&&b]$", "&", "c"),
        ("^[a~~b]$", "~", "c"),
        (r"^[\d.-]+$", "1-2.3", "a"),
        (r"^[^\d]$", "a", "1"),
        (r"^[\]]$", "]", "a"),
        ("^[a^]$", "^", "b"),
        ("^[({})]+$", "({})", "a"),
        (r"^\x41\u0042$", "AB", "ab"),
        (r"^\p{Lu}$", "É", "é"),
        (r"^\<a\>$", "<a>", "a"),
        (r"^\/\-\_\.$", "/-_.", "a"),
        ("^(?<year>[0-9]{4})-(?:a|b)?$", "1999-a", "1999-c"),
        ("^a{2,3}?$", "aa", "a"),
    ],
)
def test_a_pattern_keeps_its_meaning(pattern: str, fits: str, does_not: str) -> None:
    assert matches(pattern, fits)
    assert not matches(pattern, does_not)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"(?<n>a)\k<n>",
        "(?i)a",
        "(?P<n>a)",
        r"\B",
        r"\cA",
        r"\0",
        r"\A",
        r"\z",
        r"\u{41}",
        r"\u00",
        "[]a]",
        "[^]",
        r"[\b]",
        "[[:alpha:]]",
        r"[a-\d]",
        r"[\d-z]",
        "[+--]",
        "[a",
        "a]",
        "a}",
        "a{,3}",
        "a{x}",
        "a**",
        "a+*?",
        "a{2}{3}",
        "*a",
        "(?:+a)",
        "a|?",
        "^*a",
        r"\b+a",
        "\\",
        "a" * 501,
    ],
)
def test_what_the_two_syntaxes_do_not_share_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        as_rust(pattern)


@pytest.mark.parametrize("character", string.punctuation + " ")
def test_every_escaped_mark_is_itself(character: str) -> None:
    assert matches(rf"^\{character}$", character)
    assert matches(rf"^[\{character}]$", character)
    assert not matches(rf"^\{character}$", "a")


_PARTS = st.sampled_from(
    [*"abz019 _-^$.|*+?()[]{},&~:<>=!/\\", r"\d", r"\w", r"\s", r"\b", r"\.", "[a-c]", "[^1]"]
)


@given(st.lists(_PARTS, max_size=8).map("".join), st.text("abz019 _-&~[]^.é٣\n\r", max_size=4))
def test_a_text_that_passes_fits_the_pattern_elsewhere_too(pattern: str, text: str) -> None:
    try:
        passes = text != "" and matches(pattern, text)
    except SchemaError:
        return
    if passes:
        schema = {"type": "string", "pattern": pattern}
        assert jsonschema_rs.Draft202012Validator(schema).is_valid(text)
