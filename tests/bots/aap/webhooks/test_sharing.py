"""Attempts at the same thing at once are one."""

from __future__ import annotations

import asyncio

import pytest

from sayso.stores.backend import Backend
from sayso_bots.aap.webhooks.sharing import Shared, SharedFailureError


class _NoError(Exception):
    pass


class _Attempts:
    """Attempts that last until they are let go."""

    def __init__(self, *failures: Exception) -> None:
        self.made = 0
        self.go_on = asyncio.Event()
        self.begun = asyncio.Event()
        self._failures = list(failures)

    async def __call__(self) -> None:
        self.made += 1
        self.begun.set()
        await self.go_on.wait()
        if self._failures:
            raise self._failures.pop(0)


def _shared(backend: Backend) -> Shared:
    return Shared(backend.documents, look_seconds=0.01)


async def _at_once(backend: Backend, attempt: _Attempts, number: int) -> list[object]:
    """Several processes attempt the same at once."""
    first = asyncio.create_task(_shared(backend).once("it", attempt, failures=(_NoError,)))
    await attempt.begun.wait()
    others = [
        asyncio.create_task(_shared(backend).once("it", attempt, failures=(_NoError,)))
        for _ in range(number - 1)
    ]
    await asyncio.sleep(0.05)
    attempt.go_on.set()
    return list(await asyncio.gather(first, *others, return_exceptions=True))


async def test_attempts_at_once_are_made_once_and_all_succeed(backend: Backend) -> None:
    attempt = _Attempts()

    assert await _at_once(backend, attempt, 5) == [None] * 5
    assert attempt.made == 1


async def test_all_hear_of_a_failure_and_why(backend: Backend) -> None:
    attempt = _Attempts(_NoError("it said no"))

    first, *others = await _at_once(backend, attempt, 4)

    assert isinstance(first, _NoError)
    assert [type(other) for other in others] == [SharedFailureError] * 3
    assert {str(other) for other in others} == {"it said no"}
    assert attempt.made == 1


async def test_a_later_attempt_is_one_of_its_own(backend: Backend) -> None:
    attempt = _Attempts(_NoError("it said no"))
    attempt.go_on.set()

    with pytest.raises(_NoError):
        await _shared(backend).once("it", attempt, failures=(_NoError,))
    await _shared(backend).once("it", attempt, failures=(_NoError,))

    assert attempt.made == 2


async def test_what_ends_otherwise_is_attempted_by_the_next(backend: Backend) -> None:
    attempt = _Attempts(ZeroDivisionError())

    first, second = await _at_once(backend, attempt, 2)

    assert isinstance(first, ZeroDivisionError)
    assert second is None
    assert attempt.made == 2


async def test_different_things_are_attempted_side_by_side(backend: Backend) -> None:
    one, other = _Attempts(), _Attempts()
    other.go_on.set()
    under_way = asyncio.create_task(_shared(backend).once("one", one, failures=(_NoError,)))
    await one.begun.wait()

    await _shared(backend).once("other", other, failures=(_NoError,))

    one.go_on.set()
    await under_way
    assert (one.made, other.made) == (1, 1)
