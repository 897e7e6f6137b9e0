"""One connection to a server: the protocol of Redis (RESP 2), written and read by hiredis."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import hiredis

from sayso.stores.redis.own_time import OwnTime
from sayso.stores.redis.tls import tls_context

# What came and nobody asked for yet; beyond it the server has to hold it, and says when it ends.
_MOST_UNREAD = 1_000
# A server that is gone without a word is noticed after 45 seconds.
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
# The words before a message that say of which kind it is, and nothing else.
_PLAIN_CODES = frozenset({"ERR", "NOPERM"})
_FULL = "max number of clients reached"


class RedisError(Exception):
    """A server could not be used."""


class ConnectionLostError(RedisError):
    """The connection could not be made, or broke."""


class ReplyError(RedisError):
    """The server refused a command; ``code`` is the first word of what it said."""

    def __init__(self, said: str) -> None:
        self.code, _, rest = said.partition(" ")
        super().__init__(rest if self.code in _PLAIN_CODES else said)


class LoginError(RedisError):
    """The server does not let this user in."""


class _End:
    """Nothing more can be read for now."""


@dataclass(frozen=True, slots=True)
class Connecting:
    """How to connect: to a host, or to a unix socket at ``path``."""

    path: str = ""
    tls: bool = False
    username: str = ""
    password: str = field(default="", repr=False)
    db: int = 0
    client_name: str = ""
    keepalive: bool = True
    tls_options: dict[str, Any] = field(default_factory=dict, repr=False)


def packed(arguments: tuple[bytes | str | int, ...]) -> bytes:
    """A command as the protocol writes it.

    Raises:
        UnicodeEncodeError: a string is not valid Unicode.
    """
    command: bytes = hiredis.pack_command(arguments)  # type: ignore[arg-type]  # of any length
    return command


class Taker(Protocol):
    """Who takes what a connection says, as it comes."""

    def took(self, reply: Any) -> None:
        """Take the next reply; one that is an error is an exception."""

    def lost(self, error: Exception) -> None:
        """Hear, once, that nothing more will come, unless the connection was dropped here."""


async def connect(how: Connecting, host: str = "", port: int = 0) -> Connection:
    """A connection that is logged in.

    Raises:
        LoginError: the server refuses the login.
        ReplyError: it refuses something else.
        ConnectionLostError: no connection is made, or it breaks.
    """
    loop = asyncio.get_running_loop()
    try:
        if how.path:
            _, connection = await loop.create_unix_connection(Connection, how.path)
        else:
            tls = tls_context(**how.tls_options) if how.tls else None
            _, connection = await loop.create_connection(Connection, host, port, ssl=tls)
            connection.keep_alive(how.keepalive)
    except TimeoutError:
        raise
    except OSError as error:
        raise ConnectionLostError(str(error)) from error
    try:
        await _begin(connection, how)
    except BaseException:
        connection.drop()
        raise
    return connection


async def _begin(connection: Connection, how: Connecting) -> None:
    """Log in, and choose the database, in one round trip."""
    login = (how.username, how.password) if how.username else (how.password,)
    commands: list[tuple[str | int, ...]] = []
    if how.username or how.password:
        commands.append(("AUTH", *login))
    if how.client_name:
        commands.append(("CLIENT", "SETNAME", how.client_name))
    if how.db:
        commands.append(("SELECT", how.db))
    if not commands:
        return
    replies = await connection.ask([packed(command) for command in commands])
    for command, reply in zip(commands, replies, strict=True):
        if isinstance(reply, ReplyError):
            is_login = command[0] == "AUTH" and reply.code in ("ERR", "WRONGPASS")
            raise LoginError(str(reply)) if is_login or reply.code == "NOAUTH" else reply
        if reply != b"OK":
            # It greets: each reply to come would be taken for that to the command after its own.
            raise ConnectionLostError("it says what nobody asked for")


class Connection(asyncio.Protocol):
    """A connection that stands until it breaks; it is never made again behind anybody's back."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(replyError=ReplyError, notEnoughData=_End)
        self._transport: asyncio.Transport | None = None
        self._unread: deque[Any] = deque()
        self._wanted = 0
        self._waiter: asyncio.Future[None] | None = None
        self._lost: Exception | None = None
        self._taker: Taker | None = None

    @property
    def socket(self) -> socket.socket:
        """What it is connected by."""
        assert self._transport is not None  # noqa: S101  as asyncio promises
        found: socket.socket = self._transport.get_extra_info("socket")
        return found

    @property
    def unread(self) -> int:
        """How much came that nobody asked for yet."""
        return len(self._unread)

    @property
    def is_quiet(self) -> bool:
        """Whether it stands as far as anyone knows, and nothing came that nobody asked for."""
        return self._lost is None and not self._unread

    async def ask(self, commands: Sequence[bytes]) -> list[Any]:
        """The replies to packed commands, in order; one that is an error is an item.

        Raises:
            ConnectionLostError: nobody knows which of the commands were carried out.
        """
        self.send(commands)
        await self._arrived(len(commands))
        return [self._next() for _ in commands]

    def answers(self, taker: Taker) -> None:
        """From now on tell whatever comes to this one alone."""
        self._taker = taker

    def send(self, commands: Sequence[bytes]) -> None:
        """Send packed commands; each has a reply, and they come in the same order."""
        transport = self._transport
        # Once it closes, Python 3.12 and 3.13 would watch the number of its socket for good, which
        # the next socket gets.
        if self._lost is None and transport is not None and not transport.is_closing():
            transport.writelines(commands)

    async def next(self, seconds: float) -> Any:
        """What the server says next by itself; None when nothing comes in that time.

        Raises:
            ConnectionLostError: nothing can come any more.
        """
        if not self._unread:
            try:
                async with OwnTime(seconds):
                    await self._arrived(1)
            except TimeoutError:
                return None
        return self._next()

    def drop(self) -> None:
        """Close it at once, and tell nobody."""
        self._taker = None
        self._break(ConnectionLostError("it was closed here"))
        if self._transport is not None:
            self._transport.abort()

    def keep_alive(self, wanted: bool) -> None:
        """Have the system see whether the server is still there."""
        if not wanted:
            return
        found = self.socket
        with suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEPALIVE.items():
                if (option := getattr(socket, name, None)) is not None:
                    found.setsockopt(socket.IPPROTO_TCP, option, value)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # Transports of other event loops, such as uvloop's, are no subclass of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self._reader.feed(data)
        try:
            while (reply := self._reader.gets()) is not _End:
                if isinstance(reply, ReplyError) and str(reply) == _FULL:
                    self._break(ConnectionLostError(_FULL))
                    continue
                if self._taker is not None:
                    self._taker.took(reply)
                else:
                    self._unread.append(reply)
        except hiredis.ProtocolError as error:
            self._break(ConnectionLostError(f"what answers is no Redis ({error})"))
            self.drop()
            return
        if len(self._unread) >= self._wanted:
            self._wake()
        if len(self._unread) > max(self._wanted, _MOST_UNREAD) and self._transport is not None:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits."""
        lost = ConnectionLostError(str(exc) if exc else "the server closed the connection")
        lost.__cause__ = exc
        self._break(lost)

    async def _arrived(self, count: int) -> None:
        while len(self._unread) < count:
            if self._lost is not None:
                raise ConnectionLostError(str(self._lost)) from self._lost.__cause__
            self._wanted = count
            self._waiter = asyncio.get_running_loop().create_future()
            if self._transport is not None:
                self._transport.resume_reading()
            try:
                await self._waiter
            finally:
                self._waiter = None
                self._wanted = 0

    def _next(self) -> Any:
        return self._unread.popleft()

    def _break(self, error: Exception) -> None:
        if self._lost is None:
            self._lost = error
        if (taker := self._taker) is not None:
            self._taker = None
            taker.lost(error)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
