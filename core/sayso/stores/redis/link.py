"""One connection to the server that holds our keys: found, used, dropped, and explained."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from sayso.stores.redis.own_time import OwnTime
from sayso.stores.redis.url import StoreUrl
from sayso.stores.redis.wire import (
    Connecting,
    Connection,
    ConnectionLostError,
    LoginError,
    RedisError,
    ReplyError,
    connect,
    packed,
)

# What using a connection may raise; nothing else stops at this package's edge.
LINK_ERRORS = (RedisError, OSError, TimeoutError)

# Replies of a server that no longer holds our keys: nothing was done, look for the right one.
_ELSEWHERE = frozenset({"ASK", "CLUSTERDOWN", "MASTERDOWN", "MOVED", "READONLY", "TRYAGAIN"})
_REDIRECTIONS = 5

# What Redis puts after an error of a script: which it was, and the line.
_OF_SCRIPT = re.compile(r" script: (?:\S+, )?on @user_script:\d+\.$")


def is_elsewhere(reply: object) -> bool:
    """Whether the reply says that another server holds our keys now."""
    return isinstance(reply, ReplyError) and reply.code in _ELSEWHERE


def explain(url: StoreUrl, error: Exception) -> str:
    """One line about an error: what happened, where, and what to do. Never holds a password."""
    where = f"Redis at {url.address}"
    match error:
        case TimeoutError():
            return f"{where} did not answer within {url.seconds:g} s"
        case LoginError():
            return f"{where} refuses the login: {_LOGIN}"
        case ReplyError():
            return _refused(where, error.code, _said(url, error))
    if _is_refused(error):
        return f"no Redis answers at {url.address}; start one, or correct the address"
    return f"{where} cannot be reached ({_cause(error) or _said(url, error)})"


_LOGIN = "check user and password in the store's URL"
_MEANINGS = {
    "LOADING": "is still loading its data",
    "READONLY": "is a read-only replica: connect to the primary",
    "OOM": "is out of memory: raise maxmemory",
    "CLUSTERDOWN": "cannot serve now: the cluster, or the primary of a replica, is down",
    "MASTERDOWN": "cannot serve now: the cluster, or the primary of a replica, is down",
    "MISCONF": "takes no writes, because it cannot save its data: look at its disk and log",
    "NOREPLICAS": "takes no writes, because too few replicas follow it",
    "NOAUTH": f"refuses the login: {_LOGIN}",
    "WRONGPASS": f"refuses the login: {_LOGIN}",
}


def _refused(where: str, code: str, said: str) -> str:
    if code in _MEANINGS:
        return f"{where} {_MEANINGS[code]}"
    if _is_denial(code, said):
        said = _OF_SCRIPT.sub("", said)
        return f"{where} does not permit this user what Sayso needs: {said}"
    return f"{where} refuses a command: {said}"


def is_denied(error: BaseException | None) -> bool:
    """Whether the server does not permit what was asked of it, or what this error comes of."""
    while error is not None:
        if isinstance(error, ReplyError) and _is_denial(error.code, str(error)):
            return True
        error = error.__cause__
    return False


def _is_denial(code: str, said: str) -> bool:
    return code == "NOPERM" or "ACL failure in script" in said or "can't run this command" in said


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
        self._connection: Connection | None = None

    async def ask(self, commands: Sequence[bytes]) -> list[Any]:
        """The replies to packed commands, in order, in one round trip.

        A reply that is an error is an item of the list. When the connection
        breaks, nobody knows which of the commands were carried out.
        """
        connection = await self.connected()
        return await connection.ask(commands)

    async def connected(self) -> Connection:
        """The connection, which stands at this moment as far as anyone knows.

        It may be another one than before. What has been agreed on with a server, such as a
        subscription, holds for the one connection it was agreed on: keep that.
        """
        if (connection := self.standing()) is not None:
            return connection
        # It broke, or nobody asked and yet something came: the server has closed it.
        self.drop()
        self._connection = await _found(self.url)
        return self._connection

    def standing(self) -> Connection | None:
        """The connection, as long as it stands as far as anyone knows."""
        connection = self._connection
        return connection if connection is not None and connection.is_quiet else None

    def drop(self) -> None:
        """Close the connection; the next use looks for the right server again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.drop()


async def _found(url: StoreUrl) -> Connection:
    if url.kind == "sentinel":
        return await connect(url.connecting, *await _primary(url))
    if url.kind == "cluster":
        return await _owner(url)
    if not url.hosts:
        return await connect(url.connecting)
    return await connect(url.connecting, *url.hosts[0])


async def _primary(url: StoreUrl) -> tuple[str, int]:
    """Where the service's primary is, as the first sentinel that knows it says."""
    reason: Exception = ConnectionLostError(f"no sentinel knows the service {url.service!r}")
    for host, port in url.hosts:
        try:
            async with OwnTime(url.seconds_a_host):
                address = await _told(url.sentinel, host, port, url.service)
        except LINK_ERRORS as error:
            reason = error
        else:
            if address:
                return address[0].decode(), int(address[1])
    raise reason


async def _told(how: Connecting, host: str, port: int, service: str) -> Any:
    connection = await connect(how, host, port)
    try:
        return await _reply(connection, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)
    finally:
        connection.drop()


async def _owner(url: StoreUrl) -> Connection:
    """The node of the cluster that owns our slot, as the first node that answers says."""
    reason: Exception = ConnectionLostError("no node answers")
    for host, port in url.hosts:
        try:
            async with OwnTime(url.seconds_a_host):
                return await _followed(url, host, port)
        except LINK_ERRORS as error:
            reason = error
    raise reason


async def _followed(url: StoreUrl, host: str, port: int) -> Connection:
    for _ in range(_REDIRECTIONS):
        connection = await connect(url.connecting, host, port)
        try:
            await _reply(connection, "EXISTS", url.keys.due)
        except ReplyError as error:
            connection.drop()
            if error.code != "MOVED":
                raise
            there, _, number = str(error).rpartition(" ")[2].rpartition(":")
            # A node that does not name the other's host means its own.
            host, port = there or host, int(number)
        except BaseException:
            connection.drop()
            raise
        else:
            return connection
    raise ConnectionLostError("the nodes do not agree on who owns our slot")


async def _reply(connection: Connection, *command: str) -> Any:
    (reply,) = await connection.ask([packed(command)])
    if isinstance(reply, ReplyError):
        raise reply
    return reply
