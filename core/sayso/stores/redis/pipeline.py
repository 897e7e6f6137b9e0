"""Commands on their way: none waits for the reply to another."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any

from sayso.errors import StoreUnreachableError
from sayso.stores.redis.link import LINK_ERRORS, Link, is_elsewhere
from sayso.stores.redis.own_time import OwnTime
from sayso.stores.redis.url import StoreUrl
from sayso.stores.redis.wire import Connection, ConnectionLostError, RedisError

# What is under way at most; the rest waits here, where its number is bounded.
_AT_ONCE = 1_000
_BYTES_AT_ONCE = 1024 * 1024
# The time that a reply may take is counted in so many parts, all replies by one timer.
_PARTS = 16
_NOT_YET = -1
# After so many that went out one by one, nobody waits for others that might come, too.
_OFTEN_ALONE = 8


@dataclass(eq=False, slots=True)
class _Order:
    command: bytes
    repeatable: bool
    reply: asyncio.Future[Any]
    # When it was asked, and when we first sent it or connected for it, by the pipeline's clock.
    lined_up: int
    taken_up: int = _NOT_YET
    attempts: int = 0


class Pipeline:
    """Sends commands over one connection, and gives each its reply.

    Whatever is asked in one turn of the event loop and in the next goes out in one
    write, whether or not replies to others are still to come; where commands went out
    alone for a while, each goes out at once. A reply is waited for within the URL's
    timeout. What waits behind others has its turn as long as the server goes on
    answering, and waits for no longer than that time after its last answer. While
    something else holds up our event loop, no time is counted. A command is sent
    again once when the connection breaks, or is given up for another command's
    sake, unless it may not be repeated. What nobody waits for any more is not
    sent. At most ``most`` commands wait before they are sent, and at most so many
    bytes of them.
    """

    def __init__(self, url: StoreUrl, *, most: int, most_bytes: int) -> None:
        self._url = url
        self._most = most
        self._most_bytes = most_bytes
        self._link = Link(url)
        self._line: deque[_Order] = deque()
        self._line_bytes = 0
        self._under_way: deque[_Order] = deque()
        self._under_way_bytes = 0
        # Nothing was done about these: another server is to be asked, once the others are answered.
        self._elsewhere: list[_Order] = []
        self._will_go_on = False
        self._alone = 0
        self._is_closing = False
        self._connecting: asyncio.Task[None] | None = None
        self._clock = 0
        self._answered = 0
        self._timer: asyncio.TimerHandle | None = None

    def send(self, command: bytes, *, repeatable: bool) -> asyncio.Future[Any]:
        """What will be the reply to a packed command, or one of LINK_ERRORS.

        Raises:
            StoreUnreachableError: too much waits already.
        """
        loop = asyncio.get_running_loop()
        is_full = self._line_bytes + len(command) > self._most_bytes
        if len(self._line) >= self._most or (self._line and is_full):
            raise StoreUnreachableError(
                f"{len(self._line)} commands wait for Redis at {self._url.address} already, which "
                "is as much as this process holds: ask less at once"
            )
        order = _Order(command, repeatable, loop.create_future(), self._clock)
        # What may not be repeated waits all the same, and a connection that the server has closed
        # is noticed meanwhile.
        if repeatable and self._alone >= _OFTEN_ALONE and (idle := self._idle()) is not None:
            self._begin(order)
            idle.send([command])
            self._watch()
        else:
            self._line.append(order)
            self._line_bytes += len(command)
            self._go_on_soon(loop)
        return order.reply

    async def aclose(self, seconds: float) -> None:
        """Wait so long for what has no reply yet, then close the connection and cancel the rest."""
        open_ = {order.reply for order in (*self._elsewhere, *self._under_way, *self._line)}
        try:
            if open_:
                await asyncio.wait(open_, timeout=seconds)
        finally:
            await self._close()

    def took(self, reply: Any) -> None:
        """Give the oldest command under way its reply, as the connection hands it over."""
        if not self._under_way:
            # Nobody asked, and yet something came: what follows would answer the wrong command.
            self._link.drop()
            return
        order = self._under_way.popleft()
        self._under_way_bytes -= len(order.command)
        self._answered = self._clock
        if is_elsewhere(reply) and order.attempts == 1:
            order.repeatable = True
            self._elsewhere.append(order)
        elif order.reply.done():
            pass
        elif isinstance(reply, Exception):
            order.reply.set_exception(reply)
        else:
            order.reply.set_result(reply)
        if self._line or self._elsewhere:
            self._go_on_soon(asyncio.get_running_loop())

    def lost(self, error: Exception) -> None:
        """Ask once more what may be repeated: nobody knows what of it was carried out."""
        self._link.drop()
        self._ask_again(error)

    def _idle(self) -> Connection | None:
        """The connection, where it stands and nothing is under way or about to be."""
        is_busy = self._under_way or self._line or self._will_go_on
        return None if is_busy else self._link.standing()

    def _go_on_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._will_go_on:
            self._will_go_on = True
            # Whoever was woken together with this one asks in the next turn.
            loop.call_soon(loop.call_soon, self._go_on)

    def _go_on(self) -> None:
        """Send what waits, over the connection that stands or over a new one."""
        self._will_go_on = False
        if self._is_closing or self._connects() is not None:
            return
        if self._elsewhere:
            if self._under_way:
                return
            self._link.drop()
            self._line_up_first(self._taken_back())
        while self._line and self._line[0].reply.done():
            self._next()
        if not self._line:
            return
        connection = self._link.standing()
        if connection is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        else:
            self._send_over(connection)
        self._watch()

    def _send_over(self, connection: Connection) -> None:
        commands: list[bytes] = []
        alone = not self._under_way
        while (
            self._line
            and len(self._under_way) < _AT_ONCE
            and self._under_way_bytes < _BYTES_AT_ONCE
        ):
            order = self._next()
            if order.reply.done():
                continue
            self._begin(order)
            commands.append(order.command)
        self._alone = self._alone + 1 if alone and len(commands) == 1 else 0
        if commands:
            connection.send(commands)

    def _begin(self, order: _Order) -> None:
        """It is under way, as soon as its command is sent."""
        order.attempts += 1
        self._take_up(order)
        self._under_way.append(order)
        self._under_way_bytes += len(order.command)

    async def _connect(self) -> None:
        """Connect, for those that wait now; they fail together."""
        waiting = [*self._line]
        for order in waiting:
            self._take_up(order)
        try:
            async with OwnTime(self._url.seconds):
                (await self._new_connection()).answers(self)
        except LINK_ERRORS as error:
            self._fail_to_connect(waiting, error)
        except Exception as error:
            # Unforeseen; the callers must hear of it as of any other failure.
            self._fail_to_connect(waiting, RedisError(type(error).__name__))
        finally:
            self._connecting = None
            self._go_on()

    def _connects(self) -> asyncio.Task[None] | None:
        """What connects now. One that was cancelled before it began never came to say its end."""
        connecting = self._connecting
        return None if connecting is None or connecting.done() else connecting

    async def _new_connection(self) -> Connection:
        for is_last in (False, True):
            try:
                await self._link.connected()
            except ConnectionLostError:
                if is_last:
                    raise
            if (connection := self._link.standing()) is not None:
                return connection
        raise ConnectionLostError("the server closed the connection")

    def _fail_to_connect(self, waiting: list[_Order], error: Exception) -> None:
        self._link.drop()
        failed = set(waiting)
        # Those whose time ended meanwhile have left the front of the line already.
        while self._line and self._line[0] in failed:
            _fail(self._next(), error)

    def _watch(self) -> None:
        if self._timer is None:
            part = self._url.seconds / _PARTS
            self._timer = asyncio.get_running_loop().call_later(part, self._look)

    def _look(self) -> None:
        """Count one part of the time, and end what took too long."""
        self._timer = None
        self._clock += 1
        while self._line and self._is_over(self._line[0]):
            _fail(self._next(), TimeoutError())
        if self._under_way and self._is_over(self._under_way[0]):
            self.lost(TimeoutError())
        if self._under_way or self._line:
            self._watch()

    def _is_over(self, order: _Order) -> bool:
        """Whether it has waited as long as it may: to be taken up, or since then for its reply."""
        is_behind = order.taken_up == _NOT_YET
        since = max(order.lined_up, self._answered) if is_behind else order.taken_up
        return self._clock - since >= _PARTS

    def _ask_again(self, error: Exception) -> None:
        """Line up what may be repeated and still has time; to the rest of it this happened."""
        again: list[_Order] = []
        for order in self._taken_back():
            if order.repeatable and order.attempts == 1 and not self._is_over(order):
                again.append(order)
            else:
                _fail(order, error)
        self._line_up_first(again)
        if self._line:
            self._go_on_soon(asyncio.get_running_loop())

    async def _close(self) -> None:
        """Leave nothing behind; who asks meanwhile is cancelled like the others."""
        self._is_closing = True
        try:
            if (connecting := self._connects()) is not None:
                connecting.cancel()
                await asyncio.gather(connecting, return_exceptions=True)
        finally:
            self._is_closing = False
            self._give_up()

    def _give_up(self) -> None:
        self._link.drop()
        for order in (*self._taken_back(), *self._line):
            order.reply.cancel()
        self._line.clear()
        self._line_bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _taken_back(self) -> list[_Order]:
        """What is under way no more, in the order in which it was sent."""
        orders = [*self._elsewhere, *self._under_way]
        self._elsewhere.clear()
        self._under_way.clear()
        self._under_way_bytes = 0
        return orders

    def _line_up_first(self, orders: list[_Order]) -> None:
        self._line.extendleft(reversed(orders))
        self._line_bytes += sum(len(order.command) for order in orders)

    def _next(self) -> _Order:
        order = self._line.popleft()
        self._line_bytes -= len(order.command)
        return order

    def _take_up(self, order: _Order) -> None:
        if order.taken_up == _NOT_YET:
            order.taken_up = self._clock


def _fail(order: _Order, error: Exception) -> None:
    if not order.reply.done():
        order.reply.set_exception(error)
