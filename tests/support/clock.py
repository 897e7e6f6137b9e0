"""The clock of the tests: it stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sayso.testing import StoppedClock


class Clock(StoppedClock):
    """Tells the time as a datetime or in seconds; whoever sleeps by it moves it at once."""

    def __init__(self, now: datetime | float = datetime(2027, 1, 15, 8, tzinfo=UTC)) -> None:
        super().__init__(now if isinstance(now, datetime) else datetime.fromtimestamp(now, UTC))
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.now.timestamp()

    def pass_by(self, seconds: float) -> None:
        self.advance(timedelta(seconds=seconds))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.pass_by(seconds)
