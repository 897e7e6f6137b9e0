"""From a store's URL to the options of redis-py."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from sayso.errors import ConfigError
from sayso.stores.redis.keys import DEFAULT_NAMESPACE, Keys

TIMEOUT_SECONDS = 2.0
_SENTINEL_PORT = 26379
_REDIS_PORT = 6379
_FALSE = frozenset({"0", "f", "false", "n", "no"})
# Options that other clients read from such URLs; Sayso decides about these itself.
_IGNORED = frozenset(
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


def _boolean(value: str) -> bool:
    return value.lower() not in _FALSE


def _verification(value: str) -> str:
    if value not in ("none", "optional", "required"):
        raise ValueError("ssl_cert_reqs is none, optional or required")
    return value


def _flags(value: str) -> list[ssl.VerifyFlags]:
    names = (name.strip() for name in value.strip("[]").split(","))
    flags = ssl.VerifyFlags.__members__
    return [flags[name] if name in flags else _unknown_flag() for name in names]


def _unknown_flag() -> ssl.VerifyFlags:
    raise ValueError("there is no such flag")


_OPTIONS: Mapping[str, Callable[[str], Any]] = {
    "username": str,
    "password": str,
    "client_name": str,
    "socket_keepalive": _boolean,
}
_TLS_OPTIONS: Mapping[str, Callable[[str], Any]] = {
    "ssl_cert_reqs": _verification,
    "ssl_check_hostname": _boolean,
    "ssl_ca_certs": str,
    "ssl_ca_path": str,
    "ssl_ca_data": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_password": str,
    "ssl_min_version": lambda value: ssl.TLSVersion(int(value)),
    "ssl_ciphers": str,
    "ssl_include_verify_flags": _flags,
    "ssl_exclude_verify_flags": _flags,
}
_KNOWN = {
    *_OPTIONS,
    *_TLS_OPTIONS,
    *("db", "namespace", "socket_timeout", "sentinel_username", "sentinel_password"),
}
# redis-py takes these for a server, and not for a cluster.
_NOT_OF_A_CLUSTER = frozenset({"ssl_ca_path", "ssl_password"})


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store's URL, read. Its text form never holds a password.

    ``hosts`` are the server itself, the sentinels, or some nodes of a cluster; a unix
    socket has a ``path`` and no hosts. ``options`` are redis-py's for the server,
    ``sentinel_options`` those for the sentinels.
    """

    kind: Literal["server", "sentinel", "cluster"]
    keys: Keys
    seconds: float
    hosts: tuple[tuple[str, int], ...]
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    path: str = ""
    service: str = ""
    sentinel_options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """The address for messages."""
        if not self.hosts:
            return self.path
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{hosts}/{self.service}" if self.service else hosts

    @property
    def secrets(self) -> tuple[str, ...]:
        """The passwords, which must not be in any message."""
        passwords = (
            self.options.get("password"),
            self.options.get("ssl_password"),
            self.sentinel_options.get("password"),
        )
        return tuple(password for password in passwords if password)


def read_url(url: str) -> StoreUrl:
    """Read a store's URL.

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
    except _UnknownOptionError:
        # A password with a bare question mark in it stands where options do.
        raise ConfigError(
            "the store's URL has an option that means nothing to a connection; percent-encode a ? "
            f"in the password, and write no others than {', '.join(sorted(_KNOWN))}"
        ) from None
    except ValueError:
        # The error's own text may quote the password.
        raise ConfigError(
            "the store's URL cannot be read; write redis://user:password@host:port/db with the "
            "special characters of the password percent-encoded"
        ) from None


class _UnknownOptionError(ValueError):
    """An option of a URL is not known, or not to a cluster."""


def _read(url: str) -> StoreUrl:
    parts = urlsplit(url)
    if parts.fragment:
        raise ValueError
    query = dict(parse_qsl(parts.query))
    keys = Keys(query.pop("namespace", DEFAULT_NAMESPACE))
    seconds = float(query.pop("socket_timeout", TIMEOUT_SECONDS))
    if not 0 < seconds < inf:
        raise ConfigError("socket_timeout in the store's URL must be more than 0 seconds, and end")
    sentinel_login = {
        name: query.pop(f"sentinel_{name}", "") or None for name in ("username", "password")
    }
    scheme, _, kind = parts.scheme.partition("+")
    options = _options(parts, query, scheme)
    if query.keys() - _IGNORED or (kind == "cluster" and options.keys() & _NOT_OF_A_CLUSTER):
        raise _UnknownOptionError
    if kind:
        return _read_many(parts, kind, keys, seconds, options, sentinel_login)
    if scheme == "unix":
        path = unquote(parts.path)
        if not path:
            raise ConfigError("the store's URL names no socket; write unix:///path/to/socket")
        return StoreUrl("server", keys, seconds, (), options, path=path)
    host = unquote(parts.hostname or "localhost")
    return StoreUrl("server", keys, seconds, ((host, _port(parts, _REDIS_PORT)),), options)


def _options(parts: SplitResult, query: dict[str, str], scheme: str) -> dict[str, Any]:
    """redis-py's options; those that are read of the query are taken from it."""
    if scheme not in ("redis", "rediss", "unix"):
        raise ValueError(scheme)
    tls = scheme == "rediss"
    known = {**_OPTIONS, **_TLS_OPTIONS} if tls else _OPTIONS
    options = {name: read(query.pop(name)) for name, read in known.items() if name in query}
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    options["username"] = unquote(user) or options.get("username")
    options["password"] = unquote(password) or options.get("password")
    options.setdefault("socket_keepalive", True)
    options["db"] = _db(parts, query, scheme)
    return {**options, "ssl": True} if tls else options


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
    options: dict[str, Any],
    sentinel_login: Mapping[str, str | None],
) -> StoreUrl:
    """The URL of a cluster, or of sentinels and the service that they watch."""
    port = _SENTINEL_PORT if kind == "sentinel" else _REDIS_PORT
    hosts = tuple(_host(name, port) for name in parts.netloc.rpartition("@")[2].split(","))
    if kind == "cluster":
        if options.pop("db"):
            raise ConfigError("a cluster has the database 0 only; leave it out of the store's URL")
        return StoreUrl("cluster", keys, seconds, hosts, options)
    if kind != "sentinel":
        raise ConfigError(f"the store's URL begins with {parts.scheme[:20]!r}, which is not known")
    service = unquote(parts.path.strip("/").partition("/")[0])
    if not service:
        raise ConfigError(
            "the store's URL names no service; write redis+sentinel://host:port/service/db"
        )
    of_server = ("db", "client_name")
    sentinel = {name: value for name, value in options.items() if name not in of_server}
    sentinel |= sentinel_login
    return StoreUrl(
        "sentinel", keys, seconds, hosts, options, service=service, sentinel_options=sentinel
    )


def _host(name: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{name}")
    if not parts.hostname:
        raise ConfigError("a host's name is missing in the store's URL; write host:port,host:port")
    return parts.hostname, _port(parts, default_port)


def _port(parts: SplitResult, default: int) -> int:
    try:
        return parts.port or default
    except ValueError:
        # A password with a slash in it ends the host here: the message covers that, too.
        raise ConfigError(
            "the port in the store's URL is not a number from 1 to 65535; write "
            "redis://user:password@host:6379/0 with the special characters of the password "
            "percent-encoded"
        ) from None
