"""A question that nobody can see, since no bots run, says so while it waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sayso.errors import SaysoError
from sayso.stores.backend import Backend
from sayso.tasks import Background

Say = Callable[[str], None]
"""Tells whoever reads stderr, while the answer is waited for."""

# What a policy decides has ended by then, and nobody had to see it.
_SOON_SECONDS = 1.0
_AGAIN_SECONDS = 5.0


@asynccontextmanager
async def watched(backend: Backend, say: Say) -> AsyncIterator[None]:
    """Say once that no bots run, where that is so while the block runs."""
    looking = Background("looking whether bots run")
    async with looking.during(_look(backend, say)):
        yield


async def _look(backend: Backend, say: Say) -> None:
    seconds = _SOON_SECONDS
    while True:
        await asyncio.sleep(seconds)
        if await is_unseen(backend):
            return say(
                "Sayso: no bots are running on this store, so nobody can see this question; "
                "`sayso serve` starts them"
            )
        seconds = _AGAIN_SECONDS


async def is_unseen(backend: Backend) -> bool:
    """Whether nobody can see a question, as far as the store says."""
    try:
        return await backend.outbox.count_workers() == 0
    except SaysoError:
        return False
