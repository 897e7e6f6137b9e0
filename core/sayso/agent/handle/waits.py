"""Waiting for another thread: in any event loop without holding it up, or in none."""

from __future__ import annotations

import asyncio
import sys
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeAlias

from sayso.errors import GateClosedError

Wait: TypeAlias = Callable[["Future[Any]", float], Awaitable[None]]
"""Returns when the future is done, or so many seconds are over."""


async def in_its_loop(outcome: Future[Any], seconds: float) -> None:
    """Wait in the event loop of the caller, asyncio's or trio's, and let it do other things."""
    if _is_in_asyncio():
        await _in_asyncio(outcome, seconds)
    elif (trio := sys.modules.get("trio")) is not None and trio.lowlevel.in_trio_run():
        await _in_trio(trio, outcome, seconds)
    else:
        raise GateClosedError.for_wrong_loop(
            "a handle is awaited in an event loop of asyncio or trio: elsewhere, call its `sync`"
        )


async def in_this_thread(outcome: Future[Any], seconds: float) -> None:
    """Wait, and let the thread stand still."""
    wait([outcome], timeout=seconds)


def _is_in_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


async def _in_asyncio(outcome: Future[Any], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    # Not held from here: a caller whose loop was closed is collected, and gives up.
    caller = weakref.ref(done)

    def wake() -> None:
        if (waiting := caller()) is not None and not waiting.done():
            waiting.set_result(None)

    def told(_: Future[Any]) -> None:
        with suppress(RuntimeError):  # the caller's loop was closed while it waited
            loop.call_soon_threadsafe(wake)

    outcome.add_done_callback(told)
    await asyncio.wait([done], timeout=seconds)


async def _in_trio(trio: Any, outcome: Future[Any], seconds: float) -> None:
    token, done = trio.lowlevel.current_trio_token(), trio.Event()

    def told(_: Future[Any]) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(done.set)

    outcome.add_done_callback(told)
    with trio.move_on_after(seconds):
        await done.wait()
