"""Commands that serve HTTP beside ``sayso serve``: their address, their token, their port."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sayso.errors import ConfigError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MIN_TOKEN_LENGTH = 32
_LAST_PORT = 65_535


def parse_address(written: str) -> tuple[str, int]:
    """Return the host and the port of ``--listen``.

    Raises:
        ConfigError: it names none.
    """
    host, _, port = written.rpartition(":")
    if not port.isdecimal() or int(port) > _LAST_PORT:
        raise ConfigError(f"--listen {written!r:.40}: write HOST:PORT, such as 127.0.0.1:8090")
    return host.strip("[]") or "127.0.0.1", int(port)


def read_token(env: Mapping[str, str], variable: str) -> str:
    """Return the token that clients must bring; empty where the variable is not set.

    Raises:
        ConfigError: it is too short.
    """
    token = env.get(variable, "").strip()
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise ConfigError(
            f"{variable} has less than {MIN_TOKEN_LENGTH} characters; make one with "
            "`openssl rand -hex 32`"
        )
    return token


@contextmanager
def take_port(host: str, port: int) -> Iterator[Sequence[socket.socket]]:
    """Listen on all addresses of the host while the block runs.

    Raises:
        ConfigError: something else does, or the address is not of this machine.
    """
    from sayso_bots.server.webserver import bind_port

    try:
        with bind_port(host, port) as sockets:
            yield sockets
    except ConfigError:
        raise ConfigError(f"--listen: {host}:{port} is in use, or not of this machine") from None
