"""Text from agents as people may see it: nothing invisible, nothing secret."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_MARK = "[redacted: "
# What a credential may be made of: no white space, and nothing that a shell acts on.
_WORD = re.compile(r"[^\s$`;&|<>(){}]{1,200}")

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
# A pattern hides what it matches from the person who decides, so each is as narrow as the kind
# of secret allows: none takes white space, and none takes what a shell would act on.
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
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]+   # JWT
    | (?<=://)[A-Za-z0-9._~%+-]*:[A-Za-z0-9._~%+!*,=-]+(?=@)   # user:password in a URL
    | (?i:(?<=bearer\s))[A-Za-z0-9_~+-][A-Za-z0-9._~+=-]{19,}
    """,
    re.VERBOSE,
)
# RFC 7468: lines of 64 characters of base64, the last one shorter, between BEGIN and END.
_KEY_BLOCK = re.compile(
    r"(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----\n)"
    r"(?P<lines>(?:[A-Za-z0-9+/=]{40,76}\n)*(?:[A-Za-z0-9+/=]{1,76}\n)?)"
    r"(?=-----END )"
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
    if unicodedata.category(character) == "Zs" and character != " ":
        return f"⟨U+{ord(character):04X}⟩"
    return character


def redacted_text(text: str) -> str:
    """The text with everything that has the shape of a known kind of secret replaced."""
    text = _KEY_BLOCK.sub(lambda match: match["begin"] + _hidden(match["lines"]) + "\n", text)
    return _SECRET_VALUE.sub(lambda match: _hidden(match[0]), text)


def redacted(value: Any) -> Any:
    """A JSON value without secrets: by the name of their key and by their shape.

    A single word or number under a key such as ``password`` or ``apiKey`` is
    replaced; what is longer than a credential, or has lines or parts of its
    own, stays visible, because it may be what runs.
    """
    return _redacted(value, named=False)


def hidden_count(value: Any) -> int:
    """How many texts in a redacted value were replaced, as far as its marks tell."""
    if isinstance(value, str):
        return value.count(_MARK)
    if isinstance(value, Mapping):
        return sum(hidden_count(key) + hidden_count(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(hidden_count, value))
    return 0


def _redacted(value: Any, *, named: bool) -> Any:
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, item in value.items():
            # Two names that both look like secrets must not become one: nothing may go unseen.
            name = base = redacted_text(str(key))
            number = 2
            while name in found:
                name, number = f"{base} #{number}", number + 1
            found[name] = _redacted(item, named=named or _names_a_secret(str(key)))
        return found
    if isinstance(value, list | tuple):
        return [_redacted(item, named=named) for item in value]
    if named and value is not None and not isinstance(value, bool):
        text = str(value)
        if text and _WORD.fullmatch(text):
            return _hidden(text)
    return redacted_text(value) if isinstance(value, str) else value


def _hidden(text: str) -> str:
    return f"{_MARK}{len(text)} characters]"


def _names_a_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; a cut text ends in ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
