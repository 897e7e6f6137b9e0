"""JSON with the very numbers that were written: read strictly, written again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn, TypeGuard

from sayso.digests import is_read_alike
from sayso_bots.strict_json import refuse_duplicates

MOST_LEVELS = 64
"""Some clients read no answer of more than 100 levels, and what was sent comes back in one."""

# Codex reads 127 levels of JSON, two of which are the answer's own; what it cannot read counts for
# no answer, and the call runs as it was.
_MAX_DEPTH = 100
_MOST_DIGITS = 4_300  # Python itself reads no longer integers
_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_MOST_EXPONENT_DIGITS = 18


def is_text(value: object) -> TypeGuard[str]:
    """Whether it is a string, and no number as it was written."""
    return isinstance(value, str) and not isinstance(value, Number)


class Number(str):
    """A number as it was written."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """Its value, written in one way alone: 1, 1.0 and 10e-1 are the same."""
        match = _NUMBER.fullmatch(self)
        if match is None:
            raise ValueError("is not a number")
        sign, whole, fraction, exponent = match.groups(default="")
        digits = (whole + fraction).lstrip("0")
        kept = digits.rstrip("0")
        if not kept:
            return "0"
        power = int(exponent or 0) - len(fraction) + len(digits) - len(kept)
        return f"{sign}{kept}e{power}"

    @property
    def near(self) -> int | float:
        """The number as programs hold it that have doubles alone.

        Python holds an integer of any size, JavaScript does not: what either would
        change is another number to one of them.

        Raises:
            ValueError: it has too many digits, or is beyond what a double holds.
        """
        found = float(self)
        if found in (float("inf"), float("-inf")):
            raise ValueError("is too large a number")
        return found if set(self) & set(".eE") else int(found)

    @property
    def is_held(self) -> bool:
        """Whether all programs hold just this number."""
        return Number(repr(self.near)).value == self.value


def read(body: bytes) -> Any:
    """The JSON in a body; its numbers are ``Number``.

    Raises:
        ValueError: it is not JSON, or not clearly: a name is twice in an object, a
            string is not Unicode, it is nested too deep, or a number is too long.
    """
    try:
        text = body.decode("utf-8")
        found = json.loads(
            text,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_constant,
            object_pairs_hook=refuse_duplicates,
        )
    except RecursionError:
        raise ValueError(_DEEP) from None
    except UnicodeDecodeError:
        raise ValueError("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the body is not JSON: {error.msg} at {error.pos}") from None
    _check(found)
    return found


def written(value: Any) -> str:
    """The value as JSON, its numbers as they were written."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        inner = (f"{_text(name)}:{written(item)}" for name, item in value.items())
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return _text(value)


def is_read_as_approved(arguments: Mapping[str, Any]) -> bool:
    """Return True if an agent in JavaScript or Rust runs these very arguments.

    Raises:
        InvalidCallError: they are no JSON at all.
    """
    return is_read_alike(arguments) and _depth(arguments) <= _MAX_DEPTH


def _depth(arguments: Mapping[str, Any]) -> int:
    depth, level = 0, list[Any]([arguments])
    while level:
        items = [
            item
            for value in level
            for item in (value.values() if isinstance(value, Mapping) else value)
        ]
        level = [item for item in items if isinstance(item, Mapping | list | tuple)]
        depth += 1
    return depth


_DEEP = f"it is nested more than {MOST_LEVELS} levels deep"


def _number(text: str) -> Number:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    exponent = text.lower().partition("e")[2]
    if len(exponent) > _MOST_EXPONENT_DIGITS:
        raise ValueError("a number has too long an exponent")
    return Number(text)


def _constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _check(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.keys()
                inner += one.values()
            elif isinstance(one, list):
                inner += one
            elif isinstance(one, str):
                _check_text(one)
        if not inner:
            return
        level = inner
    raise ValueError(_DEEP)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a string is not valid Unicode") from None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
