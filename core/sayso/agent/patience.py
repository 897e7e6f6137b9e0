"""Waiting for a store that is away, but no longer than promised."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from sayso.agent.timeouts import GRACE_SECONDS, CallTime
from sayso.calls import RunRef
from sayso.errors import StoreUnreachableError
from sayso.rules.rule_set import RuleBook
from sayso.stores.home import running_loop
from sayso.stores.inbox import CANNOT_ASK
from sayso.stores.troubles import Troubles

_T = TypeVar("_T")
_Late = TypeVar("_Late")

_RETRY_SECONDS = 0.2
NOTHING_APPROVED = "nothing was approved"

# Each way into a gate sets its own, so what a task inherits from another call counts for nothing.
_time: ContextVar[CallTime | None] = ContextVar("sayso_call_time", default=None)


@contextmanager
def counting(time: CallTime | None) -> Iterator[None]:
    """The block is part of a call with this time; None for a call without a limit of its own."""
    token = _time.set(time)
    try:
        yield
    finally:
        _time.reset(token)


async def in_time(
    work: Coroutine[Any, Any, _T], time: CallTime, late: Callable[[], _Late]
) -> _T | _Late:
    """What comes of a part of a call with this time, or what is said when the time is over."""
    limit = asyncio.timeout_at(time.ends_at + GRACE_SECONDS)
    try:
        async with limit:
            with counting(time):
                return await work
    except TimeoutError:
        if not limit.expired():
            raise
        return late()


class Patience:
    """Tries what needs the store again while it is away: for so many seconds at most.

    It never goes on when the time of the call is over, however long an attempt hangs.
    """

    def __init__(self, seconds: float, troubles: Troubles) -> None:
        self._seconds = seconds
        self._troubles = troubles

    async def __call__(
        self,
        attempt: Callable[[], Awaitable[_T]],
        *,
        failed: str = NOTHING_APPROVED,
        until: float | None = None,
    ) -> _T:
        """What an attempt brings; ``until`` is a moment of the event loop's clock.

        Raises:
            StoreUnreachableError: none brought anything; the message says ``failed`` and why.
        """
        began = running_loop().time()
        ends_at = min(began + self._seconds, _last_moment(began) if until is None else until)
        said = ""
        limit = asyncio.timeout_at(ends_at)
        try:
            async with limit:
                while True:
                    try:
                        result = await attempt()
                    except StoreUnreachableError as error:
                        if error.lost_request_id:
                            raise
                        said = str(error)
                        self._troubles.tell(CANNOT_ASK, error)
                        await asyncio.sleep(_RETRY_SECONDS)
                    else:
                        self._troubles.over(CANNOT_ASK)
                        return result
        except TimeoutError:
            if not limit.expired():
                raise
            why = said or self._troubles.latest or "the store did not answer"
            waited = max(ends_at - began, 0.0)
            raise StoreUnreachableError(f"{why}; {failed} (tried for {waited:.3g} s)") from None


def _last_moment(now: float) -> float:
    time = _time.get()
    return float("inf") if time is None else max(time.ends_at, now + GRACE_SECONDS)


class RuleMemory(Protocol):
    """Rules of a session, as far as a decision needs them: see ``sayso.stores.protocols.Rules``."""

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run."""
        ...

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules, of all or of none."""
        ...


class SessionMemory(Protocol):
    """State of a session: see ``sayso.stores.session_state.SessionState``."""

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what may be had once."""
        ...

    async def recall(self, run: RunRef, name: str) -> str | None:
        """Return what the session keeps under a name."""
        ...

    async def swap(self, run: RunRef, name: str, before: str | None, after: str | None) -> bool:
        """Keep a text in the place of another one."""
        ...


class PatientMemory:
    """The memory of a store that may be away for a while.

    Where an answer was lost on the way, what may be had once counts as gone,
    and a use may be counted twice.
    """

    def __init__(self, memory: RuleMemory, state: SessionMemory, patience: Patience) -> None:
        self._memory = memory
        self._state = state
        self._patience = patience

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run."""
        return await self._patience(lambda: self._memory.book(run))

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what may be had once."""
        return await self._patience(lambda: self._state.spend(run, key))

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules, of all or of none."""
        return await self._patience(
            lambda: self._memory.use(run, *rule_ids, digest=digest, book=book)
        )

    async def recall(self, run: RunRef, name: str) -> str | None:
        """What the session keeps under a name."""
        return await self._patience(lambda: self._state.recall(run, name))

    async def swap(self, run: RunRef, name: str, before: str | None, after: str | None) -> bool:
        """Keep a text in the place of another one: tried once.

        Where the answer is lost, it may be there; to try again would take that for another's.
        """
        return await self._state.swap(run, name, before, after)
