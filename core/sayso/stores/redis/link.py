"""One connection to the server that holds our keys: found, used, dropped, and explained."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from sayso.stores.redis.url import StoreUrl

# What using a connection may raise; nothing else stops at this package's edge.
LINK_ERRORS = (RedisError, OSError, TimeoutError)

# Replies of a server that no longer holds our keys: nothing was done, look for the right one.
# MOVED is an ASK to redis-py, MASTERDOWN a CLUSTERDOWN.
_ELSEWHERE = (AskError, ClusterDownError, ReadOnlyError, TryAgainError)
_REDIRECTIONS = 5


def packed(arguments: Sequence[bytes | str | int]) -> bytes:
    """A command as the protocol writes it.

    Raises:
        UnicodeEncodeError: a string is not valid Unicode.
    """
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


def is_elsewhere(reply: object) -> bool:
    """Whether the reply says that another server holds our keys now."""
    return isinstance(reply, _ELSEWHERE)


def explain(url: StoreUrl, error: Exception) -> str:
    """One line about an error: what happened, where, and what to do. Never holds a password."""
    where = f"Redis at {url.address}"
    match error:
        case TimeoutError() | RedisTimeoutError():
            return f"{where} did not answer within {url.seconds:g} s"
        case AuthenticationError():
            return f"{where} refuses the login: check user and password in the store's URL"
        case NoPermissionError():
            return f"{where} does not permit this user what Sayso needs: {_said(url, error)}"
        case BusyLoadingError():
            return f"{where} is still loading its data"
        case ReadOnlyError():
            return f"{where} is a read-only replica: connect to the primary"
        case OutOfMemoryError():
            return f"{where} is out of memory: raise maxmemory"
        case ClusterDownError():
            return f"{where} cannot serve now: the cluster, or the primary of a replica, is down"
        case ResponseError():
            return _refused(where, _said(url, error))
    if _is_refused(error):
        return f"no Redis answers at {url.address}; start one, or correct the address"
    return f"{where} cannot be reached ({_cause(error) or _said(url, error)})"


def _refused(where: str, said: str) -> str:
    # redis-py takes the word away from some of these errors, and leaves it in others.
    if said.startswith("MISCONF"):
        return f"{where} takes no writes, because it cannot save its data: look at its disk and log"
    if said.startswith("NOREPLICAS"):
        return f"{where} takes no writes, because too few replicas follow it"
    if "ACL failure in script" in said or "can't run this command" in said:
        return f"{where} does not permit this user what Sayso needs: {said}"
    return f"{where} refuses a command: {said}"


def _cause(error: BaseException) -> str:
    """What the operating system said, without the address; empty when it was not that."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, socket.gaierror):
            return "its name is not known"
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {link.verify_message}"
        if isinstance(link, ssl.SSLError):
            return ""
        if isinstance(link, OSError) and link.errno:
            return os.strerror(link.errno).lower()
        link = link.__cause__ or link.__context__
    return ""


def _is_refused(error: BaseException | None) -> bool:
    """Whether no program listens there, at none of the addresses of the host."""
    numbers: list[str] = []
    while error is not None and not numbers:
        if isinstance(error, ConnectionRefusedError):
            return True
        # Of several addresses, asyncio tells in one text what each of them said.
        numbers = re.findall(r"\[Errno (\d+)\]", str(error)) if isinstance(error, OSError) else []
        error = error.__cause__ or error.__context__
    return set(numbers) == {str(errno.ECONNREFUSED)}


def _said(url: StoreUrl, error: Exception) -> str:
    text = (str(error) or type(error).__name__).splitlines()[0]
    for secret in url.secrets:
        text = text.replace(secret, "***")
    return text[:200]


class Link:
    """One connection. It connects when it is used and again when it was lost.

    Its methods raise LINK_ERRORS; none of them limits its time.
    """

    def __init__(self, url: StoreUrl) -> None:
        self.url = url
        self._connection: AbstractConnection | None = None

    async def ask(self, commands: Sequence[bytes]) -> list[Any]:
        """The replies to packed commands, in order, in one round trip.

        A reply that is an error is an item of the list. When the connection
        breaks, nobody knows which of the commands were carried out.
        """
        return await exchanged(await self.connected(), commands)

    async def connected(self) -> AbstractConnection:
        """The connection, which stands at this moment as far as anyone knows.

        It may be another one than before. What has been agreed on with a server, such as a
        subscription, holds for the one connection it was agreed on: keep that.
        """
        if self._connection is not None and self._connection.is_connected:
            if not await self._connection.can_read():
                return self._connection
            # Nobody asked, yet something came: the server has closed the connection.
            await self.drop()
        self._connection = await _found(self.url)
        return self._connection

    async def drop(self) -> None:
        """Close the connection; the next use looks for the right server again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


async def exchanged(connection: AbstractConnection, commands: Sequence[bytes]) -> list[Any]:
    """The replies to packed commands over this connection; one that is an error is an item."""
    await connection.send_packed_command(commands, check_health=False)
    replies: list[Any] = []
    for _ in commands:
        try:
            replies.append(await connection.read_response())
        except ResponseError as error:
            replies.append(error)
    return replies


async def _found(url: StoreUrl) -> AbstractConnection:
    if url.kind == "sentinel":
        host, port = await _primary(url)
        return await _open(url, host, port)
    if url.kind == "cluster":
        return await _owner(url)
    if not url.hosts:
        return await _opened(url.connection(**url.options))
    return await _open(url, *url.hosts[0])


async def _primary(url: StoreUrl) -> tuple[str, int]:
    """Where the service's primary is, as the first sentinel that knows it says."""
    reason: Exception = RedisConnectionError(f"no sentinel knows the service {url.service!r}")
    for host, port in url.hosts:
        connection = url.connection(host=host, port=port, **url.sentinel_options)
        try:
            async with asyncio.timeout(url.seconds_a_host):
                await _opened(connection)
                command = packed(("SENTINEL", "GET-MASTER-ADDR-BY-NAME", url.service))
                await connection.send_packed_command(command)
                if address := await connection.read_response():
                    return address[0].decode(), int(address[1])
        except LINK_ERRORS as error:
            reason = error
        finally:
            await connection.disconnect(nowait=True)
    raise reason


async def _owner(url: StoreUrl) -> AbstractConnection:
    """The node of the cluster that owns our slot, as the first node that answers says."""
    reason: Exception = RedisConnectionError("no node answers")
    for host, port in url.hosts:
        try:
            async with asyncio.timeout(url.seconds_a_host):
                return await _followed(url, host, port)
        except LINK_ERRORS as error:
            reason = error
    raise reason


async def _followed(url: StoreUrl, host: str, port: int) -> AbstractConnection:
    for _ in range(_REDIRECTIONS):
        connection = await _open(url, host, port)
        await connection.send_packed_command(packed(("EXISTS", url.keys.due)))
        try:
            await connection.read_response()
        except MovedError as error:
            await connection.disconnect(nowait=True)
            # A node that does not name the other's host means its own.
            host, port = error.host or host, error.port
        except ResponseError:
            await connection.disconnect(nowait=True)
            raise
        else:
            return connection
    raise RedisConnectionError("the nodes do not agree on who owns our slot")


async def _open(url: StoreUrl, host: str, port: int) -> AbstractConnection:
    return await _opened(url.connection(host=host, port=port, **url.options))


async def _opened(connection: AbstractConnection) -> AbstractConnection:
    try:
        await connection.connect()  # type: ignore[no-untyped-call]  # redis-py types the rest
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    return connection
