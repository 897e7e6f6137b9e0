"""Text from agents as people may see it: nothing invisible, nothing secret."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_REDACTED = "[redacted]"

# Cc control, Cf format (bidirectional, zero width), Cs lone surrogates, Co private use,
# Cn unassigned, Zl/Zp separators: none of them may act on the text around it.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters by category that are drawn as nothing: Hangul fillers, Braille blank, combining joiner,
# variation selectors.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f") | frozenset(
    chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.\s])(?:pass(?:word|wd|phrase)?|secret|token|api[_\-]?key|apikey|"
    r"private[_\-]?key|access[_\-]?key|credentials?|authorization|auth|cookie|session[_\-]?key)"
    r"(?:$|[_\-.\s])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_VALUE = re.compile(
    r"""
      xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}          # Slack tokens
    | xapp-[A-Za-z0-9-]{8,} | xwfp-[A-Za-z0-9-]{8,}     # Slack app-level and workflow tokens
    | \b\d{6,12}:[A-Za-z0-9_-]{30,}                     # Telegram bot tokens
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}
    | \bsk-[A-Za-z0-9_-]{16,} | \b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+   # JSON Web Tokens
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | (?<=://)[^\s/:@]*:[^\s/@]+(?=@)                   # user:password in a URL
    | (?i:(?<=bearer\s))[A-Za-z0-9._~+/=-]{8,}
    """,
    re.VERBOSE,
)


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
    if unicodedata.category(character) == "Zs":
        return " "
    return character


def redacted_text(text: str) -> str:
    """The text with everything that has the shape of a known kind of secret replaced."""
    return _SECRET_VALUE.sub(_REDACTED, text)


def redacted(value: Any) -> Any:
    """A JSON value without secrets: by the name of their key and by their shape.

    A value under a key such as ``password`` or ``apiKey`` is replaced whole.
    """
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, Mapping):
        return {
            redacted_text(str(key)): _REDACTED if _names_a_secret(str(key)) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value


def _names_a_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; a cut text ends in ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
