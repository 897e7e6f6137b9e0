"""From a store's URL to the settings of its connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
    parse_url,
)
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from sayso.errors import ConfigError
from sayso.stores.redis.keys import DEFAULT_NAMESPACE, Keys

TIMEOUT_SECONDS = 2.0
_SENTINEL_PORT = 26379
_REDIS_PORT = 6379
# What redis-py reads from a URL for its pools and clients; a single connection has no use for it.
_NOT_OURS = ("max_connections", "timeout", "socket_timeout", "socket_connect_timeout", "protocol")


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store's URL, read. Its text form never holds a password.

    ``hosts`` are the servers to ask first: the server itself, the sentinels,
    or some nodes of a cluster; a unix socket has none.
    """

    kind: Literal["server", "sentinel", "cluster"]
    keys: Keys
    seconds: float
    hosts: tuple[tuple[str, int], ...]
    connection: Callable[..., AbstractConnection]
    options: dict[str, Any] = field(repr=False)
    service: str = ""
    sentinel_options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """Where that is, for messages."""
        if not self.hosts:
            return str(self.options["path"])
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{hosts}/{self.service}" if self.service else hosts

    @property
    def seconds_a_host(self) -> float:
        """How long one of the hosts may take, so that there is time to ask all and go there."""
        return self.seconds / (len(self.hosts) + 1)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        passwords = (self.options.get("password"), self.sentinel_options.get("password"))
        return tuple(password for password in passwords if password)


def read_url(url: str) -> StoreUrl:
    """The settings in a store's URL.

    ``redis://``, ``rediss://`` and ``unix://`` as redis-py reads them,
    ``redis+sentinel://host:port,host:port/service/db`` and
    ``redis+cluster://host:port,host:port`` (each also with ``rediss``).
    ``?namespace=`` separates installations that share a server;
    ``?socket_timeout=`` is the seconds to wait for an answer, 2 unless told;
    ``?sentinel_username=`` and ``?sentinel_password=`` are for the sentinels.

    Raises:
        ConfigError: it cannot be read; the message does not quote it.
    """
    try:
        read = _read(url)
    except ValueError:
        # The error's own text may quote the password.
        raise ConfigError(
            "the store's URL cannot be read; write redis://user:password@host:port/db with the "
            "special characters of the password percent-encoded"
        ) from None
    try:
        read.connection(**read.options)
    except (TypeError, RedisError) as error:
        options = ", ".join(dict(parse_qsl(urlsplit(url).query)))
        raise ConfigError(
            f"the store's URL has an option that means nothing to a connection (of {options})"
        ) from error
    return read


def _read(url: str) -> StoreUrl:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    keys = Keys(query.pop("namespace", DEFAULT_NAMESPACE))
    seconds = float(query.pop("socket_timeout", TIMEOUT_SECONDS))
    if not seconds > 0:
        raise ConfigError("socket_timeout in the store's URL must be more than 0 seconds")
    sentinel_login = {
        name: query.pop(f"sentinel_{name}")
        for name in ("username", "password")
        if f"sentinel_{name}" in query
    }
    scheme, _, kind = parts.scheme.partition("+")
    if kind:
        return _read_many(parts, query, scheme, kind, keys, seconds, sentinel_login)
    options: dict[str, Any] = dict(parse_url(parts._replace(query=urlencode(query)).geturl()))
    connection = options.pop("connection_class", Connection)
    if connection is UnixDomainSocketConnection:
        hosts: tuple[tuple[str, int], ...] = ()
        if not options.get("path"):
            raise ConfigError("the store's URL names no socket; write unix:///path/to/socket")
    else:
        hosts = ((options.pop("host", "localhost"), options.pop("port", _REDIS_PORT)),)
    return StoreUrl("server", keys, seconds, hosts, connection, _cleaned(options))


def _read_many(
    parts: SplitResult,
    query: dict[str, str],
    scheme: str,
    kind: str,
    keys: Keys,
    seconds: float,
    sentinel_login: dict[str, str],
) -> StoreUrl:
    login, _, names = parts.netloc.rpartition("@")
    port = _SENTINEL_PORT if kind == "sentinel" else _REDIS_PORT
    hosts = tuple(_host(name, port) for name in names.split(","))
    service, _, db = parts.path.strip("/").partition("/")
    at = f"{login}@" if login else ""
    path = f"/{db}" if kind == "sentinel" and db else ""
    options: dict[str, Any] = dict(parse_url(f"{scheme}://{at}host{path}?{urlencode(query)}"))
    connection = options.pop("connection_class", Connection)
    del options["host"]
    if kind == "cluster":
        return StoreUrl("cluster", keys, seconds, hosts, connection, _cleaned(options))
    if kind != "sentinel":
        raise ConfigError(f"the store's URL begins with {parts.scheme[:20]!r}, which is not known")
    if not service:
        raise ConfigError(
            "the store's URL names no service; write redis+sentinel://host:port/service/db"
        )
    tls = {name: value for name, value in options.items() if name.startswith("ssl")}
    return StoreUrl(
        "sentinel",
        keys,
        seconds,
        hosts,
        connection,
        _cleaned(options),
        unquote(service),
        _cleaned(tls if connection is SSLConnection else {}) | sentinel_login,
    )


def _host(name: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{name}")
    if not parts.hostname:
        raise ConfigError("a host's name is missing in the store's URL; write host:port,host:port")
    return parts.hostname, parts.port or default_port


def _cleaned(options: dict[str, Any]) -> dict[str, Any]:
    ours = {name: value for name, value in options.items() if name not in _NOT_OURS}
    return ours | {
        # One attempt each: what may be repeated is decided where the command is known. Time
        # limits are set around whole conversations. No CLIENT SETINFO: one round trip less.
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": None,
        "socket_connect_timeout": None,
        "protocol": 2,
        "driver_info": None,
    }
