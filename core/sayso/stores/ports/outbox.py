"""Work that waits for desks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sayso.stores.ports.copies import Shown
from sayso.stores.ports.requests import Record


@dataclass(frozen=True, slots=True)
class Job:
    """Work for one desk: show a request (``ask``) or bring its cards up to date (``end``).

    ``tries`` counts the desks that had it, this one included: those before are gone.
    ``record`` is what the store knew of the request when it gave the job away, where it
    said so: then there is nothing to look up. It is done ``again`` where the request had
    ended before, and something else about it has changed.
    """

    kind: Literal["ask", "end"]
    question_id: str
    receipt: str
    tries: int = 1
    again: bool = field(default=False, kw_only=True)
    record: Record | None = field(default=None, repr=False, compare=False)


class Intake(Protocol):
    """A desk at work, as other desks reach it by its name. Neither waits, and either may be missed.

    What is missed loses nothing: a card that is not known is looked up, and a job
    that nobody does goes to another desk.
    """

    def rung(self, job: Job) -> None:
        """Another desk settled a request whose card this one posted."""
        ...

    def heard(self, shown: Shown) -> None:
        """Another desk posted a card."""
        ...


class Outbox(Protocol):
    """Work waiting for desks: at least once, each job with one desk at a time.

    A job that a desk took and did not finish goes to another one when that
    desk is gone.
    """

    def jobs(
        self, desk: str, intake: Intake | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Job]]:
        """Jobs for the desk of this name, as they come. Outages are waited out.

        While the block runs, others reach it by its ``intake``.
        """
        ...

    def have(self, desk: str, job: Job) -> None:
        """The desk got this job from ``Store.settle``: it keeps it like those of ``jobs``."""
        ...

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        ...
