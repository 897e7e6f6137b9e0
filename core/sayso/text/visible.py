"""Text as a person sees it: nothing invisible, not too long, and what looks the same."""

from __future__ import annotations

import unicodedata

# Cc control, Cf format (bidirectional, zero width), Cs lone surrogates, Co private use,
# Cn unassigned, Zl/Zp separators: none of them may act on the text around it.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters by category that are drawn as nothing: Hangul fillers, Braille blank, combining joiner,
# variation selectors.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f") | frozenset(
    chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)

_QUOTES = str.maketrans(dict.fromkeys("’‘ʼ‛`´", "'") | dict.fromkeys("“”„‟", '"'))


def visible(text: str, *, one_line: bool = False) -> str:
    """The text with every control, bidirectional and invisible character spelled out.

    ``U+202E`` becomes ``⟨U+202E⟩``. Newlines and tabs stay, unless the field
    is ``one_line``: then a newline is spelled ``⏎`` and a tab is a space.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(character, one_line) for character in text)


def _seen(character: str, one_line: bool) -> str:
    if character == "\n":
        return "⏎" if one_line else "\n"
    if character == "\t":
        return " " if one_line else "\t"
    if character in _BLANK or unicodedata.category(character) in _UNSEEN:
        return f"⟨U+{ord(character):04X}⟩"
    if unicodedata.category(character) == "Zs" and character != " ":
        return f"⟨U+{ord(character):04X}⟩"
    return character


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; a cut text ends in ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def looks(text: str) -> str:
    """The same for texts that look the same: spaces, case, quotes and forms of letters aside."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return " ".join(plain.casefold().split())


def one_line(text: str, limit: int, *, otherwise: str = "–") -> str:
    """The text on one line of 1 to ``limit`` characters, nothing in it invisible."""
    return shortened(visible(text, one_line=True).strip(), limit) or otherwise
