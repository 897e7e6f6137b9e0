"""Text that a person can see whole: nothing invisible, no run of blanks, within its limit."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from string import Formatter
from typing import Any

from sayso.formats import formats_of


def is_unicode(value: Any) -> bool:
    """Return True if no string or name in a JSON value holds half of a surrogate pair.

    Not of a value that is nested too deeply to be looked through.
    """
    if isinstance(value, str) and value.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def parts_of(template: str) -> Iterator[tuple[str, str]]:
    """Each piece of text with the name of the gap behind it, empty at the end."""
    for text, gap, _, _ in Formatter().parse(template):
        yield text, gap or ""


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


# Cc control, Cf format (bidirectional, zero width), Cs lone surrogates, Co private use,
# Cn unassigned, Zl/Zp separators: none of them may act on the text around it. Zs: blanks of
# other widths, of which only the space itself looks like what it is.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
# Letters and marks by category that are drawn as nothing: the combining joiner, fillers of Hangul,
# Khmer and Khitan, the Braille blank, variation selectors (also Mongolian ones), joiners of
# Tifinagh and Brahmi numbers, the object replacement, the null note head, hieroglyphic blanks.
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u2d7f\u3164\uffa0\ufffc"
    "\U0001107f\U00013441\U00013442\U00016fe4\U0001d159"
) | frozenset(
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)

_QUOTES = str.maketrans(dict.fromkeys("’‘ʼ‛`´", "'") | dict.fromkeys("“”„‟", '"'))
_MOST_KEPT = 8_192
# On one letter; more would cover the lines above and below. Hebrew and Vietnamese need three.
_MOST_MARKS = 4
_MARKS = frozenset({"Mn", "Me"})


def visible(text: str, *, one_line: bool = False) -> str:
    """The text with every control, bidirectional and invisible character spelled out.

    ``U+202E`` becomes ``⟨U+202E⟩``, and so does each mark beyond the fourth on one letter.
    Newlines and tabs stay, unless the field is ``one_line``: then a newline is spelled ``⏎``
    and a tab is a space.
    """
    text = with_few_marks(text)
    # What is printable to Python is what is in none of these categories, the space aside.
    if text.isprintable() and (text.isascii() or _BLANK.isdisjoint(text)):
        return text
    return text.translate(_ON_ONE_LINE if one_line else _ON_LINES)


def with_few_marks(text: str) -> str:
    """The text with each mark spelled out that has four others before it on its letter."""
    if text.isascii():
        return text
    marks = "".join(filter(is_mark, set(text) - _BLANK))
    if not marks:
        return text
    pile = re.compile(f"(?<=[{marks}]{{{_MOST_MARKS}}})[{marks}]+")
    return pile.sub(lambda match: "".join(map(_spell_out, match[0])), text)


def is_mark(character: str) -> bool:
    """Return True if it is drawn on the letter before it."""
    return unicodedata.category(character) in _MARKS


def _spell_out(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


class _Seen(dict[int, str]):
    """How characters are seen, each looked up once; the rarest again every time."""

    def __missing__(self, code: int) -> str:
        seen = _seen(chr(code))
        if len(self) < _MOST_KEPT:
            self[code] = seen
        return seen


def _seen(character: str) -> str:
    if character == " ":
        return character
    if character in _BLANK or unicodedata.category(character) in _UNSEEN:
        return _spell_out(character)
    return character


_ON_LINES = _Seen({ord("\n"): "\n", ord("\t"): "\t"})
_ON_ONE_LINE = _Seen({ord("\n"): "⏎", ord("\t"): " "})


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; a cut text ends in ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def looks(text: str) -> str:
    """The same for texts that look the same: spaces, case, quotes and forms of letters aside."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return " ".join(plain.casefold().split())


def on_one_line(text: str) -> str:
    """The text on one line, nothing in it invisible or far away."""
    return folded(visible(text, one_line=True))


def one_line(text: str, limit: int, *, otherwise: str = "–") -> str:
    """The same of 1 to ``limit`` characters, for a field that is never empty."""
    return shortened(on_one_line(text.strip()).strip(), limit) or otherwise


@dataclass(frozen=True, slots=True)
class Ranked:
    """A text that gives way where there is no room; those of the highest rank do so first.

    One of rank 0 is never cut.
    """

    text: str
    rank: int = 0


def cut_by_rank(
    texts: Sequence[Ranked],
    over: int,
    *,
    least: int,
    size: Callable[[str], int] = len,
    cut: Callable[[str, int], str] = shortened,
) -> tuple[list[str], int]:
    """The texts, cut until they are ``over`` less in all, and how much is still over.

    Each keeps at least ``least``, counted by ``size`` and cut by ``cut``.
    """
    kept = [ranked.text for ranked in texts]
    for index in sorted(range(len(texts)), key=lambda index: -texts[index].rank):
        if over <= 0 or texts[index].rank == 0:
            break
        whole = size(kept[index])
        kept[index] = cut(kept[index], max(least, whole - over))
        over -= whole - size(kept[index])
    return kept, max(over, 0)


def format_count(
    translations: NullTranslations, one: str, other: str, count: float, **gaps: object
) -> str:
    """Fill in the sentence for so many; ``{count}`` and numbers in other gaps are written out."""
    formats = formats_of(translations)
    filled = {
        name: formats.number(value) if isinstance(value, int | float) else value
        for name, value in gaps.items()
    }
    message = translations.ngettext(one, other, int(count) if count == int(count) else 2)
    return message.format(count=formats.number(count), **filled)
