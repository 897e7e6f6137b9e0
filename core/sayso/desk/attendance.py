"""While a desk works, the store says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sayso.errors import StoreUnreachableError
from sayso.stores.ports import Roster
from sayso.tasks import Background

# A desk that dies without a word is gone after so long; one that lives says so in time.
STAYS_SECONDS = 10.0
_AGAIN_SECONDS = 3.0
_LEAVE_SECONDS = 1.0


@asynccontextmanager
async def attending(
    roster: Roster, desk: str, *, again_after: float = _AGAIN_SECONDS
) -> AsyncIterator[None]:
    """Let the roster hold the desk while the block runs; best effort, as it is for people only."""
    await _say(roster, desk)
    try:
        async with Background("staying on the roster").during(_stay(roster, desk, again_after)):
            yield
    finally:
        with suppress(StoreUnreachableError, TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await roster.leave(desk)


async def _stay(roster: Roster, desk: str, again_after: float) -> None:
    while True:
        await asyncio.sleep(again_after)
        await _say(roster, desk)


async def _say(roster: Roster, desk: str) -> None:
    # Whoever waits for the store logs that it is away.
    with suppress(StoreUnreachableError):
        await roster.join(desk, seconds=STAYS_SECONDS)
