"""Handing what came from a platform to the desk: in time, and without an error nobody foresaw."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from enum import Enum
from typing import TypeVar

from sayso.errors import CallbackError, StoreUnreachableError

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")


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
