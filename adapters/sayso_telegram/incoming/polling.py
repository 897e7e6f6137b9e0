"""Long polling: one process at a time fetches a bot's updates."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.protocols import KeyValueStore
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.incoming.intake import Intake, Taken, Toast, update_id

_log = logging.getLogger(__name__)

_POLL_SECONDS = 25
_LEASE_SECONDS = 30.0
_RENEW_SECONDS = 10.0
_WAIT_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 30.0
# A lease cannot be given back: it is kept for one more second instead.
_LAST_LEASE_SECONDS = 1.0


class Poller:
    """Fetches updates while it holds the bot's lease.

    An update is confirmed to Telegram, by asking for the one after it, only
    when it was stored: what a process took along when it died comes again.
    """

    def __init__(
        self,
        adapter: TelegramAdapter,
        intake: Intake,
        key_value: KeyValueStore,
        *,
        lease: str,
        owner: str,
        tell: Callable[[Toast], None],
        pause: Callable[[float], Awaitable[object]],
        renew_after: float = _RENEW_SECONDS,
    ) -> None:
        self._adapter = adapter
        self._intake = intake
        self._key_value = key_value
        self._lease = lease
        self._owner = owner
        self._tell = tell
        self._pause = pause
        self._renew_after = renew_after
        self._offset = 0
        self._away = Seldom(_log)

    async def run(self) -> None:
        """Fetch updates until cancelled, whenever nobody else does."""
        while True:
            if await self._holds(_LEASE_SECONDS):
                _log.info("polling Telegram for updates")
                await self._while_held()
                _log.warning("no longer polling Telegram: the lease is lost")
            await self._pause(_WAIT_SECONDS)

    async def _while_held(self) -> None:
        polling = asyncio.create_task(self._poll())
        try:
            while not polling.done():
                await asyncio.wait({polling}, timeout=self._renew_after)
                if not await self._holds(_LEASE_SECONDS):
                    return
            polling.result()
        finally:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
            await self._holds(_LAST_LEASE_SECONDS)

    async def _holds(self, seconds: float) -> bool:
        """Whether the lease is ours; not while the store is away: nothing could be stored."""
        try:
            return await self._key_value.acquire_lease(self._lease, self._owner, seconds=seconds)
        except StoreUnreachableError as error:
            self._away.say(f"polling waits for the store: {error}")
            return False

    async def _poll(self) -> None:
        failures = 0
        while True:
            try:
                updates = await self._adapter.updates(self._offset, _POLL_SECONDS)
            except DeliveryError as error:
                failures += 1
                _log.warning("updates cannot be fetched: %s", error.reason)
                pause = min(2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS)
                await self._pause(error.retry_after or pause)
                continue
            if failures:
                _log.info("updates are fetched again, after %d failed attempts", failures)
            failures = 0
            if not await self._took(updates):
                await self._pause(_WAIT_SECONDS)

    async def _took(self, updates: Sequence[Any]) -> bool:
        """Hand in the updates; whether all of them were stored and will not come again."""
        taken = await asyncio.gather(*(self._intake.take(update) for update in updates))
        for one in taken:
            if one.toast is not None:
                self._tell(one.toast)
        before, self._offset = self._offset, next_offset(updates, taken, self._offset)
        return not updates or (all(one.stored for one in taken) and self._offset != before)


def next_offset(updates: Sequence[Any], taken: Sequence[Taken], offset: int) -> int:
    """One more than the last update before the first that is not stored.

    After an empty answer everything is confirmed, and no number is kept:
    when a week was quiet, Telegram counts on from anywhere.
    """
    if not updates:
        return 0
    for update, one in zip(updates, taken, strict=True):
        if not one.stored:
            break
        offset = max(offset, (update_id(update) or 0) + 1)
    return offset
