"""The web server: its port is taken before anything else starts, and given up first."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

from sayso.errors import ConfigError
from sayso_bots.process.sources import Shares
from sayso_bots.server.limits import CallTimeouts, ConnectionLimits, quiet_accepting

# Requests in flight at the end: a press is answered within 3 s, so this is patient.
_FINISH_SECONDS = 10.0
_BACKLOG = 1_024
_MOST_BYTES = 1024 * 1024
MOST_CONNECTIONS = 16_384
_TIMEOUTS = CallTimeouts()
_CAN_SHARE = hasattr(socket, "SO_REUSEPORT")


@contextmanager
def bind_port(
    host: str, port: int, *, reuse_port: bool = False, can_share: bool = _CAN_SHARE
) -> Iterator[Sequence[socket.socket]]:
    """Open sockets on all addresses of the host; calls wait in them until somebody answers.

    With ``reuse_port`` several processes listen on the port, and the system shares out its
    connections.

    Raises:
        ConfigError: the port or the address cannot be used; the message says what to set.
    """
    if reuse_port and not can_share:
        raise ConfigError(
            "server.reuse_port: this platform lets no two processes share a port; leave it out, "
            "and give each process a port of its own"
        )
    sockets: list[socket.socket] = []
    try:
        try:
            for family, address in _addresses(host, port):
                sockets.append(
                    socket.create_server(
                        address, family=family, backlog=_BACKLOG, reuse_port=reuse_port
                    )
                )
        except OSError as error:
            raise ConfigError(_why_not(host, port, error)) from None
        yield sockets
    finally:
        for taken in sockets:
            taken.close()


@asynccontextmanager
async def answering(
    sockets: Sequence[socket.socket],
    routes: Sequence[web.RouteDef],
    *,
    most_connections: int = MOST_CONNECTIONS,
    each: int | None = None,
    timeouts: CallTimeouts = _TIMEOUTS,
    handler_cancellation: bool = False,
    most_bytes: int = _MOST_BYTES,
    finish_seconds: float = _FINISH_SECONDS,
) -> AsyncIterator[None]:
    """Answer calls while the block runs; at its end accept no more and finish those in flight.

    Connections beyond the most are closed at once, and so are those of a source that has
    more than its share, which ``each`` may say. With ``handler_cancellation`` a handler is
    cancelled when its client leaves. Calls in flight at the end have ``finish_seconds``.
    """
    app = web.Application(client_max_size=most_bytes)
    app.add_routes(routes)
    runner = web.AppRunner(
        app, shutdown_timeout=finish_seconds, handler_cancellation=handler_cancellation
    )
    await runner.setup()
    try:
        server = runner.server
        if server is None:
            raise TypeError("a runner that is set up has a server")
        loop = asyncio.get_running_loop()
        shares = Shares.of(most_connections, each)
        limits = ConnectionLimits(server, most=most_connections, shares=shares, timeouts=timeouts)
        with quiet_accepting(loop):
            servers = [
                await loop.create_server(limits, sock=taken, backlog=_BACKLOG) for taken in sockets
            ]
            try:
                yield
            finally:
                for one in servers:
                    one.close()
    finally:
        await runner.cleanup()


def url_of(sockets: Sequence[socket.socket]) -> str:
    """The address of the server, for people to read."""
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
            "set server.port or SAYSO_PORT to another one, or server.reuse_port = true in all "
            "that share it"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs privileges; set server.port or SAYSO_PORT above 1023"
    return f"cannot listen on {host}; set server.host or SAYSO_HOST to an address of this machine"
