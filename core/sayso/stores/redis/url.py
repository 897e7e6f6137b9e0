"""From a store's URL to the settings of its connections."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from sayso.errors import ConfigError
from sayso.stores.redis.keys import DEFAULT_NAMESPACE, Keys
from sayso.stores.redis.tls import OPTIONS as TLS_OPTIONS
from sayso.stores.redis.tls import boolean
from sayso.stores.redis.wire import Connecting

TIMEOUT_SECONDS = 2.0
_SENTINEL_PORT = 26379
_REDIS_PORT = 6379
# What URLs name for pools and clients of other libraries; one connection has no use for it.
_NOT_OURS = frozenset(
    {
        "encoding",
        "encoding_errors",
        "health_check_interval",
        "max_connections",
        "protocol",
        "retry_on_timeout",
        "socket_connect_timeout",
        "socket_read_size",
        "timeout",
    }
)
_TLS = "ssl_"


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
    connecting: Connecting
    service: str = ""
    sentinel: Connecting = field(default_factory=Connecting)

    @property
    def address(self) -> str:
        """Where that is, for messages."""
        if not self.hosts:
            return self.connecting.path
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{hosts}/{self.service}" if self.service else hosts

    @property
    def seconds_a_host(self) -> float:
        """How long one of the hosts may take, so that there is time to ask all and go there."""
        return self.seconds / (len(self.hosts) + 1)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        passwords = (self.connecting.password, self.sentinel.password)
        return tuple(password for password in passwords if password)


def read_url(url: str) -> StoreUrl:
    """The settings in a store's URL.

    ``redis://``, ``rediss://`` and ``unix://`` as other clients read them,
    ``redis+sentinel://host:port,host:port/service/db`` and
    ``redis+cluster://host:port,host:port`` (each also with ``rediss``).
    ``?namespace=`` separates installations that share a server;
    ``?socket_timeout=`` is the seconds to wait for an answer, 2 unless told;
    ``?sentinel_username=`` and ``?sentinel_password=`` are for the sentinels.

    Raises:
        ConfigError: it cannot be read; the message does not quote it.
    """
    try:
        return _read(url)
    except _UnknownOptionError as error:
        raise ConfigError(
            f"the store's URL has an option that means nothing to a connection (of {error})"
        ) from None
    except ValueError:
        # The error's own text may quote the password.
        raise ConfigError(
            "the store's URL cannot be read; write redis://user:password@host:port/db with the "
            "special characters of the password percent-encoded"
        ) from None


class _UnknownOptionError(ValueError):
    """An option of a URL that nobody knows; says which there are, without their values."""


def _read(url: str) -> StoreUrl:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    names = ", ".join(query)
    keys = Keys(query.pop("namespace", DEFAULT_NAMESPACE))
    seconds = float(query.pop("socket_timeout", TIMEOUT_SECONDS))
    if not seconds > 0:
        raise ConfigError("socket_timeout in the store's URL must be more than 0 seconds")
    sentinel_login = (query.pop("sentinel_username", ""), query.pop("sentinel_password", ""))
    scheme, _, kind = parts.scheme.partition("+")
    connecting = _connecting(parts, query, scheme)
    if query.keys() - _NOT_OURS:
        raise _UnknownOptionError(names)
    if kind:
        return _read_many(parts, kind, keys, seconds, connecting, sentinel_login)
    if scheme == "unix":
        if not connecting.path:
            raise ConfigError("the store's URL names no socket; write unix:///path/to/socket")
        return StoreUrl("server", keys, seconds, (), connecting)
    host = unquote(parts.hostname or "localhost")
    return StoreUrl("server", keys, seconds, ((host, _port(parts, _REDIS_PORT)),), connecting)


def _connecting(parts: SplitResult, query: dict[str, str], scheme: str) -> Connecting:
    """How to connect; what is read of the query is taken from it."""
    if scheme not in ("redis", "rediss", "unix"):
        raise ValueError(scheme)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    tls = scheme == "rediss"
    options: dict[str, Any] = {
        name: read(query.pop(f"{_TLS}{name}"))
        for name, read in TLS_OPTIONS.items()
        if tls and f"{_TLS}{name}" in query
    }
    others = {name: query.pop(name, "") for name in ("username", "password")}
    return Connecting(
        path=unquote(parts.path) if scheme == "unix" else "",
        tls=tls,
        username=unquote(user) or others["username"],
        password=unquote(password) or others["password"],
        db=_db(parts, query, scheme),
        client_name=query.pop("client_name", ""),
        keepalive=boolean(query.pop("socket_keepalive", "yes")),
        tls_options=options,
    )


def _db(parts: SplitResult, query: dict[str, str], scheme: str) -> int:
    """The number of the database: that of the query, else of the path, else the first."""
    if "db" in query:
        return _number(query.pop("db"))
    if scheme == "unix":
        return 0
    path = parts.path.strip("/")
    if "+sentinel" in parts.scheme:
        path = path.partition("/")[2]
    return _number(unquote(path)) if path else 0


def _number(written: str) -> int:
    if not (written.isascii() and written.isdecimal()):
        # It is not quoted: it may be the end of a password with a slash in it.
        raise ConfigError(
            "the store's URL cannot be read: its database is a number; write "
            "redis://user:password@host:6379/0 with the special characters of the password "
            "percent-encoded"
        )
    return int(written)


def _read_many(
    parts: SplitResult,
    kind: str,
    keys: Keys,
    seconds: float,
    connecting: Connecting,
    sentinel_login: tuple[str, str],
) -> StoreUrl:
    port = _SENTINEL_PORT if kind == "sentinel" else _REDIS_PORT
    hosts = tuple(_host(name, port) for name in parts.netloc.rpartition("@")[2].split(","))
    if kind == "cluster":
        return StoreUrl("cluster", keys, seconds, hosts, connecting)
    if kind != "sentinel":
        raise ConfigError(f"the store's URL begins with {parts.scheme[:20]!r}, which is not known")
    service = unquote(parts.path.strip("/").partition("/")[0])
    if not service:
        raise ConfigError(
            "the store's URL names no service; write redis+sentinel://host:port/service/db"
        )
    user, password = sentinel_login
    sentinel = replace(connecting, username=user, password=password, db=0, client_name="")
    return StoreUrl("sentinel", keys, seconds, hosts, connecting, service, sentinel)


def _host(name: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{name}")
    if not parts.hostname:
        raise ConfigError("a host's name is missing in the store's URL; write host:port,host:port")
    return parts.hostname, _port(parts, default_port)


def _port(parts: SplitResult, default: int) -> int:
    try:
        return parts.port or default
    except ValueError:
        # A password with a slash in it ends the host here: that is said, too.
        raise ConfigError(
            "the port in the store's URL is not a number from 1 to 65535; write "
            "redis://user:password@host:6379/0 with the special characters of the password "
            "percent-encoded"
        ) from None
