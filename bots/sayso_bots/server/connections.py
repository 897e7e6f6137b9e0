"""Connections of the web server: no more than there is room for, none for longer than it takes."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from aiohttp import ClientConnectionResetError, StreamReader, web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError

from sayso.seldom import Seldom
from sayso_bots.api.problems import ApiProblem
from sayso_bots.process.sources import Shares, Sources, is_gone, source_of

_log = logging.getLogger(__name__)

# An idle connection is closed after so long; proxies close theirs after 60 s.
_IDLE_SECONDS = 75.0
_CONTINUE = "100-continue"
_LATE = "a call did not arrive in time"
_NO_ROOM = ApiProblem(
    503, "TooManyConnections", "there is no room for another connection now; try again later"
)


class TooSlow(ApiProblem):
    """A call that was not finished in time."""

    def __init__(self) -> None:
        detail = "the call did not arrive in time; send it again, whole"
        super().__init__(408, "TooSlow", detail)


# The caller's doing: it wrote what is no HTTP, took too long, or went away.
_THEIRS = (HttpProcessingError, web.RequestPayloadError, ClientConnectionResetError, ApiProblem)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a caller may take, in seconds.

    ``call`` is for all headers, and once more for the whole body, however
    little arrives at a time. ``answer`` is how long it may leave an answer
    unread.
    """

    call: float = 10.0
    answer: float = 60.0


