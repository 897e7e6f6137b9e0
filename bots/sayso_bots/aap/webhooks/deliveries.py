"""Deliveries: every end of a request is told to its receiver, at least once, or given up."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from sayso.clock import Clock, utc_now
from sayso.errors import StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.ports import Errands, Watch
from sayso.tasks import Background
from sayso_bots.aap.webhooks.notification import Notification
from sayso_bots.aap.webhooks.pace import GIVEN_UP_AFTER, KNOWN_AFTER, seconds_until_next
from sayso_bots.aap.webhooks.progress import Progress, Progresses
from sayso_bots.aap.webhooks.receiver import Receiver
from sayso_bots.aap.webhooks.room import CrowdedError, Room
from sayso_bots.aap.webhooks.sending import NotPublicError, Sender, UnreachedError

_log = logging.getLogger(__name__)

_QUEUE = "aap-notifications"
# A try takes ten seconds at most: nobody else takes what is under way.
_HOLD_SECONDS = 30.0
_LOOK_SECONDS, _CROWDED_SECONDS = 1.0, 1.5
_UNREADABLE_SECONDS = 60.0
_LATE_AT_ONCE = 100
_PATIENCE_SECONDS = 1.0


class Receivers(Protocol):
    """Who is to be told, as it stands now."""

    async def receiver(self, told: Notification) -> Receiver | None:
        """The receiver of a notification; None where nobody wants it, or not any more.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        ...


class Deliveries:
    """Takes notifications as they come due, and tries each once; any number of processes may."""

    def __init__(
        self,
        receivers: Receivers,
        errands: Errands,
        watch: Watch,
        progresses: Progresses,
        sender: Sender,
        room: Room,
        *,
        clock: Clock = utc_now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._receivers = receivers
        self._errands = errands
        self._watch = watch
        self._progresses = progresses
        self._sender = sender
        self._room = room
        self._clock = clock
        self._jitter = jitter
        self._wake = asyncio.Event()
        self._seldom = Seldom(_log)

    async def add(self, told: Notification) -> None:
        """Let it be delivered. Once more changes nothing: one that was delivered is not again.

        Raises:
            StoreUnreachableError: it may have been added or not.
        """
        await self._errands.put(_QUEUE, told.name)
        self.look()

    def look(self) -> None:
        """Look at once: something may have come due."""
        self._wake.set()

    async def receiver_changed(self, instance_id: str) -> None:
        """Let all that waits for the receiver of this instance be tried now.

        What is under way does not wait, and is not tried twice at once.

        Raises:
            StoreUnreachableError: some of it may wait longer; once more wakes the rest.
        """
        late = _late(instance_id)
        while names := (await self._errands.take(late, most=_LATE_AT_ONCE, hold=0.0)).names:
            await asyncio.gather(*(self._errands.put(_QUEUE, name) for name in names))
            await asyncio.gather(*(self._errands.done(late, name) for name in names))
            self.look()

    async def run(self) -> None:
        """Deliver until cancelled. What is under way then is tried again by whoever is there."""
        tries = Background("deliveries", patience=_PATIENCE_SECONDS)
        try:
            while True:
                self._wake.clear()
                wait = await self._begun(tries)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
        finally:
            await tries.finish()

    async def _begun(self, tries: Background) -> float:
        """Begin a try for each that is due; in how many seconds to look again."""
        most = self._room.most - len(tries)
        if most <= 0:
            return _LOOK_SECONDS
        try:
            due = await self._errands.take(_QUEUE, most=most, hold=_HOLD_SECONDS)
        except StoreUnreachableError as error:
            self._seldom.say(f"notifications wait for the store: {error}")
            return _LOOK_SECONDS
        for name in due.names:
            # What waits for a place is taken as soon as there is one.
            tries.start(self._try(name)).add_done_callback(lambda _: self.look())
        return _LOOK_SECONDS if due.next_in is None else min(_LOOK_SECONDS, due.next_in)

    async def _try(self, name: str) -> None:
        try:
            told = Notification.parse(name)
            receiver = await self._receivers.receiver(told)
            if receiver is None:
                await self._done(told)
            else:
                await self._tell(told, receiver)
        except StoreUnreachableError as error:
            # It is due again by itself.
            self._seldom.say(f"a notification waits for the store: {error}")
        except asyncio.CancelledError:
            with suppress(StoreUnreachableError):
                await self._errands.put(_QUEUE, name)
            raise
        except Exception as error:
            # Of another version of ours, or wrong: it holds up nothing else.
            self._seldom.say(f"a notification cannot be sent for now: {type(error).__name__}", name)
            with suppress(StoreUnreachableError):
                await self._errands.put(_QUEUE, name, seconds=_UNREADABLE_SECONDS)

    async def _tell(self, told: Notification, receiver: Receiver) -> None:
        progress = await self._progresses.find(told.event_id, receiver)
        left = (told.at + GIVEN_UP_AFTER - self._clock()).total_seconds()
        if progress.is_over:
            await self._done(told)
        elif left <= 0:
            _log.warning("a notification to %s is given up, after a week", receiver.host)
            await self._over(told, receiver, progress)
        else:
            await self._tried(told, receiver, progress, left)

    async def _tried(
        self, told: Notification, receiver: Receiver, progress: Progress, left: float
    ) -> None:
        late = _late(told.instance_id)
        try:
            with self._room.taken(receiver.host):
                # While it is under way it does not wait for another receiver.
                await self._errands.done(late, told.name)
                why, retry_after = await self._sent(told, receiver)
        except CrowdedError:
            # This was no try: what goes to other hosts comes first.
            wait = _CROWDED_SECONDS * (0.5 + self._jitter())
            await self._errands.put(_QUEUE, told.name, seconds=wait)
            return
        if not why:
            await self._over(told, receiver, progress)
            return
        self._seldom.say(f"a notification to {receiver.host} was not taken: {why}")
        await self._progresses.failed(told.event_id, receiver, progress)
        wait = min(left, seconds_until_next(progress.tries + 1, retry_after, self._jitter))
        await self._errands.put(_QUEUE, told.name, seconds=wait)
        await self._errands.put(late, told.name)
        if await self._receivers.receiver(told) != receiver:
            # It was replaced meanwhile, and the new one gets what waits.
            await self._errands.done(late, told.name)
            await self._errands.put(_QUEUE, told.name)

    async def _sent(self, told: Notification, receiver: Receiver) -> tuple[str, float | None]:
        """Why a try was in vain, and when the receiver wants the next one; '' where it was not."""
        try:
            reply = await self._sender.send(receiver, told.event_id, told.body)
        except (NotPublicError, UnreachedError) as error:
            return str(error), None
        return "" if reply.is_success else f"it answered {reply.status}", reply.retry_after

    async def _over(self, told: Notification, receiver: Receiver, progress: Progress) -> None:
        await self._progresses.over(told.event_id, receiver, progress)
        await self._done(told)

    async def _done(self, told: Notification) -> None:
        # Who is told late, or never, can still look.
        await self._watch.retain(told.request_id, seconds=KNOWN_AFTER.total_seconds())
        await self._errands.done(_late(told.instance_id), told.name)
        await self._errands.done(_QUEUE, told.name)


def _late(instance_id: str) -> str:
    """The queue of what an instance's receiver did not take; nobody ever holds any of it."""
    return f"aap-late:{instance_id}"
