"""Text as a person sees it: nothing acts unseen, cuts are told, what looks the same is the same."""

from __future__ import annotations

import pytest

from sayso.text.visible import looks, shortened, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls -la", "ls -la"),
        ("naïve 日本語 🙂", "naïve 日本語 🙂"),
        ("rm\u202e fdp", "rm⟨U+202E⟩ fdp"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("bell\x07", "bell⟨U+0007⟩"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("\u3164", "⟨U+3164⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_what_acts_unseen_is_spelled_out(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_a_one_line_field_stays_on_one_line() -> None:
    assert visible("Approved\nby: alice\tnow", one_line=True) == "Approved⏎by: alice now"


def test_a_cut_text_says_so() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes", "yes "),
        ("two  words", "two words"),
        ("it’s", "it's"),
        ("“so”", '"so"'),
        ("ﬁne", "fine"),
        ("straße", "STRASSE"),
    ],
)
def test_texts_that_a_person_takes_for_one_another_look_the_same(one: str, other: str) -> None:
    assert looks(one) == looks(other)


def test_texts_that_a_person_tells_apart_do_not_look_the_same() -> None:
    assert looks("yes") != looks("yes!")
