"""Deadlines: until when a request is shown and waits, and what ends once its time is over."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from sayso.errors import StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.ports import Record, Watch

_log = logging.getLogger(__name__)

_SWEEP_SECONDS = 1.0
_SHORTEST_SECONDS = 0.05
# An undeliverable request ends this long before it would expire, or a tenth of its time.
_MARGIN_SECONDS = 1.0


class Deadlines:
    """Keeps the times of requests by the store's clock, not by the desk's."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._waits = Seldom(_log)

    async def shortened(self, record: Record, seconds: float | None) -> Record:
        """The request with at most so many seconds left from now on; None leaves it as it is.

        Raises:
            StoreUnreachableError: it was not shortened.
            RequestNotFoundError: no such request.
        """
        if seconds is None or record.seconds_left <= seconds:
            return record
        expires_at = await self._watch.shorten(record.request.question_id, seconds)
        request = record.request.model_copy(update={"expires_at": expires_at})
        return replace(record, request=request, seconds_left=seconds)

    async def sweep(self) -> None:
        """End requests whose time is over, until cancelled."""
        while True:
            seconds = None
            try:
                seconds = await self._watch.expire()
            except StoreUnreachableError as error:
                self._waits.say(f"expired requests are not ended yet: {error}")
            except Exception:
                _log.exception("expired requests are not ended yet")
            await asyncio.sleep(
                min(max(seconds or _SWEEP_SECONDS, _SHORTEST_SECONDS), _SWEEP_SECONDS)
            )


def shown_until(record: Record) -> float:
    """Until when of the event loop showing the request is tried: a little before it expires."""
    left = record.seconds_left
    return asyncio.get_running_loop().time() + left - min(_MARGIN_SECONDS, left / 10)
