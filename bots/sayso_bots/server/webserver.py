"""The web server: its port is taken before anything else starts, and given up first."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

from aiohttp import web

from sayso.errors import ConfigError
from sayso_bots.process.sources import Shares
from sayso_bots.server.connections import Connections, Patience, quiet_accepting
from sayso_bots.server.handing import Handed, Protocols

# Requests in flight at the end: a press is answered within 3 s, so this is patient.
_FINISH_SECONDS = 10.0
_BACKLOG = 1_024
MOST_CONNECTIONS = 16_384
_PATIENCE = Patience()


@contextmanager
def taken_port(host: str, port: int) -> Iterator[Sequence[socket.socket]]:
    """Sockets on all addresses of the host; calls wait in them until somebody answers.

    Raises:
        ConfigError: the port or the address cannot be used; the message says what to set.
    """
    sockets: list[socket.socket] = []
    try:
        try:
            for family, address in _addresses(host, port):
                sockets.append(socket.create_server(address, family=family, backlog=_BACKLOG))
        except OSError as error:
            raise ConfigError(_why_not(host, port, error)) from None
        yield sockets
    finally:
        for taken in sockets:
            taken.close()


@asynccontextmanager
async def answering(
    sockets: Sequence[socket.socket] | Handed,
    routes: Sequence[web.RouteDef],
    *,
    most_connections: int = MOST_CONNECTIONS,
    each: int | None = None,
    patience: Patience = _PATIENCE,
) -> AsyncIterator[None]:
    """Answer calls while the block runs; at its end accept no more and finish those in flight.

    Connections beyond the most are closed at once, and so are those of a source that has
    more than its share, which ``each`` may say.
    """
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=_FINISH_SECONDS)
    await runner.setup()
    try:
        server = runner.server
        if server is None:
            raise TypeError("a runner that is set up has a server")
        loop = asyncio.get_running_loop()
        shares = Shares.of(most_connections, each)
        made = Connections(server, most=most_connections, shares=shares, patience=patience)
        accepting = sockets.accepting if isinstance(sockets, Handed) else _accepting(sockets)
        with quiet_accepting(loop):
            async with accepting(made):
                yield
    finally:
        await runner.cleanup()


def _accepting(
    sockets: Sequence[socket.socket],
) -> Callable[[Protocols], AbstractAsyncContextManager[None]]:
    """Sockets of our own, closed when nothing is accepted any more."""

    @asynccontextmanager
    async def accepting(made: Protocols) -> AsyncIterator[None]:
        loop, servers = asyncio.get_running_loop(), list[asyncio.Server]()
        try:
            for taken in sockets:
                servers.append(await loop.create_server(made, sock=taken, backlog=_BACKLOG))
            yield
        finally:
            for one in servers:
                one.close()

    return accepting


def url_of(sockets: Sequence[socket.socket] | Handed) -> str:
    """The address of the server, for people to read."""
    if isinstance(sockets, Handed):
        return sockets.url
    host, port = sockets[0].getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _addresses(host: str, port: int) -> Iterator[tuple[socket.AddressFamily, tuple[str, int]]]:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, address in dict.fromkeys((info[0], info[4][:2]) for info in found):
        yield family, (str(address[0]), int(address[1]))


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} on {host} is in use; stop what listens there, "
            "or set server.port or SAYSO_PORT to another one"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs privileges; set server.port or SAYSO_PORT above 1023"
    return f"cannot listen on {host}; set server.host or SAYSO_HOST to an address of this machine"
