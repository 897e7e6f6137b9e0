"""Outbox: jobs for workers, jobs for later, and the workers that are alive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """Work for one desk: show a request (``ask``) or bring its cards up to date (``end``).

    ``tries`` counts the desks that had it, this one included: those before are gone.
    It is done ``again`` where the request had ended before, and something else about it
    has changed.
    """

    kind: Literal["ask", "end"]
    question_id: str
    receipt: str
    tries: int = 1
    again: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Due:
    """The work due now, and the seconds until the next; None without one."""

    names: Sequence[str]
    next_in: float | None


@dataclass(frozen=True, slots=True)
class OpenLimits:
    """The most requests open at once, of an agent and of a token; 0 is as many as come."""

    per_agent: int = 0
    per_token: int = 0


NO_LIMITS = OpenLimits()


class Outbox(Protocol):
    """Work waiting for desks: at least once, each job with one desk at a time.

    A job that a desk took and did not finish goes to another one when that
    desk is gone.
    """

    def jobs(self, desk: str) -> AbstractAsyncContextManager[AsyncIterator[Job]]:
        """Jobs for the desk of this name, as they come. Outages are waited out."""
        ...

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        ...

    async def schedule(self, queue: str, name: str, *, seconds: float = 0.0) -> None:
        """Let the name be due in so many seconds, instead of whenever it was due before."""
        ...

    async def claim_scheduled(self, queue: str, *, most: int, hold: float) -> Due:
        """Claim the first that is due; due again in ``hold`` seconds unless it is done by then."""
        ...

    async def complete_scheduled(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        ...

    async def heartbeat(
        self, desk: str, *, seconds: float, limits: OpenLimits | None = None
    ) -> None:
        """The desk of this name is at work for so long; it says so again to stay.

        From now on ``RequestStore.open`` keeps these limits, until a desk brings others, or
        for half a year. Without any, those stay that a desk brought before.
        """
        ...

    async def remove_worker(self, desk: str) -> None:
        """The desk has stopped."""
        ...

    async def count_workers(self) -> int:
        """Return the number of workers that are running."""
        ...
