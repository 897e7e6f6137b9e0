"""While a desk works, the store says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sayso.errors import StoreUnreachableError
from sayso.stores.ports import OpenLimits, Roster
from sayso.tasks import Background

# A desk that dies without a word is gone after so long; one that lives says so in time.
STAYS_SECONDS = 10.0
_AGAIN_SECONDS = 3.0
_LEAVE_SECONDS = 1.0


@asynccontextmanager
async def attending(
    roster: Roster,
    desk: str,
    *,
    limits: OpenLimits | None = None,
    again_after: float = _AGAIN_SECONDS,
) -> AsyncIterator[None]:
    """Let the roster hold the desk and keep its limits while the block runs; best effort."""

    async def stay() -> None:
        while True:
            await asyncio.sleep(again_after)
            await _join(roster, desk, limits)

    await _join(roster, desk, limits)
    try:
        async with Background("staying on the roster").during(stay()):
            yield
    finally:
        with suppress(StoreUnreachableError, TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await roster.leave(desk)


async def _join(roster: Roster, desk: str, limits: OpenLimits | None) -> None:
    # Whoever waits for the store logs that it is away.
    with suppress(StoreUnreachableError):
        await roster.join(desk, seconds=STAYS_SECONDS, limits=limits)
