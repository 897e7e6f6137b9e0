"""Values in sections of the settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainValidator

from sayso.durations import parse_duration

Flag = Annotated[bool, Field(strict=True)]
"""``true`` or ``false``, and no word for them."""

Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
"""Written as ``90s``, ``10m`` or ``1h30m``."""


def refuse_bool(value: object) -> object:
    """Return the value; of true and false what was written, which is no number."""
    # To pydantic, true is a 1.
    return repr(value) if isinstance(value, bool) else value


def count_up_to(highest: int, *, off: bool = False) -> PlainValidator:
    """Return the validator of a count from 1; with ``off``, that word stands for 0."""
    more = ', such as 50, or "off"' if off else ""

    def check(value: object) -> int:
        if off and value == "off":
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
            raise ValueError(f"is not a whole number from 1 to {highest}{more}")
        return value

    return PlainValidator(check)


def parse_duration_or(word: str, value: object, *, meaning: str = "") -> timedelta | None:
    """Read a duration; None where the word stands instead of one.

    Raises:
        ValueError: it is neither.
    """
    if value == word:
        return None
    try:
        return parse_duration(value)
    except ValueError as error:
        raise ValueError(f'{error}; or "{word}"{meaning}') from None
