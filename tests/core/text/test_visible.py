"""Text as a person sees it: nothing acts unseen, cuts are told, what looks the same is the same."""

from __future__ import annotations

import time
import unicodedata

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


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a" + "\u0301" * 4 + "b", "a" + "\u0301" * 4 + "b"),
        ("a" + "\u0301" * 5 + "b", "a" + "\u0301" * 4 + "⟨U+0301⟩b"),
        ("a" + "\u0301\u20dd" * 3, "a" + "\u0301\u20dd" * 2 + "⟨U+0301⟩⟨U+20DD⟩"),
        ("\u0e2a" + "\u0e47" * 5, "\u0e2a" + "\u0e47" * 4 + "⟨U+0E47⟩"),
        ("a" + "\u0301" * 4 + "\ufe00" + "\u0301", "a" + "\u0301" * 4 + "⟨U+FE00⟩\u0301"),
    ],
)
def test_marks_beyond_four_on_a_letter_are_spelled_out(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert visible(seen) == seen


@pytest.mark.parametrize(
    "text", ["שָׁ֖לוֹם", "Việt Nam đẹp", "नमस्ते", "ประเทศไทย", "འོད་ཟེར", "مُحَمَّدٌ", "Ελλάδα", "日本語がガ"]
)
def test_marks_that_languages_write_stay(text: str) -> None:
    for form in ("NFC", "NFD"):
        written = unicodedata.normalize(form, text)
        assert visible(written) == written


def test_a_text_of_nothing_but_marks_takes_time_in_proportion() -> None:
    started = time.process_time()
    visible(("a" + "\u0301" * 99) * 2_000)

    assert time.process_time() - started < 2


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


# Derived core property Default_Ignorable_Code_Point of Unicode, and characters that are drawn as
# nothing without having it: a list of its own, not the table's.
_IGNORED = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
_DRAWN_AS_NOTHING = (
    *(0x2800, 0x2D7F, 0xFFFC, 0x1107F, 0x13441, 0x13442, 0x16FE4, 0x1D159),
    *(0x00A0, 0x1680, 0x2000, 0x2003, 0x200A, 0x202F, 0x205F, 0x3000),
)


def test_every_character_that_is_drawn_as_nothing_is_spelled_out() -> None:
    codes = [code for first, last in _IGNORED for code in range(first, last + 1)]

    for code in (*codes, *_DRAWN_AS_NOTHING):
        assert visible(chr(code)) == f"⟨U+{code:04X}⟩", hex(code)


@pytest.mark.parametrize(
    ("category", "character"),
    [
        ("Cc", "\x7f"),
        ("Cf", "\u202e"),
        ("Cs", "\udc00"),
        ("Co", "\ue000"),
        ("Cn", "\u0378"),
        ("Zl", "\u2028"),
        ("Zp", "\u2029"),
        ("Zs", "\u3000"),
    ],
)
def test_every_category_that_acts_unseen_is_spelled_out(category: str, character: str) -> None:
    assert unicodedata.category(character) == category
    assert visible(character) == f"⟨U+{ord(character):04X}⟩"


@pytest.mark.parametrize("character", "aé日🙂́\u0e31ªⅫ€^_–(«»%٣²")
def test_what_is_seen_stays(character: str) -> None:
    assert visible(character) == character