class Connection(web.RequestHandler):
    """A connection that is given up when a call is not finished in time.

    Errors are told as problem documents. What could not be parsed is quoted
    neither in the answer nor in the log: it may hold a token. Errors of our
    own are logged with their trace, the caller's are counted.
    """

    __slots__ = ("_begun", "_left", "_patience", "_reading", "_told", "_unread", "gone")

    def __init__(
        self,
        server: web.Server,
        loop: asyncio.AbstractEventLoop,
        *,
        patience: Patience,
        told: Callable[[str], None],
        left: Callable[[], None],
    ) -> None:
        # No access log: its lines would hold addresses that are nobody's business.
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # None turns it off
            keepalive_timeout=_IDLE_SECONDS,
            auto_decompress=False,
        )
        if (answered := self._request_handler) is not None:
            self._request_handler = partial(_as_expected, answered)
        self._patience = patience
        self._told = told
        self._left = left
        self._begun = False
        self.gone = asyncio.Event()
        self._reading: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first call, not for ever."""
        super().connection_made(transport)
        self._read_within(self._give_up_headers)

    def data_received(self, data: bytes) -> None:
        """Read on, and see that what has begun is finished in time."""
        before, self._begun = self._request_count, True
        super().data_received(data)
        if self._request_count > before:
            self._headers_are_here()
        elif self._reading is None and self._waiter is not None and not self._waiter.done():
            self._read_within(self._give_up_headers)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Nothing is waited for any more."""
        super().connection_lost(exc)
        self._no_longer_reading()
        self.gone.set()
        self._is_read()
        self._left()

    def pause_writing(self) -> None:
        """The caller does not read: what is written waits, for a while."""
        super().pause_writing()
        if self._unread is None and isinstance(self.transport, asyncio.Transport):
            self._unread = self._loop.call_later(self._patience.answer, self.transport.abort)

    def resume_writing(self) -> None:
        """The caller reads again."""
        super().resume_writing()
        self._is_read()

    async def start(self) -> None:
        """Answer calls; what is not read of the last answer is dropped in time."""
        transport = self.transport
        try:
            await super().start()
        finally:
            if isinstance(transport, asyncio.Transport) and transport.get_write_buffer_size():
                self._loop.call_later(self._patience.answer, transport.abort)

    def _headers_are_here(self) -> None:
        self._no_longer_reading()
        body = self._messages[-1][1] if self._messages else None
        if isinstance(body, StreamReader) and not body.is_eof():
            self._read_within(lambda: self._give_up_body(body))
            body.on_eof(self._no_longer_reading)

    def _give_up_headers(self) -> None:
        if self._begun and isinstance(self.transport, asyncio.Transport):
            self._told(_LATE)
            self.transport.write(_written(TooSlow()))
        self.force_close()

    def _give_up_body(self, body: StreamReader) -> None:
        """Whoever waits for the body hears of it, and answers so."""
        self._told(_LATE)
        body.set_exception(TooSlow())

    def _read_within(self, late: Callable[[], None]) -> None:
        self._no_longer_reading()
        self._reading = self._loop.call_later(self._patience.call, late)

    def _no_longer_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log an error, only the kind of one that quotes what was sent."""
        error = kw.get("exc_info")
        if self._is_theirs(error):
            if not isinstance(error, TooSlow):  # that was said when its time was over
                self._told(f"a call cannot be read: {type(error).__name__}")
        else:
            super().log_exception(*args, **kw)

    def _is_theirs(self, error: BaseException | None) -> bool:
        gone = isinstance(error, ConnectionError) and is_gone(self.transport)
        return gone or isinstance(error, _THEIRS)

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
        if isinstance(exc, ApiProblem):
            problem = exc
        elif status == 500 and not self._is_theirs(exc):
            problem = ApiProblem(
                status, "Failed", "this is a fault of the server; its log says why"
            )
        else:
            problem = ApiProblem(400, "InvalidHttp", "this is not HTTP that this server can read")
        response = _identified(problem)
        response.force_close()
        return response


def _identified(problem: ApiProblem) -> web.Response:
    """The answer to what reached no endpoint; it has an id, as some endpoints promise."""
    response = problem.response()
    response.headers["X-Request-ID"] = str(uuid4())
    return response


async def _as_expected(
    answered: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], request: web.BaseRequest
) -> web.StreamResponse:
    """The answer, unless the caller expects what nobody can: aiohttp would quote it, and break."""
    if request.headers.get("Expect", _CONTINUE).lower() != _CONTINUE:
        detail = f"the only expectation that is known here is {_CONTINUE}"
        return _identified(ApiProblem(417, "UnknownExpectation", detail))
    return await answered(request)


class _Arriving(asyncio.Protocol):
    """A connection that nobody has looked at: it is taken, or told that there is no room."""

    def __init__(self, arrived: Callable[[asyncio.Transport], asyncio.Protocol | None]) -> None:
        self._arrived = arrived

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a web server has streams")
        if (taken := self._arrived(transport)) is None:
            transport.write(_written(_NO_ROOM))
            transport.close()
        else:
            transport.set_protocol(taken)
            taken.connection_made(transport)


class Connections:
    """Makes the connections of a server.

    There are ``most`` at once, and no source has more than its share; further ones are closed.
    """

    def __init__(
        self, server: web.Server, *, most: int, shares: Shares, patience: Patience
    ) -> None:
        self._server = server
        self._most = most
        self._shares = shares
        self._sources = Sources(shares)
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._refused = Seldom(_log)
        self._told = Seldom(_log, level=logging.INFO)

    def __call__(self) -> asyncio.Protocol:
        """What a connection is at first."""
        return _Arriving(self._arrived)

    def _arrived(self, transport: asyncio.Transport) -> Connection | None:
        if len(self._server.connections) >= self._most:
            self._refused.say(f"more than {self._most} connections; further ones are closed")
            return None
        source = _source(transport)
        if source and not self._sources.enter(source):
            most = self._shares.most(source)
            self._refused.say(
                f"more than {most} connections of one source; further ones are closed, see "
                "server.connections_per_source",
                source,
            )
            return None

        def left() -> None:
            if source:
                self._sources.leave(source)

        def told(text: str) -> None:
            self._told.say(text, source)

        return Connection(self._server, self._loop, patience=self._patience, told=told, left=left)


@contextmanager
def quiet_accepting(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Say once a minute that no connection can be accepted, and not each time."""
    before = loop.get_exception_handler()
    no_files = Seldom(_log)

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if str(context.get("message", "")).startswith("socket.accept() out of system resource"):
            no_files.say("no connection can be accepted: too many open files; raise `ulimit -n`")
        elif before is not None:
            before(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)


def _source(transport: asyncio.BaseTransport | None) -> str:
    """Who is at the other end; nobody in particular where a socket is a file."""
    peer = None if transport is None else transport.get_extra_info("peername")
    return source_of(str(peer[0])) if isinstance(peer, tuple) and peer else ""


def _written(problem: ApiProblem) -> bytes:
    """A problem as an answer, for a connection that nobody answers calls on."""
    body = json.dumps(problem.document).encode()
    reason = {408: "Request Timeout", 503: "Service Unavailable"}[problem.status]
    head = (
        f"HTTP/1.1 {problem.status} {reason}\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
