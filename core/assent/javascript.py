"""Values as JavaScript writes them: what the patterns of rules are compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def as_text(value: Any) -> str:
    """A JSON value as ``String(value)`` writes it (ECMA-262, ToString).

    A list is its items joined by commas, with nothing for null; an object is
    ``[object Object]``, whatever it holds.
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
        return ",".join("" if item is None else as_text(item) for item in value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return str(value)


def _number(number: float) -> str:
    """ECMA-262, Number::toString with radix 10: all numbers are 64-bit floating point."""
    try:
        value = float(number)
    except OverflowError:
        return "Infinity" if number > 0 else "-Infinity"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
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
