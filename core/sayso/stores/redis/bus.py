"""The doorbell: events over Redis pub/sub."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from sayso.errors import StoreUnreachableError, SubscriptionLostError, UnreadableEventError
from sayso.events import Event
from sayso.questions.wire import decode, encode
from sayso.stores.protocols import Ring
from sayso.stores.redis.connection import Client, Subscription
from sayso.stores.redis.records import read_ring
from sayso.stores.told import refuse_made_up

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

SILENCE_SECONDS = 5.0
"""After so much silence a listening connection proves that it hears."""

# Published only to be heard; it is no event. One proof serves all who listen on the channel.
_PROOF = b"proof"


class RedisBus:
    """Events between processes. Each subscription has a connection of its own.

    The connection is never opened again behind the subscriber's back: when it
    breaks, the subscription is lost. A subscriber that has heard nothing for
    ``silence`` seconds publishes to its own channel, the way everybody does:
    what does not come back within the URL's timeout proves it deaf, whatever
    the cause, and the subscription is lost too.
    """

    def __init__(self, client: Client, *, silence: float = SILENCE_SECONDS) -> None:
        self._client = client
        self._silence = silence

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now."""
        refuse_made_up(topic, event)
        channel = self._client.keys.channel(topic)
        try:
            await self._client.command("PUBLISH", channel, encode(event), repeatable=False)
        except StoreUnreachableError as error:
            text = f"{type(event).__name__} may not have been told: {error}"
            raise SubscriptionLostError(text) from error

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Event]]:
        """The events published while the block runs."""
        async with self.told(topic, decode) as events:
            yield events

    async def subscribers(self, topic: str) -> int:
        """Return the number of subscriptions of the topic at the server that this client asks."""
        channel = self._client.keys.channel(topic)
        return await self._client.command("PUBSUB", "NUMSUB", channel, read=_read_count)

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        """The endings that the inbox is told of while the block runs."""
        async with self.told(f"inbox:{inbox}", read_ring) as rings:
            yield rings

    @asynccontextmanager
    async def told(
        self, topic: str, read: Callable[[bytes], _T]
    ) -> AsyncIterator[AsyncIterator[_T]]:
        """What the scripts tell under a topic while the block runs, as it is read."""
        channel = self._client.keys.channel(topic)
        async with AsyncExitStack() as stack:
            try:
                subscription = await stack.enter_async_context(self._client.subscribe(channel))
            except StoreUnreachableError as error:
                raise SubscriptionLostError(str(error)) from error
            yield self._listen(subscription, channel, read)

    async def _listen(
        self, subscription: Subscription, channel: str, read: Callable[[bytes], _T]
    ) -> AsyncIterator[_T]:
        while True:
            try:
                data = await self._message(subscription, channel)
            except StoreUnreachableError as error:
                raise SubscriptionLostError(f"a subscription was interrupted: {error}") from error
            if data == _PROOF:
                continue
            try:
                event = read(data)
            except UnreadableEventError as error:
                # The error may quote the message, and the message is not ours to show.
                _log.warning("skipped a message that is not an event (%s)", type(error).__name__)
                continue
            yield event

    async def _message(self, subscription: Subscription, channel: str) -> bytes:
        # Not all at the same moment: those who listen on one channel share a proof.
        silence = self._silence * random.uniform(0.8, 1.2)  # noqa: S311  jitter
        message = await subscription.next(silence)
        if message is None:
            await self._prove(channel)
            message = await subscription.next(self._client.url.seconds)
        if message is None:
            raise SubscriptionLostError(
                f"a subscription is deaf: nothing that is published arrives from Redis at "
                f"{self._client.url.address}"
            )
        return message

    async def _prove(self, channel: str) -> None:
        try:
            await self._client.command("PUBLISH", channel, _PROOF)
        except StoreUnreachableError as error:
            raise SubscriptionLostError(f"a subscription cannot be relied on: {error}") from error


def _read_count(reply: list[Any]) -> int:
    _, count = reply
    return int(count)
