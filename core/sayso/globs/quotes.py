"""Where a glob quotes text, and the ways of writing that are refused."""

from __future__ import annotations

import re

from sayso.errors import ConfigError
from sayso.globs.brackets import closing_bracket

# A quote inside a run of other characters is a character like those.
_ENDS_TEXT = frozenset("@[].,*+?{}()|\\/")
_BEFORE_QUOTE = frozenset("{,/")
_AFTER_QUOTE = re.compile(r"[\w /,}-]|\Z")
# In these the reference forgets the quoted text, or reads what follows it in another way.
_NOT_WITH_QUOTES = re.compile(r"\*\*|\.\.|[\[(|]")
_BACKSLASHES = (re.compile(r"\\{3,}"), r"write @(\\) for each backslash before a special character")
_IN_PLAIN = (
    _BACKSLASHES,
    (re.compile(r"(?<!\\)\\\\[^\w*?]", re.ASCII), r"write @(\\) for the backslash"),
    (re.compile(r"(?<!\\)\\\Z"), r"write \\ for a backslash at the end"),
    (re.compile(r"\|{2,}|\${2,}|\^{2,}"), "write a backslash before each of them"),
)
_ELSEWHERE = (
    _BACKSLASHES,
    (re.compile(r"\(\?!\("), "write !(...)"),
    (re.compile(r"(?<!\\)\0|\\\\\0"), "write a backslash before it"),
)
_GARBLED = re.compile(r'\(|\*\*|"')


def quotes(source: str) -> dict[int, int]:
    """For each ``"`` that begins quoted text, where that ends.

    Raises:
        ConfigError: a quote is never closed, or it is not clear what it means.
    """
    if '"' not in source:
        return {}
    found: dict[int, int] = {}
    in_text = False
    brackets = "]" in source
    at = 0
    while at < len(source):
        char = source[at]
        if char == '"' and not in_text:
            found[at] = at = _closing_quote(source, at)
        elif char == "\\":
            at += 1
            in_text = False
        elif char == "[" and brackets and (end := closing_bracket(source, at)) >= 0:
            at = end
            in_text = False
        else:
            in_text = char not in _ENDS_TEXT and not source.startswith("!(", at)
        at += 1
    return found


def _closing_quote(source: str, start: int) -> int:
    end = source.find('"', start + 1)
    if end < 0:
        raise ConfigError('the pattern has a " that is never closed; write \\" for the character')
    if "\\" in source[start:end]:
        text = 'the pattern has a backslash between quotes; write \\" alone for a "'
        raise ConfigError(text)
    return end


def refuse_unclear(source: str, quoted: dict[int, int], *, plain: bool) -> None:
    """Refuse a pattern that the reference takes in a way nobody can mean.

    ``plain``: it is text, stars and question marks, which the reference reads in a way of its own.

    Raises:
        ConfigError: the pattern holds such a thing; the message names the fix.
    """
    for wrong, hint in _IN_PLAIN if plain else _ELSEWHERE:
        if found := wrong.search(source):
            raise ConfigError(f"the pattern holds {found[0]!r}, which is not clear; {hint}")
    for start, end in quoted.items():
        before = start == 0 or source[start - 1] in _BEFORE_QUOTE
        if not before or not _AFTER_QUOTE.match(source, end + 1) or _NOT_WITH_QUOTES.search(source):
            text = (
                f"it is not clear what {source[start : end + 1]} means in the pattern; "
                'write \\" for a ", or a whole name between quotes, as in {"a b",c}'
            )
            raise ConfigError(text)


def refuse_in_literal_brace(content: str) -> None:
    """Refuse what the reference garbles in a brace without a comma: groups, ``**`` and quotes.

    Raises:
        ConfigError: the brace holds such a thing.
    """
    if found := _GARBLED.search(content):
        raise ConfigError(
            f"the pattern holds {found[0]} in a brace that has no comma; write \\{{ for the brace"
        )
