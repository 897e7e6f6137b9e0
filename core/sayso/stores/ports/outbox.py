"""Work that waits for desks."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
