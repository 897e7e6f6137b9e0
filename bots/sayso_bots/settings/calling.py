"""How people are called, as it may be written: quiet hours and reminders."""

from __future__ import annotations

import re
from datetime import time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import PlainValidator

from sayso.calling.hours import Quiet
from sayso.durations import parse_duration

MOST_REMINDERS = 5
_TIME = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_EXAMPLE = '{ from = "22:00", to = "07:00", zone = "Europe/Berlin" }'


def _quiet(written: object) -> Quiet:
    if not isinstance(written, dict) or written.keys() != {"from", "to", "zone"}:
        raise ValueError(f"is not quiet hours; write {_EXAMPLE}")
    begins, ends = _time(written["from"]), _time(written["to"])
    try:
        return Quiet(begins, ends, ZoneInfo(str(written["zone"])))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if begins == ends:
            raise ValueError(
                'would be quiet for ever; notify = "none" without remind calls nobody'
            ) from error
        raise ValueError(
            f"names a zone that is not known here, {str(written['zone'])[:60]!r}; "
            "write one such as Europe/Berlin, or UTC"
        ) from None


def _time(written: object) -> time:
    if isinstance(written, time):
        return written.replace(second=0, microsecond=0)
    if not isinstance(written, str) or not _TIME.fullmatch(written):
        raise ValueError(f"has a time that is none; write {_EXAMPLE}")
    return time.fromisoformat(written)


def _remind(written: object) -> tuple[float, ...]:
    after = [parse_duration(one) for one in (written if isinstance(written, list) else [written])]
    if len(after) > MOST_REMINDERS:
        raise ValueError(f"are too many reminders; write at most {MOST_REMINDERS}")
    if any(one < timedelta(seconds=10) for one in after):
        raise ValueError("reminds too soon; write at least 10s")
    return tuple(sorted(one.total_seconds() for one in set(after)))


QuietHours = Annotated[Quiet, PlainValidator(_quiet)]
Remind = Annotated[tuple[float, ...], PlainValidator(_remind)]
"""After how many seconds, in their order."""
