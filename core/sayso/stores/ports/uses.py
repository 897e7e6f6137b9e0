"""What became of an approval: whether it was used, and how that went."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Went = Literal["succeeded", "failed"]
"""How a call went that ran on an approval, as whoever ran it says."""


@dataclass(frozen=True, slots=True)
class Report:
    """How the call went, and when that was told by the store's clock."""

    went: Went
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """What is told of an approval after it was given.

    It was used ``at`` a moment of the store's clock, by whoever brought the
    ``key``, and went as the ``report`` says.
    """

    key: str
    at: datetime
    report: Report | None = None


class Uses(Protocol):
    """The one use of an approval, whoever asks and however often.

    Whatever is recorded is shown on the cards of the request and, of what a
    person approved, is in the audit. Raises StoreUnreachableError like Store,
    and RequestNotFoundError where there is no such request.
    """

    async def take(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once: one atomic step. Answers the use that counts, this or another.

        None where there is none to be had: at ``until`` by the store's clock it
        is over, and nothing but an approval of a call is used.
        """
        ...

    async def report(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts. None where it was not used."""
        ...
