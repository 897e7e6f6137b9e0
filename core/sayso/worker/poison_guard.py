"""Poison-message guard: a request that crashed a worker is retried alone, then dead-lettered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)

from sayso.errors import SaysoError, StoreUnreachableError
from sayso.stores.protocols import Job, KeyValueStore

# So long it is known that a desk began with a suspect and did not come to an end.
_KNOWN_SECONDS = 3_600.0
# A lease cannot be given back: it is kept for a moment instead.
_GIVEN_BACK_SECONDS = 0.001
_AT_ONCE = nullcontext()


class PoisonedError(SaysoError):
    """Two desks died, or stood still, over this request."""

    def __init__(self, question_id: str) -> None:
        super().__init__(f"request {question_id!r} took two desks down")


class PoisonGuard:
    """Finds out which request it is that takes desks down.

    A desk that dies had many jobs, and one of them may be why. Whoever takes
    them over works on one of them at a time, and leaves a note in the store
    for as long as it does. Where a note is found, its desk died over that one.
    """

    def __init__(self, key_value: KeyValueStore, desk: str) -> None:
        self._key_value = key_value
        self._desk = desk
        self._suspects: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()

    @contextmanager
    def with_job(self, job: Job) -> Iterator[None]:
        """Suspect the request while its job is done here, if another desk had the job before."""
        if job.tries < 2:
            yield
            return
        self._suspects[job.question_id] += 1
        try:
            yield
        finally:
            self._suspects[job.question_id] -= 1
            self._suspects += Counter()

    def suspects(self, question_id: str) -> bool:
        """Return True if the request is worked on alone."""
        return question_id in self._suspects

    def about(self, question_id: str) -> AbstractAsyncContextManager[None]:
        """Do what a request may make go wrong; at once for one that is not suspected.

        Raises:
            PoisonedError: another desk began with it and did not come to an end.
            StoreUnreachableError: nobody knows whether one did.
        """
        return self._alone(question_id) if question_id in self._suspects else _AT_ONCE

    @asynccontextmanager
    async def _alone(self, question_id: str) -> AsyncIterator[None]:
        name = f"working on:{question_id}"
        async with self._one_at_a_time:
            if not await self._key_value.acquire_lease(name, self._desk, seconds=_KNOWN_SECONDS):
                raise PoisonedError(question_id)
            try:
                yield
            finally:
                with suppress(StoreUnreachableError):
                    await self._key_value.acquire_lease(
                        name, self._desk, seconds=_GIVEN_BACK_SECONDS
                    )
