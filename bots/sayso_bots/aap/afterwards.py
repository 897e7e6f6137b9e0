"""What is done once a request has ended: receivers are told, and cards say what was not used."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from sayso.errors import SaysoError, StoreUnreachableError, UnknownRequestError
from sayso.seldom import Seldom
from sayso.stores.backend import Backend
from sayso.stores.ports import Record
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.notifier import Notifier
from sayso_bots.aap.requests import APPROVED, QUEUE, Kept, kept_in, status_of

_log = logging.getLogger(__name__)

UNUSED = "aap-unused"
"""The errands of approvals that nobody has used yet."""

_AT_ONCE = 100
_HOLD_SECONDS = 30.0
_LOOK_SECONDS = 0.5
# An adapter's clock may be behind, and its last call under way.
_LATE = timedelta(seconds=5)

Sleep = Callable[[float], Awaitable[object]]


class Afterwards:
    """Takes the errands that the ends of requests leave, as long as the process serves."""

    def __init__(
        self,
        backend: Backend,
        instances: Instances,
        notifier: Notifier,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._backend = backend
        self._instances = instances
        self._notifier = notifier
        self._sleep = sleep
        self._troubles = Seldom(_log)

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                busy = await self.once()
            except StoreUnreachableError as error:
                self._troubles.say(f"what follows on decisions waits for the store: {error}")
                busy = False
            if not busy:
                await self._sleep(_LOOK_SECONDS)

    async def once(self) -> bool:
        """Do what is due; whether there may be more."""
        done = [
            await self._through(QUEUE, self._ended),
            await self._through(UNUSED, self._unused),
        ]
        return max(done) >= _AT_ONCE

    async def _through(self, queue: str, work: Callable[[Record, Kept], Awaitable[None]]) -> int:
        due = await self._backend.errands.take(queue, most=_AT_ONCE, hold=_HOLD_SECONDS)
        for request_id in due.names:
            try:
                record = await self._backend.store.get(request_id)
                kept = None if record is None else kept_in(record)
                if record is not None and kept is not None:
                    await work(record, kept)
            except StoreUnreachableError:
                raise
            except SaysoError as error:
                # It can never be done: nobody is to try again and again.
                _log.error("what follows on a decision is left out: %s", error)
            await self._backend.errands.done(queue, request_id)
        return len(due.names)

    async def _ended(self, record: Record, kept: Kept) -> None:
        instance = await self._instances.find(kept.instance_id)
        if instance is None or instance.deleted_at is not None or record.ended_at is None:
            return
        request_id = record.request.question_id
        if status_of(record) == APPROVED and instance.consumes:
            seconds = (kept.valid + _LATE).total_seconds()
            await self._backend.errands.put(UNUSED, request_id, seconds=seconds)
        await self._notifier.ended(instance, request_id, record.ended_at)

    async def _unused(self, record: Record, _: Kept) -> None:
        try:
            await self._backend.uses.lapse(record.request.question_id)
        except UnknownRequestError:
            return
