"""Durations as people write them: ``200ms``, ``90s``, ``10m``, ``1h30m``, ``7d``."""

from __future__ import annotations

import re
from datetime import timedelta

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_UNITS = {**_SECONDS, "ms": 0.001}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[dhms]))+")
_LONGEST = timedelta(days=30)


def parse_duration(text: object, *, longest: timedelta = _LONGEST) -> timedelta:
    """The duration a text such as ``10m`` or ``1h30m`` stands for.

    Raises:
        ValueError: it is not one, or not between 0 and the longest; the message
            says what to write instead.
    """
    written = str(text).strip()
    if not isinstance(text, str) or not _WHOLE.fullmatch(written):
        raise ValueError(f"is not a duration: {_hint(written)}")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(written))
    if not 0 < seconds <= longest.total_seconds():
        raise ValueError(f"must be more than 0s and at most {longest.days}d")
    return timedelta(seconds=seconds)


def duration_text(duration: timedelta) -> str:
    """A duration in its two largest units: ``9m 41s``, ``2h``."""
    left = max(0, round(duration.total_seconds()))
    parts = []
    for unit, size in _SECONDS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def _hint(written: str) -> str:
    if re.fullmatch(r"\d+(?:\.\d+)?", written):
        return f"{written} has no unit, write {written}s or {written}m"
    return "write 90s, 10m, 1h30m or 7d"
