"""Commands to the store: those that come together share a round trip."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files
from itertools import count
from typing import Any

from sayso.errors import OtherCellsError, StoreUnreachableError
from sayso.stores.home import Home
from sayso.stores.redis.link import IS_CELL, LINK_ERRORS, Link, explain, is_elsewhere
from sayso.stores.redis.own_time import OwnTime
from sayso.stores.redis.url import StoreUrl
from sayso.stores.redis.wire import ConnectionLostError, RedisError, ReplyError, packed

_AT_ONCE = 1_000
MOST_ORDERS = 100_000
MOST_BYTES = 128 * 1024 * 1024
_CLOSING_SECONDS = 0.5

Argument = bytes | str | int


class Script:
    """A Lua script of this package, with the common functions before it."""

    def __init__(self, name: str) -> None:
        folder = files("sayso.stores.redis") / "scripts"
        parts = [(folder / file).read_text("utf-8") for file in ("common.lua", f"{name}.lua")]
        self.text = "\n".join(parts)
        # Redis names scripts by SHA-1; nothing is secured by it.
        self.sha = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


@dataclass(eq=False, slots=True)
class _Order:
    command: bytes
    repeatable: bool
    reply: asyncio.Future[Any]
    attempts: int = 0

    @property
    def may_repeat(self) -> bool:
        return self.repeatable and self.attempts == 1


class Client:
    """Runs commands and scripts over one connection.

    Whatever is asked in one turn of the event loop, or while a round trip is
    under way, goes out together. A round trip ends within the URL's timeout,
    so a call ends within twice that time; while something else holds up our
    event loop, no time is counted. A command is sent again once when
    the connection breaks, unless it may not be repeated. What nobody waits for
    any more is not sent. At most ``most`` commands wait for their turn, and at
    most so many bytes of them.
    """

    def __init__(
        self, url: StoreUrl, *, most: int = MOST_ORDERS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.url = url
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self.keys = url.keys
        prefix = self.keys.prefix
        # A store of its own says so by saying it twice, see common.lua.
        self._script_keys: tuple[Argument, ...] = (1, prefix) if url.cell else (2, prefix, prefix)
        self.home = Home()
        self._link = Link(url)
        self._orders: deque[_Order] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._own = secrets.token_urlsafe(9)
        self._numbers = count(1)

    def token(self) -> str:
        """A name for one call, so that its repetition is known as such."""
        return f"{self._own}{next(self._numbers)}"

    async def run(self, script: Script, *arguments: Argument) -> Any:
        """The result of a script; its first key is the prefix of all keys.

        Raises:
            OtherCellsError: the store is a cell of several, and was opened as one of its own.
            StoreUnreachableError: no answer, an error, or too much waits already.
        """
        keys = self._script_keys
        try:
            try:
                return await self._reply(("EVALSHA", script.sha, *keys, *arguments))
            except ReplyError as error:
                if error.code != "NOSCRIPT":
                    raise
                return await self._reply(("EVAL", script.text, *keys, *arguments))
        except LINK_ERRORS as error:
            raise self._unusable(error) from error

    async def command(self, *arguments: Argument, repeatable: bool = True) -> Any:
        """The reply to one command.

        Raises:
            StoreUnreachableError: no answer, an error, or too much waits already.
        """
        try:
            return await self._reply(arguments, repeatable=repeatable)
        except LINK_ERRORS as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StoreUnreachableError:
        is_cell = isinstance(error, ReplyError) and error.code == IS_CELL
        said = (OtherCellsError if is_cell else StoreUnreachableError)(explain(self.url, error))
        said.cell = self.url.cell
        return said

    async def aclose(self) -> None:
        """Wait a moment for what is under way, then close the connection."""
        if (sending := self._sending) is not None:
            await asyncio.wait({sending}, timeout=_CLOSING_SECONDS)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        self._link.drop()

    async def _reply(self, arguments: tuple[Argument, ...], *, repeatable: bool = True) -> Any:
        self.home.check()
        loop = asyncio.get_running_loop()
        order = _Order(packed(arguments), repeatable, loop.create_future())
        self._line_up(order)
        if self._sending is None:
            self._sending = loop.create_task(self._send())
        return await order.reply

    def _line_up(self, order: _Order) -> None:
        is_full = self._bytes + len(order.command) > self._most_bytes
        if len(self._orders) >= self._most or (self._orders and is_full):
            raise StoreUnreachableError(
                f"{len(self._orders)} commands wait for Redis at {self.url.address} already, which "
                "is as much as this process holds: ask less at once"
            )
        self._orders.append(order)
        self._bytes += len(order.command)

    def _taken(self) -> _Order:
        order = self._orders.popleft()
        self._bytes -= len(order.command)
        return order

    def _next_batch(self) -> list[_Order]:
        batch: list[_Order] = []
        while self._orders and len(batch) < _AT_ONCE:
            order = self._taken()
            if not order.reply.done():
                batch.append(order)
        return batch

    async def _send(self) -> None:
        try:
            while self._orders:
                batch = self._next_batch()
                behind = len(self._orders)
                try:
                    async with OwnTime(self.url.seconds):
                        await self._answer(batch)
                except TimeoutError as error:
                    self._link.drop()
                    # Those behind have waited as long: they do not wait for their turn, too.
                    _fail(batch + [self._taken() for _ in range(behind)], error)
                except LINK_ERRORS as error:
                    self._link.drop()
                    _fail(batch, error)
                except Exception as error:
                    # Unforeseen; the callers must hear of it as of any other failure.
                    self._link.drop()
                    _fail(batch, RedisError(type(error).__name__))
                except asyncio.CancelledError:
                    for order in (*batch, *self._orders):
                        order.reply.cancel()
                    raise
        finally:
            self._sending = None

    async def _answer(self, batch: list[_Order]) -> None:
        while batch:
            for order in batch:
                order.attempts += 1
            try:
                replies = await self._link.ask([order.command for order in batch])
            except ConnectionLostError as error:
                self._link.drop()
                _fail([order for order in batch if not order.may_repeat], error)
                batch = [order for order in batch if order.may_repeat]
                continue
            again = []
            for order, reply in zip(batch, replies, strict=True):
                if is_elsewhere(reply) and order.attempts == 1:
                    again.append(order)
                elif order.reply.done():
                    pass
                elif isinstance(reply, Exception):
                    order.reply.set_exception(reply)
                else:
                    order.reply.set_result(reply)
            if again:
                self._link.drop()
            batch = again


def _fail(orders: list[_Order], error: Exception) -> None:
    for order in orders:
        if not order.reply.done():
            order.reply.set_exception(error)
