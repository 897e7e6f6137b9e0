"""Text as a person sees it: nothing invisible, not too long, and what looks the same."""

from __future__ import annotations

import re
import unicodedata

from sayso.text.blanks import folded

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
    """Return whether it is drawn on the letter before it."""
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
