"""Questions that nobody answers: their time is over once they are asked, however fast that is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from sayso.stores.backend import Backend
from sayso.testing import until

_T = TypeVar("_T")


async def expire_now(backend: Backend) -> None:
    """Let the time of all open questions be over."""
    for record in await backend.store.list_requests():
        await backend.store.shorten_deadline(record.request.question_id, 0)
    await backend.store.expire_due()


async def unanswered(backend: Backend, asking: Awaitable[_T]) -> _T:
    """What comes of a check whose question nobody answers; of one that asks nothing at once."""
    checking = asyncio.ensure_future(asking)

    async def has_asked() -> bool:
        return checking.done() or bool(await backend.store.list_requests())

    await until(has_asked)
    await expire_now(backend)
    return await checking
