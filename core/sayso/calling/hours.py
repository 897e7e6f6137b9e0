"""Quiet hours: from one time of the day to another, in a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours in which nobody is called, each day; from evening to morning they pass midnight.

    Raises:
        ValueError: they would last for no time, or for ever.
    """

    begins: time
    ends: time
    zone: ZoneInfo

    def __post_init__(self) -> None:
        if self.begins == self.ends:
            raise ValueError("quiet hours end at another time than they begin")

    def until(self, now: datetime) -> datetime | None:
        """When the quiet hours end that it is in; None outside of them."""
        here = now.astimezone(self.zone)
        at = here.time()
        if self.begins < self.ends:
            is_quiet = self.begins <= at < self.ends
        else:
            is_quiet = at >= self.begins or at < self.ends
        if not is_quiet:
            return None
        day = here.date() if at < self.ends else here.date() + timedelta(days=1)
        return datetime.combine(day, self.ends, self.zone).astimezone(UTC)

    def __str__(self) -> str:
        return f"{self.begins:%H:%M}–{self.ends:%H:%M} {self.zone.key}"
