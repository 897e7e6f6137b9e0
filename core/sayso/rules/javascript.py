"""Values as JavaScript writes them: what the patterns of rules are compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from sayso.errors import InvalidCallError

# Between these Python writes a number as JavaScript does, but for the .0 of a whole one.
_PLAIN_FROM, _PLAIN_BELOW = 1e-4, 1e15


def as_text(value: Any) -> str:
    """A JSON value as ``String(value)`` writes it (ECMA-262, ToString).

    A list is its items joined by commas, with nothing for null; an object is
    ``[object Object]``, whatever it holds. What is no JSON value (bytes, a
    path, a date, …) is written as the JSON value that a card shows for it.

    Raises:
        InvalidCallError: it has no JSON form, or no certain one.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return _joined(value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return as_text(_plain(value))


def _joined(items: Sequence[Any]) -> str:
    kinds = set(map(type, items))
    if kinds == {str}:
        return ",".join(items)
    if kinds == {int} and min(items) > -_PLAIN_BELOW and max(items) < _PLAIN_BELOW:
        return ",".join(map(str, items))
    return ",".join(map(_item, items))


def _item(item: Any) -> str:
    """One of a list, which may hold a hundred thousand: what there are many of comes first."""
    kind = type(item)
    if kind is list:
        return _joined(item) if item else ""
    if kind is dict:
        return "[object Object]"
    if kind is float and _PLAIN_FROM <= item < _PLAIN_BELOW:
        return repr(item).removesuffix(".0")
    return "" if item is None else as_text(item)


def _plain(value: Any) -> Any:
    """The JSON value of anything else: what a rule does not look at must not run either."""
    kind = type(value).__name__
    if isinstance(value, Set | Iterator):
        # A set has another order in every process; an iterator is spent once it was read.
        raise InvalidCallError(f"no rule can be compared with a {kind}: pass a list")
    try:
        return to_jsonable_python(value, inf_nan_mode="strings")
    except (PydanticSerializationError, ValueError, RecursionError):
        # Without the error: it may quote the value.
        raise InvalidCallError(f"a {kind} cannot be written as JSON: pass a string") from None


def _number(number: float) -> str:
    """ECMA-262, Number::toString with radix 10: all numbers are 64-bit floating point."""
    if type(number) is int and -_PLAIN_BELOW < number < _PLAIN_BELOW:
        return str(number)
    try:
        value = float(number)
    except OverflowError:
        return "Infinity" if number > 0 else "-Infinity"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < _PLAIN_BELOW:
        return str(int(value))
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return repr(value)
    sign = "-" if value < 0 else ""
    digits, point = _digits(abs(value))
    return sign + _placed(digits, point)


def _digits(value: float) -> tuple[str, int]:
    """The shortest digits that read as the number, and where the point stands in them."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole.lstrip("0")) + int(exponent or 0)
    if not whole.lstrip("0"):
        point = int(exponent or 0) - (len(fraction) - len(fraction.lstrip("0")))
    return digits.rstrip("0"), point


def _placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = f"{point - 1:+d}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{rest}e{exponent}"
