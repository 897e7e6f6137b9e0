"""What comes in from a platform: no more than it may be, once, and to the desk in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable
from datetime import datetime
from enum import Enum
from typing import TypeVar

from sayso.errors import CallbackError, ReplayedCallbackError, StoreUnreachableError

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_MOST_REPLAYS = 65_536


async def bounded_body(
    chunks: AsyncIterable[bytes], *, most: int, declared: int | None = None
) -> bytes | None:
    """The whole body; None once it is over ``most`` bytes, or says so in its header.

    ``declared`` is its Content-Length. Nobody vouches for that: the chunks
    are counted whatever it says.
    """
    if declared is not None and declared > most:
        return None
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)


class Replays:
    """The callbacks of the last so many seconds, at most 65,536 of them.

    It knows one process only: the store is asked about presses as well.
    """

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, float] = {}

    def refuse(self, delivery: str, now: datetime) -> None:
        """Note the callback.

        Raises:
            ReplayedCallbackError: it was here before.
        """
        at = now.timestamp()
        self._forget(at)
        if delivery in self._seen:
            raise ReplayedCallbackError("callback refused: the very same one was here before")
        self._seen[delivery] = at

    def _forget(self, now: float) -> None:
        # In order of arrival: the oldest is first.
        while self._seen:
            oldest = next(iter(self._seen))
            if len(self._seen) < _MOST_REPLAYS and now - self._seen[oldest] <= self._seconds:
                return
            del self._seen[oldest]


class NotTaken(Enum):
    """Why the desk did not take something: nothing was stored, and it may come again."""

    UNREACHABLE = "the store was away, or it took too long"
    FAILED = "the desk failed"


async def handed(work: Awaitable[_Result], *, what: str, seconds: float) -> _Result | NotTaken:
    """What the desk says within so many seconds, or why it says nothing, which is logged.

    Raises:
        CallbackError: it is not to be acted on.
    """
    try:
        async with asyncio.timeout(seconds):
            return await work
    except CallbackError:
        raise
    except (StoreUnreachableError, TimeoutError) as error:
        _log.warning("%s was not taken: %s", what, str(error) or "the desk took too long")
        return NotTaken.UNREACHABLE
    except Exception:
        _log.exception("%s was not taken: the desk failed", what)
        return NotTaken.FAILED
