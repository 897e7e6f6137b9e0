"""Blank lines and runs of blanks: said in a few words, so that they push nothing out of sight."""

from __future__ import annotations

import re

MOST_BLANK_LINES = 2
"""So many in a row are usual, between two functions for example, and are shown as they are."""

WIDEST = 40
"""Columns of blanks in a row: a phone's line. A tab counts as four."""

_TAB = 4
_MOST_ALIKE = 7

_LINES = re.compile(rf"(?:\A|(?<=\n))(?:(?:[ \t]|⟨U\+000D⟩)*+\n){{{MOST_BLANK_LINES + 1},}}+")
_SPACES = " " * (WIDEST // _TAB + 1)
_BLANKS = re.compile(rf"[ \t]{{{WIDEST // _TAB + 1},}}+")
_ALIKE = re.compile(rf"(⟨U\+[0-9A-F]{{4,6}}⟩)\1{{{_MOST_ALIKE},}}+")
_BREAKS = re.compile(rf"⏎(?: *+⏎){{{MOST_BLANK_LINES + 1},}}+")
# Within a string of JSON a newline is two characters.
_IN_STRINGS = re.compile(rf"(?<!\\)(?:(?:\\r)?\\n(?: |\\t)*+){{{MOST_BLANK_LINES + 2},}}+")
# It begins where spaces do, or at an escape: never in the middle of spaces, each of which would
# be tried otherwise.
_TABS_IN_STRINGS = re.compile(
    rf"(?:(?<! )(?= )|(?<!\\)(?=\\))(?: *+\\[tr]){{{WIDEST // _TAB + 1},}}+ *+"
)

# Those of every language: "unverändert" by its beginning, as its ä may be two characters.
_LOOKALIKE = re.compile(
    r"\[(?=\s{0,9}[0-9][0-9.,_ ]{0,20}\s{0,9}(?:blank|space|tab|×|line break|unchanged|unver))",
    re.IGNORECASE,
)
_BRACKET = "⟨U+005B⟩"


def folded(text: str) -> str:
    """The text with long runs of blanks said in words: ``[300 blank lines]``, ``[900 spaces]``.

    What is folded already stays as it is.
    """
    if "⟨" in text:
        text = _ALIKE.sub(_alike, text)
    if "⏎" in text:
        text = _BREAKS.sub(_breaks, text)
    if "\n" in text:
        text = _LINES.sub(_lines, text)
    if _SPACES in text or "\t" in text:
        text = _BLANKS.sub(_blanks, text)
    return text


def folded_json(text: str) -> str:
    """The same of JSON, in whose strings a newline and a tab are spelled."""
    if "\\" in text:
        text = _IN_STRINGS.sub(_lines_in_string, text)
        text = _TABS_IN_STRINGS.sub(_tabs_in_string, text)
    return folded(text)


def unmarked(text: str) -> str:
    """The text with the bracket spelled out of everything in it that looks like such a mark.

    So none that is left was written by anybody but us.
    """
    return _LOOKALIKE.sub(_BRACKET, text) if "[" in text else text


def _lines(match: re.Match[str]) -> str:
    return f"[{match[0].count(chr(10))} blank lines]\n"


def _blanks(match: re.Match[str]) -> str:
    run = match[0]
    tabs = run.count("\t")
    if len(run) + (_TAB - 1) * tabs <= WIDEST:
        return run
    return _said(len(run), "tab" if tabs == len(run) else "blank" if tabs else "space")


def _alike(match: re.Match[str]) -> str:
    one = match[1]
    return f"[{len(match[0]) // len(one)} × {one[1:-1]}]"


def _breaks(match: re.Match[str]) -> str:
    return f"⏎[{match[0].count('⏎') - 1} blank lines]⏎"


def _lines_in_string(match: re.Match[str]) -> str:
    run = match[0]
    begin = run.index("\\n")
    rest = run[run.rindex("\\n") + 2 :]
    return f"{run[:begin]}\\n[{run.count(chr(92) + 'n') - 1} blank lines]\\n{rest}"


def _tabs_in_string(match: re.Match[str]) -> str:
    run = match[0]
    escapes = run.count("\\")
    return _said(len(run) - escapes, "tab" if 2 * escapes == len(run) else "blank")


def _said(count: int, what: str) -> str:
    return f"[{count} {what}s]"
