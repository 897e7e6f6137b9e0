"""How many messages a platform takes, and in what time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_RATE = re.compile(r"(?P<count>[1-9]\d{0,5})/(?P<number>[1-9]\d{0,3})?(?P<unit>[smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` messages in any ``seconds``: ``1/s``, ``20/m``, ``5/10s``."""

    count: int
    seconds: float

    @classmethod
    def parse(cls, text: str) -> Rate:
        """The rate in its written form.

        Raises:
            ValueError: the text is not a rate; the message says what to write instead.
        """
        match = _RATE.fullmatch(text)
        if match is None:
            raise ValueError("is not a rate; write 1/s, 20/m or 5/10s")
        return cls(int(match["count"]), int(match["number"] or 1) * _SECONDS[match["unit"]])

    def __str__(self) -> str:
        seconds = int(self.seconds)
        unit = next(unit for unit in "hms" if seconds % _SECONDS[unit] == 0)
        number = seconds // _SECONDS[unit]
        return f"{self.count}/{number if number > 1 else ''}{unit}"


@dataclass(frozen=True, slots=True)
class Budget:
    """What all messages under one name may use up together, from whichever process they come."""

    name: str
    rate: Rate


def next_moment(now: float, used: Sequence[tuple[Rate, Sequence[float]]]) -> float:
    """The first moment from now on at which one more message breaks none of the rates.

    ``used`` are the moments of each budget that are taken, in order, those to come among them.
    """
    moment = now
    while True:
        later = moment
        for rate, taken in used:
            near = [at for at in taken if moment - rate.seconds < at < moment + rate.seconds]
            if len(near) >= rate.count:
                later = max(later, near[-rate.count] + rate.seconds)
        if later == moment:
            return moment
        moment = later
