"""Bots that start while the store is away: they wait for it, say so, and answer health checks."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import timedelta

from aiohttp import web

from sayso.durations import duration_text
from sayso.errors import ConfigError, StoreUnreachableError
from sayso.platforms.bot import Finding
from sayso.stores.backend import Backend
from sayso_bots.api.problems import ApiProblem
from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.server.checks import look_at_store
from sayso_bots.server.health import alive, readiness
from sayso_bots.server.webserver import answering

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_SAY_SECONDS = 5.0
# Then it ends, so that whatever started it sees that something is wrong, and starts it again.
_GIVE_UP_SECONDS = 300.0


async def wait_for_store(
    backend: Backend,
    store: StoreSettings,
    sockets: Sequence[socket.socket],
    *,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Finding:
    """Wait until the store answers, and return what is to be said of it.

    Until then the sockets answer that the process is alive and not ready, and
    everything else is to come again.

    Raises:
        ConfigError: the settings take it for another one than it is.
        StoreUnreachableError: it did not answer for five minutes.
    """
    since, said = clock(), float("-inf")
    async with AsyncExitStack() as stack:
        while (found := await look_at_store(backend, store)).level == "failed":
            if not found.passing:
                raise ConfigError(found.text)
            now = clock()
            left = since + _GIVE_UP_SECONDS - now
            if left <= 0:
                raise StoreUnreachableError(found.text)
            if said == float("-inf"):
                await stack.enter_async_context(_not_ready(sockets, found.text))
            if now - said >= _SAY_SECONDS:
                how_long = duration_text(timedelta(seconds=left))
                _log.warning("%s; waiting for it, for %s more", found.text, how_long)
                said = now
            await pause(min(_LOOK_SECONDS, left))
    return found


def _not_ready(sockets: Sequence[socket.socket], problem: str) -> AbstractAsyncContextManager[None]:
    """A server on the same sockets, which are still there when it has stopped."""

    async def ready(_: web.Request) -> web.Response:
        return readiness({"store": problem}, is_ready=False)

    routes = [
        web.get("/healthz", alive),
        web.get("/readyz", ready),
        web.route("*", "/{rest:.*}", _come_again),
    ]
    return answering([taken.dup() for taken in sockets], routes)


async def _come_again(_: web.Request) -> web.Response:
    detail = "the store does not answer yet; nothing was done"
    return ApiProblem(503, "StoreUnreachable", detail, headers={"Retry-After": "5"}).response()
