"""Connections of the web server: no more than there is room for, and nothing of them in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import ClientConnectionResetError, web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError

from sayso_bots.api.problems import ApiProblem

_log = logging.getLogger(__name__)

# An idle connection is closed after so long; proxies close theirs after 60 s.
_IDLE_SECONDS = 75.0
_SAY_AGAIN_SECONDS = 60.0
_NO_ROOM = ApiProblem(
    503, "TooManyConnections", "there is no room for another connection now; try again later"
)


# The caller's doing: it wrote what is no HTTP, or went away.
_THEIRS = (HttpProcessingError, web.RequestPayloadError, ClientConnectionResetError)


class Connection(web.RequestHandler):
    """A connection whose errors are told as problem documents.

    What could not be parsed is quoted neither in the answer nor in the log: it
    may hold a token. Errors of our own are logged with their trace.
    """

    __slots__ = ()

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        # No access log: its lines would hold addresses that are nobody's business.
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # None turns it off
            keepalive_timeout=_IDLE_SECONDS,
            auto_decompress=False,
        )

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log an error, only the kind of one that quotes what was sent."""
        error = kw.get("exc_info")
        if isinstance(error, _THEIRS):
            _log.info("a call cannot be read: %s", type(error).__name__)
        else:
            super().log_exception(*args, **kw)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002  it quotes what was sent
    ) -> web.StreamResponse:
        """The answer to what could not be read, or was not answered."""
        if not isinstance(exc, BadHttpMethod):  # whoever speaks TLS here, and many who only look
            self.log_exception("a call failed", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("an answer was begun already")
        if status == 500 and not isinstance(exc, _THEIRS):
            problem = ApiProblem(
                status, "Failed", "this is a fault of the server; its log says why"
            )
        else:
            problem = ApiProblem(400, "InvalidHttp", "this is not HTTP that this server can read")
        response = problem.response()
        response.force_close()
        return response


class _Turned(asyncio.Protocol):
    """A connection for which there is no room: it is told so and closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.write(_turned_away())
            transport.close()


def connections(
    server: web.Server, most: int, loop: asyncio.AbstractEventLoop
) -> Callable[[], asyncio.Protocol]:
    """Makes connections, so many at once at most; further ones are closed at once."""
    refused = _Seldom("more than %d connections; further ones are closed", most)

    def connection() -> asyncio.Protocol:
        if len(server.connections) < most:
            return Connection(server, loop)
        refused.say()
        return _Turned()

    return connection


@contextmanager
def quiet_accepting(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Say once a minute that no connection can be accepted, and not each time."""
    before = loop.get_exception_handler()
    no_files = _Seldom("no connection can be accepted: too many open files; raise `ulimit -n`")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if str(context.get("message", "")).startswith("socket.accept() out of system resource"):
            no_files.say()
        elif before is not None:
            before(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)


class _Seldom:
    """A warning that is not repeated for a minute."""

    def __init__(self, text: str, *arguments: object) -> None:
        self._text = text
        self._arguments = arguments
        self._not_before = float("-inf")

    def say(self) -> None:
        if time.monotonic() >= self._not_before:
            self._not_before = time.monotonic() + _SAY_AGAIN_SECONDS
            _log.warning(self._text, *self._arguments)


def _turned_away() -> bytes:
    body = json.dumps(_NO_ROOM.document).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
