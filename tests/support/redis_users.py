"""A server with the users of ``deploy/redis.acl``, each with a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.valkey_server import Valkey

FILE = Path(__file__).parents[2] / "deploy" / "redis.acl"


class Users:
    """The addresses of the server as each of its users."""

    def __init__(self, server: Valkey) -> None:
        self._port = server.port

    @property
    def admin(self) -> str:
        """As the one who may do everything."""
        return self._as("admin")

    @property
    def workers(self) -> str:
        """As ``sayso serve`` and the commands of operators."""
        return self._as("sayso-workers")

    @property
    def agents(self) -> str:
        """As processes that ask."""
        return self._as("sayso-agents")

    def _as(self, user: str) -> str:
        return f"redis://{user}:{user}-pw@127.0.0.1:{self._port}"


@contextmanager
def redis_users() -> Iterator[Users]:
    """A server with these users while the block runs."""
    server = Valkey(appendonly="yes")
    lines = {line.split()[1]: line for line in FILE.read_text().splitlines()}
    named = {name: f"{line} >{name}-pw" for name, line in lines.items()}
    # The server is known to be there by its answer to this one.
    named["default"] = f"user default on -@all +ping >{server.password}"
    file = server.folder / "users.acl"
    file.write_text("\n".join(named.values()) + "\n")
    try:
        server.start("--aclfile", str(file))
        yield Users(server)
    finally:
        server.close()
