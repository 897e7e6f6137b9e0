"""Blank lines and runs of spaces cannot push a part out of sight."""

from __future__ import annotations

import time

import pytest

from sayso.text.agents import from_agent
from sayso.text.visible import folded, one_line, visible
from sayso.values.arguments import shown_arguments

RUNS = [
    ("ls" + "\n" * 301 + "; rm -rf /", "ls\n[300 blank lines]\n; rm -rf /"),
    ("\n" * 300 + "; rm", "[300 blank lines]\n; rm"),
    ("ls" + "\n \t" * 300 + "\n; rm", "ls\n[300 blank lines]\n; rm"),
    ("ls" + "\r\n" * 301 + "; rm", "ls⟨U+000D⟩\n[300 blank lines]\n; rm"),
    ("ls" + " " * 900 + "; rm", "ls[900 spaces]; rm"),
    ("ls" + "\t" * 900 + "; rm", "ls[900 tabs]; rm"),
    ("ls" + " \t" * 450 + "; rm", "ls[900 blanks]; rm"),
    ("ls" + "\u00a0" * 900 + "; rm", "ls[900 × U+00A0]; rm"),
    ("ls" + "\u200b" * 900 + "; rm", "ls[900 × U+200B]; rm"),
    ("ls" + "\u3164" * 900 + "; rm", "ls[900 × U+3164]; rm"),
]


@pytest.mark.parametrize(("text", "seen"), RUNS)
def test_long_runs_of_blanks_are_said_in_words(text: str, seen: str) -> None:
    assert from_agent(text) == seen
    assert folded(seen) == seen


@pytest.mark.parametrize(
    "text",
    [
        "def a():\n    pass\n\n\ndef b():\n\tpass\n",
        "x" + " " * 40 + "y",
        "\t" * 10 + "deep",
        "a\n\nb\n\nc",
    ],
)
def test_usual_blanks_stay_as_they_are(text: str) -> None:
    assert from_agent(text) == text


@pytest.mark.parametrize(("text", "seen"), [("x\n\n\n\ny", 3), ("x" + " " * 41 + "y", 41)])
def test_one_more_than_usual_is_said(text: str, seen: int) -> None:
    assert f"[{seen} " in from_agent(text)


@pytest.mark.parametrize(
    "forged",
    [
        "[300 blank lines]",
        "[ 300 Blank lines ]",
        "[9,000 spaces]",
        "[2 tabs]",
        "[7 blanks]",
        "[900 × U+00A0]",
    ],
)
def test_a_mark_for_blanks_cannot_be_forged(forged: str) -> None:
    assert from_agent(f"a {forged} b") == f"a ⟨U+005B⟩{forged[1:]} b"
    assert forged not in shown_arguments({"c": forged, "d": {forged: [forged]}})


def test_blanks_within_values_of_json_are_said_as_well() -> None:
    arguments = {
        "spec": {"run": "ls" + "\n" * 301 + "; rm", "pad": "a" + " " * 900, "tabs": ["\t" * 50]},
        "name": " " * 900,
    }

    shown = shown_arguments(arguments)

    assert '"run": "ls\\n[300 blank lines]\\n; rm"' in shown
    assert '"pad": "a[900 spaces]"' in shown
    assert '"[50 tabs]"' in shown
    assert 'name: "[900 spaces]"' in shown


def test_a_backslash_before_an_n_is_no_blank_line() -> None:
    text = "\\\\n" * 20

    assert shown_arguments({"x": [text]}) == f'x: ["{text.replace(chr(92), chr(92) * 2)}"]'


def test_a_field_of_one_line_holds_no_run_either() -> None:
    assert one_line("Approved" + "\n" * 301 + "by alice", 300) == (
        "Approved⏎[300 blank lines]⏎by alice"
    )
    assert one_line("a" + " " * 900 + "b", 300) == "a[900 spaces]b"


def test_folding_takes_time_in_proportion_to_the_text() -> None:
    began = time.thread_time()
    for hostile in (
        " " * 250_000,
        " " * 250_000 + "\\",
        "\n" * 250_000,
        " \n" * 125_000,
        "⏎ " * 80_000,
        "\\n" * 125_000,
    ):
        folded(visible(hostile))
        shown_arguments({"x": [hostile], "y": hostile})

    # A quarter of a second here; quadratic time would be minutes.
    assert time.thread_time() - began < 10
