"""What is done once a request has ended: receivers are told, and cards say what was not used."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

from sayso.errors import RequestNotFoundError, StoreUnreachableError, UnreadableEventError
from sayso.seldom import Seldom
from sayso.stores.backend import Backend
from sayso.stores.ports import Record
from sayso.text.secrets import redacted_text
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.notifier import Notifier
from sayso_bots.aap.requests import APPROVED, QUEUE, Kept, decided_at, kept_in, status_of

_log = logging.getLogger(__name__)

UNUSED = "aap-unused"
"""The errands of approvals that nobody has used yet."""

_AT_ONCE = 100
_HOLD_SECONDS = 30.0
_LOOK_SECONDS = 0.5
_LONGEST_SECONDS = 3600.0
_SOON_ENOUGH = 12  # doublings, after which the longest wait is reached
# An adapter's clock may be behind, and its last call under way.
_LATE = timedelta(seconds=5)

Sleep = Callable[[float], Awaitable[object]]


class Afterwards:
    """Takes the errands that the ends of requests leave, as long as the process serves.

    What cannot be done, because another version wrote it or something is wrong
    with it, holds up nothing else. It is tried again, ever more seldom, until
    the store knows no more of it.
    """

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
        # What was taken and not looked at yet, and how often something could not be done.
        self._taken: defaultdict[str, deque[str]] = defaultdict(deque)
        self._tries: dict[str, int] = {}

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
        taken = self._taken[queue]
        if not taken:
            due = await self._backend.errands.take(queue, most=_AT_ONCE, hold=_HOLD_SECONDS)
            taken.extend(due.names)
        count = len(taken)
        while taken:
            # Where the store is away meanwhile, this one is the first when it is back.
            try:
                await self._one(queue, taken[0], work)
            except StoreUnreachableError as error:
                if not self._backend.cells:
                    raise
                # Only a cell of it is: others go on, and this one is due again by itself.
                self._troubles.say(f"what follows on a decision waits for the store: {error}")
            taken.popleft()
        return count

    async def _one(
        self, queue: str, request_id: str, work: Callable[[Record, Kept], Awaitable[None]]
    ) -> None:
        try:
            record = await self._backend.store.get(request_id)
            if record is not None:
                await work(record, _kept_in(record))
        except StoreUnreachableError:
            raise
        except Exception as error:
            await self._later(queue, request_id, error)
        else:
            # What is gone has had its week: nobody is to be told of it any more.
            self._tries.pop(request_id, None)
            await self._backend.errands.done(queue, request_id)

    async def _later(self, queue: str, request_id: str, error: Exception) -> None:
        """Leave what cannot be done here to another version of us, or to this one, later."""
        told = redacted_text(f"{type(error).__name__}: {error}")
        self._troubles.say(f"what follows on a decision is tried again later: {told}", request_id)
        self._tries[request_id] = tries = self._tries.get(request_id, 0) + 1
        seconds = min(_LONGEST_SECONDS, _HOLD_SECONDS * 2.0 ** min(tries - 1, _SOON_ENOUGH))
        await self._backend.errands.put(queue, request_id, seconds=seconds)

    async def _ended(self, record: Record, kept: Kept) -> None:
        instance = await self._instances.find(kept.instance_id)
        if instance is None or instance.deleted_at is not None:
            return
        request_id = record.request.question_id
        if status_of(record) == APPROVED and instance.consumes:
            seconds = (kept.valid + _LATE).total_seconds()
            await self._backend.errands.put(UNUSED, request_id, seconds=seconds)
        await self._notifier.ended(instance, request_id, decided_at(record))

    async def _unused(self, record: Record, _: Kept) -> None:
        try:
            await self._backend.uses.lapse(record.request.question_id)
        except RequestNotFoundError:
            return


def _kept_in(record: Record) -> Kept:
    kept = kept_in(record)
    if kept is None:
        raise UnreadableEventError("what is kept with a request is not as this version writes it")
    return kept
