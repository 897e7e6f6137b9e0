"""JSON as people write it for their editors, with comments and commas too many."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from sayso_bots.strict_json import MalformedMessageError

Span = tuple[int, int]

_SKIPPED = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_BARE = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_DEEPEST = 100


def read(text: str) -> Any:
    """What the text says.

    Raises:
        MalformedMessageError: it is not JSON with comments, or a name is in an object twice.
    """
    found, at = _value(text, _after(text, 0), 0)
    if _after(text, at) != len(text):
        raise MalformedMessageError(f"something stands behind the end, at {at}")
    return found


def members(text: str, at: int = 0) -> dict[str, Span]:
    """Where the values of an object stand, in a text that was read; ``at`` is where it begins."""
    return {name: span for name, _, span in _object(text, _after(text, at), 0)[0]}


def _object(text: str, at: int, depth: int) -> tuple[list[tuple[str, Any, Span]], int]:
    items: list[tuple[str, Any, Span]] = []
    at = _after(text, at + 1)
    while text[at : at + 1] != "}":
        name, at = _string(text, at)
        at = _after(text, at)
        if text[at : at + 1] != ":":
            _refuse("a : is missing", at)
        begins = _after(text, at + 1)
        value, ends = _value(text, begins, depth)
        items.append((name, value, (begins, ends)))
        at = _next(text, ends, "}")
    return items, at + 1


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        _refuse("it is nested too deeply", at)
    sign = text[at : at + 1]
    if sign == "{":
        items, ends = _object(text, at, depth + 1)
        found = {name: value for name, value, _ in items}
        if len(found) < len(items):
            _refuse("a name is in an object twice", at)
        return found, ends
    if sign == "[":
        return _list(text, at, depth)
    if sign == '"':
        return _string(text, at)
    match = _BARE.match(text, at)
    if match is None:
        _refuse("a value is missing", at)
    try:
        return json.loads(match[0]), match.end()
    except ValueError:
        _refuse("a number is not understood", at)


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _after(text, at + 1)
    while text[at : at + 1] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _next(text, at, "]")
    return items, at + 1


def _next(text: str, at: int, sign: str) -> int:
    """Where the next item begins, or the sign that ends them stands."""
    at = _after(text, at)
    if text[at : at + 1] == ",":
        return _after(text, at + 1)
    if text[at : at + 1] != sign:
        _refuse("a , is missing", at)
    return at


def _string(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if match is None:
        _refuse("a text is missing, or has no end", at)
    try:
        found: str = json.loads(match[0])
    except ValueError:
        _refuse("a text is not understood", at)
    return found, match.end()


def _after(text: str, at: int) -> int:
    match = _SKIPPED.match(text, at)
    return at if match is None else match.end()


def _refuse(why: str, at: int) -> NoReturn:
    raise MalformedMessageError(f"{why}, at {at}")
