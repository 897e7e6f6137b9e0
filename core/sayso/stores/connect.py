"""From a store's URL to a backend."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from sayso.errors import ConfigError
from sayso.stores.backend import Backend

_REDIS = frozenset(
    {
        "redis",
        "rediss",
        "unix",
        "redis+sentinel",
        "rediss+sentinel",
        "redis+cluster",
        "rediss+cluster",
    }
)
STORES = frozenset({"memory"}) | _REDIS
"""The kinds of store: what a URL may begin with."""


def open_store(url: str) -> AbstractAsyncContextManager[Backend]:
    """The backend at a URL, for an ``async with`` block that closes it.

    ``memory://`` lives and ends with the block. ``redis://``, ``rediss://``,
    ``unix://``, ``redis+sentinel://`` and ``redis+cluster://`` need the ``redis``
    extra. No connection is made before the first use.

    Raises:
        ConfigError: the URL is not of a known kind, or the extra is missing.
    """
    # Without ://, what stands before an @ may be a password.
    scheme = url.partition("://")[0] if "://" in url else url.rpartition("@")[2]
    if scheme == "memory":
        from sayso.stores.memory import memory_backend

        return memory_backend()
    if scheme not in _REDIS:
        raise ConfigError(
            f"the store's URL begins with {scheme[:20]!r}; use redis://host:port/db or memory://"
        )
    try:
        # Only a process that uses Redis pays for its client.
        from sayso.stores.redis import read_url, redis_backend
    except ImportError as error:
        raise ConfigError(
            f"{scheme}:// needs the client for Redis: install Sayso with its extra `redis`, "
            "from where you got it"
        ) from error
    read_url(url)  # at once, and not where it is opened
    return redis_backend(url)


def check_url(url: str) -> None:
    """Find what is wrong with a store's URL as far as that needs no connection.

    Raises:
        ConfigError: as for ``open_store``.
    """
    if not isinstance(url, str):
        raise ConfigError(f"a store's URL is a text such as redis://host:port/db, not {url!r:.60}")
    open_store(url)
