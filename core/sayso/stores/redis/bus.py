"""The doorbell: events over Redis pub/sub."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from redis.asyncio.connection import AbstractConnection

from sayso.errors import BusLostError, StoreUnreachableError, UnreadableEventError
from sayso.events import Event
from sayso.questions.wire import decode, encode
from sayso.stores.ports import Ring
from sayso.stores.redis.client import Client
from sayso.stores.redis.link import LINK_ERRORS, Link, explain, packed
from sayso.stores.redis.records import read_ring

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# A connection can be dead without a word: after this much silence the server is asked for a sign.
SILENCE_SECONDS = 15.0


class RedisBus:
    """Events between processes. Each subscription has a connection of its own.

    The connection is never opened again behind the subscriber's back: when it
    breaks, or when the server gives no sign of life for ``silence`` seconds
    and the URL's timeout, the subscription is lost.
    """

    def __init__(self, client: Client, *, silence: float = SILENCE_SECONDS) -> None:
        self._client = client
        self._url = client.url
        self._silence = silence

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now."""
        channel = self._client.keys.channel(topic)
        try:
            await self._client.command("PUBLISH", channel, encode(event), repeatable=False)
        except StoreUnreachableError as error:
            raise BusLostError(f"{type(event).__name__} may not have been told: {error}") from error

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Event]]:
        """The events published while the block runs."""
        async with self._messages(topic, decode) as events:
            yield events

    @asynccontextmanager
    async def rings(self, inbox: str) -> AsyncIterator[AsyncIterator[Ring]]:
        """The endings that the inbox is told of while the block runs."""
        async with self._messages(f"inbox:{inbox}", read_ring) as rings:
            yield rings

    @asynccontextmanager
    async def _messages(
        self, topic: str, read: Callable[[bytes], _T]
    ) -> AsyncIterator[AsyncIterator[_T]]:
        link = Link(self._url)
        try:
            try:
                async with asyncio.timeout(self._url.seconds):
                    # Redis confirms a subscription; events published from then on come.
                    command = packed(("SUBSCRIBE", self._client.keys.channel(topic)))
                    _raise_error((await link.ask([command]))[0])
                    connection = await link.connected()
            except LINK_ERRORS as error:
                raise BusLostError(f"cannot listen: {explain(self._url, error)}") from error
            yield self._listen(connection, read)
        finally:
            await link.drop()

    async def _listen(
        self, connection: AbstractConnection, read: Callable[[bytes], _T]
    ) -> AsyncIterator[_T]:
        try:
            while True:
                message = await self._message(connection)
                if message[0] != b"message":
                    continue
                try:
                    event = read(message[2])
                except UnreadableEventError as error:
                    # The error may quote the message, and the message is not ours to show.
                    _log.warning(
                        "skipped a message that is not an event (%s)", type(error).__name__
                    )
                    continue
                yield event
        except LINK_ERRORS as error:
            text = f"a subscription was interrupted: {explain(self._url, error)}"
            raise BusLostError(text) from error

    async def _message(self, connection: AbstractConnection) -> list[bytes]:
        message: list[bytes] | None = await connection.read_response(
            timeout=self._silence, disconnect_on_error=False
        )
        if message is None:
            await connection.send_packed_command(packed(("PING",)), check_health=False)
            message = await connection.read_response(
                timeout=self._url.seconds, disconnect_on_error=False
            )
        if message is None:
            raise TimeoutError
        return message


def _raise_error(reply: object) -> None:
    if isinstance(reply, Exception):
        raise reply
