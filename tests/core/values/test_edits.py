"""Edits as differences: all of both texts is there, and what nobody sees is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.locales import ENGLISH
from sayso.values.arguments import raw_values, values_of
from sayso.values.edits import Edits, differences, edits_in


def the_change(old: str, new: str) -> str:
    edits = edits_in({"old_string": old, "new_string": new})
    assert isinstance(edits, Edits)
    (value,) = differences(edits, ENGLISH)
    return value.text


def test_an_edit_is_a_difference_below_its_file_with_what_else_is_asked() -> None:
    values = values_of(
        {
            "replace_all": True,
            "old_string": "timeout = 30\nretries = 3",
            "new_string": "timeout = 300\nretries = 3",
            "file_path": "config.py",
        }
    )

    assert [(one.name, one.kind) for one in values] == [
        ("file_path", "text"),
        ("change", "diff"),
        ("replace_all", "text"),
    ]
    assert values[1].text == "-timeout = 30\n+timeout = 300\n retries = 3"
    assert values[1].note == "1 added, 1 removed"


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "old_str": "x", "new_str": "y"},
        {"path": "a", "oldText": "x", "newText": "y"},
        {"path": "a", "edits": [{"oldText": "x", "newText": "y"}], "dryRun": False},
        {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]},
    ],
)
def test_whatever_a_tool_calls_them_two_texts_are_a_difference(arguments: dict[str, Any]) -> None:
    change = next(one for one in values_of(arguments) if one.kind == "diff")

    assert change.text == "-x\n+y"


def test_the_texts_as_they_are_in_the_call_are_kept_beside() -> None:
    raw = raw_values({"path": "a", "old_str": "x \n", "new_str": "y"})

    assert [(one.name, one.text) for one in raw] == [("old_str", "x \n"), ("new_str", "y")]


@pytest.mark.parametrize(
    "arguments",
    [
        {"old_string": "x"},
        {"old_string": "x", "new_string": "x"},
        {"old_string": "x", "new_string": 5},
        {"edits": [{"oldText": "x", "newText": "y", "all": True}]},
        {"edits": [{"oldText": "x", "newText": "y"}, {"oldText": "x"}]},
        {"edits": []},
        {"old_string": "[redacted: 9 characters]", "new_string": "[redacted: 9 characters]!"},
        {"old_string": "x\n" * 500, "new_string": "y"},
    ],
)
def test_what_a_difference_does_not_tell_in_full_is_shown_as_it_is(
    arguments: dict[str, Any],
) -> None:
    assert edits_in(arguments) is None
    assert len(values_of(arguments)) == len(arguments)


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a \nb", "a\nb", "-a[1 space]\n+a\n b"),
        ("a\r\nb", "a\nb", "-a⟨U+000D⟩\n+a\n b"),
        ("a\n", "a", " a\n-"),
        ("a", "a\n", " a\n+"),
        ("\ta", "    a", "-⟨U+0009⟩a\n+    a"),
        ("a\u00a0b", "a b", "-a⟨U+00A0⟩b\n+a b"),
        ("", "a\nb", "+a\n+b"),
        ("a", "", "-a"),
        ("a\t ", "a", "-a[2 blanks]\n+a"),
    ],
)
def test_what_nobody_sees_is_to_be_seen_in_a_difference(old: str, new: str, shown: str) -> None:
    assert the_change(old, new) == shown


def test_a_mark_of_ours_in_a_text_is_spelled() -> None:
    assert the_change("x", "[3 unchanged lines]\ny[2 spaces]") == (
        "-x\n+⟨U+005B⟩3 unchanged lines]\n+y⟨U+005B⟩2 spaces]"
    )


printable = st.text(st.sampled_from("abc+- @\n"), max_size=40)


@given(printable, printable)
def test_both_texts_can_be_read_again_from_their_difference(old: str, new: str) -> None:
    edits = edits_in({"old_string": old, "new_string": new})
    if edits is None:
        assert old == new
        return
    (value,) = differences(edits, ENGLISH)
    lines = value.text.split("\n")
    before = [line[1:] for line in lines if line[:1] in " -"]
    after = [line[1:] for line in lines if line[:1] in " +"]

    for text, found in ((old, before), (new, after)):
        wanted = [line.rstrip(" ") for line in text.split("\n")] if text else []
        assert [line.partition("[")[0].rstrip() for line in found] == wanted
        blanks = [len(line) - len(line.rstrip(" ")) for line in (text.split("\n") if text else [])]
        told = [f"[{count} space{'' if count == 1 else 's'}]" if count else "" for count in blanks]
        assert all(line.endswith(mark) for line, mark in zip(found, told, strict=True))


def test_far_from_a_change_a_short_wording_counts_the_lines_that_stay() -> None:
    lines = [f"line {number}" for number in range(40)]
    edits = edits_in(
        {"old_string": "\n".join(lines), "new_string": "\n".join([*lines[:20], "x", *lines[21:]])}
    )
    assert edits is not None
    (value,) = differences(edits, ENGLISH)

    assert value.brief == (
        "[18 unchanged lines]\n line 18\n line 19\n-line 20\n+x\n line 21\n line 22\n"
        "[17 unchanged lines]"
    )
