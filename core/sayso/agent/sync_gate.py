"""Block a thread on the async methods of a gate."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeVar

from sayso.errors import GateClosedError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Block(Protocol):
    """Turns an async method into one that blocks its thread until it returns."""

    def __call__(self, method: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
        """Return the blocking method."""
        ...


def block_without_loop(method: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
    """Block on a method that waits by blocking, so that it never suspends."""

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            method(*args, **kwargs).send(None)
        except StopIteration as done:
            result: _T = done.value
            return result
        raise AssertionError("internal error: a sync method awaited something")

    return call


class BlockOnLoop:
    """Blocks a thread on methods that run in the event loop of another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop

    def __call__(self, method: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
        """Return the method for any thread but the loop's own."""

        @functools.wraps(method)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            if self._loop is None or asyncio._get_running_loop() is self._loop:  # noqa: SLF001
                raise GateClosedError.for_wrong_loop(
                    "this is the gate's own event loop: what blocks it would wait for itself; "
                    "await the gate's method of this name instead of its `sync`"
                )
            future = asyncio.run_coroutine_threadsafe(method(*args, **kwargs), self._loop)
            try:
                return future.result()
            finally:
                future.cancel()

        return call
