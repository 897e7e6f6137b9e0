"""Limits of the web server's connections: how many there are, and how long a call may take."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from aiohttp import ClientConnectionResetError, web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError

from sayso.seldom import Seldom
from sayso_bots.api.problems import ApiProblem
from sayso_bots.process.sources import Shares, Sources, is_gone, source_of

_log = logging.getLogger(__name__)

# An idle connection is closed after so long; proxies close theirs after 60 s.
_IDLE_SECONDS = 75.0
_CONTINUE = "100-continue"
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
class CallTimeouts:
    """Seconds that a caller may take.

    ``call`` is for all headers, and once more for the whole body, however
    little arrives at a time. ``answer`` is how long it may leave an answer
    unread.
    """

    call: float = 10.0
    answer: float = 60.0


class ConnectionLimits:
    """Make the connections of a server: at most ``most``, and of each source at most its share."""

    def __init__(
        self, server: web.Server, *, most: int, shares: Shares, timeouts: CallTimeouts
    ) -> None:
        self.timeouts = timeouts
        self._server = server
        self._most = most
        self._shares = shares
        self._sources = Sources(shares)
        self._count = 0
        self._refused = Seldom(_log)
        self._trouble = Seldom(_log, level=logging.INFO)
        self._handle_request = server.request_handler
        server.request_handler = self._handle_in_time

    def __call__(self) -> asyncio.Protocol:
        """Make the protocol of one connection."""
        return _Connection(self, self._server)

    def admit(self, source: str) -> bool:
        """Count one more connection of the source, or say why there is no room for it."""
        if self._count >= self._most:
            self._refused.say(f"more than {self._most} connections; further ones are closed")
            return False
        if source and not self._sources.enter(source):
            self._refused.say(
                f"more than {self._shares.most(source)} connections of one source; further ones "
                "are closed, see server.connections_per_source",
                source,
            )
            return False
        self._count += 1
        return True

    def release(self, source: str) -> None:
        """Count a connection no more that was admitted."""
        self._count -= 1
        if source:
            self._sources.leave(source)

    def log_trouble(self, text: str, source: str) -> None:
        """Log what a caller did wrong: once a minute, with a count."""
        self._trouble.say(text, source)

    def log_late(self, source: str) -> None:
        """Log that a call did not arrive in time."""
        self.log_trouble("a call did not arrive in time", source)

    async def _handle_in_time(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a call; whoever waits too long for its body gets ``TooSlow``."""
        if request.headers.get("Expect", _CONTINUE).lower() != _CONTINUE:
            # aiohttp would quote it, and break.
            detail = f"the only expectation that is known here is {_CONTINUE}"
            return _respond(ApiProblem(417, "UnknownExpectation", detail))
        body = request.content
        if not body.is_eof():

            def give_up() -> None:
                self.log_late(_source(request.transport))
                body.set_exception(TooSlow())

            timer = asyncio.get_running_loop().call_later(self.timeouts.call, give_up)
            body.on_eof(timer.cancel)
            try:
                return await self._handle_request(request)
            finally:
                timer.cancel()
        return await self._handle_request(request)


class _Connection(web.RequestHandler):
    """A connection that is given up when a call is not finished in time.

    Errors are told as problem documents. What could not be parsed is quoted
    neither in the answer nor in the log: it may hold a token. Errors of our
    own are logged with their trace, the caller's are counted.
    """

    __slots__ = (
        "_has_begun",
        "_headers_timer",
        "_is_admitted",
        "_limits",
        "_source",
        "_unread",
        "gone",
    )

    def __init__(self, limits: ConnectionLimits, server: web.Server) -> None:
        # No access log: its lines would hold addresses that are nobody's business.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None turns it off
            keepalive_timeout=_IDLE_SECONDS,
            auto_decompress=False,
        )
        self.gone = asyncio.Event()  # see sayso_bots.process.sources
        self._limits = limits
        self._source = ""
        self._is_admitted = self._has_begun = False
        self._headers_timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first call, not for ever; or say that there is no room."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a web server has streams")
        self._source = _source(transport)
        self._is_admitted = self._limits.admit(self._source)
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # `pause_writing` at the first byte left unread
        if self._is_admitted:
            self._start_headers_timer()
        else:
            transport.write(_to_bytes(_NO_ROOM))
            transport.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self.gone.set()
        self._stop_headers_timer()
        self._stop_unread_timer()
        if self._is_admitted:
            self._limits.release(self._source)

    def data_received(self, data: bytes) -> None:
        """Read on, and see that headers that have begun are finished in time."""
        before, self._has_begun = self._request_count, True
        super().data_received(data)
        if self._request_count > before:
            self._stop_headers_timer()
        elif self._headers_timer is None and self._waiter is not None and not self._waiter.done():
            self._start_headers_timer()

    def pause_writing(self) -> None:
        """Give the caller some time to read what is written."""
        super().pause_writing()
        if isinstance(self.transport, asyncio.Transport):
            self._unread = self._loop.call_later(self._limits.timeouts.answer, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the caller reads again."""
        super().resume_writing()
        self._stop_unread_timer()

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log an error; of the caller's only its kind, as it may quote what was sent."""
        error = kw.get("exc_info")
        if not self._is_theirs(error):
            super().log_exception(*args, **kw)
        elif not isinstance(error, TooSlow):  # that was logged when its time was over
            self._limits.log_trouble(f"a call cannot be read: {type(error).__name__}", self._source)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002  it quotes what was sent
    ) -> web.StreamResponse:
        """Answer what could not be read, or what failed."""
        if not isinstance(exc, BadHttpMethod):  # whoever speaks TLS here, and many who only look
            self.log_exception("a call failed", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("an answer was begun already")
        if isinstance(exc, ApiProblem):
            problem = exc
        elif status == 500 and not self._is_theirs(exc):
            detail = "this is a fault of the server; its log says why"
            problem = ApiProblem(status, "Failed", detail)
        else:
            problem = ApiProblem(400, "InvalidHttp", "this is not HTTP that this server can read")
        response = _respond(problem)
        response.force_close()
        return response

    def _is_theirs(self, error: BaseException | None) -> bool:
        gone = isinstance(error, ConnectionError) and is_gone(self.transport)
        return gone or isinstance(error, _THEIRS)

    def _give_up_headers(self) -> None:
        if self._has_begun and isinstance(self.transport, asyncio.Transport):
            self._limits.log_late(self._source)
            self.transport.write(_to_bytes(TooSlow()))
        self.force_close()

    def _start_headers_timer(self) -> None:
        seconds = self._limits.timeouts.call
        self._headers_timer = self._loop.call_later(seconds, self._give_up_headers)

    def _stop_headers_timer(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None

    def _stop_unread_timer(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


@contextmanager
def quiet_accepting(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Log once a minute that no connection can be accepted, and not each time."""
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
    """Name who is at the other end; nobody in particular where a socket is a file."""
    peer = None if transport is None else transport.get_extra_info("peername")
    return source_of(str(peer[0])) if isinstance(peer, tuple) and peer else ""


def _respond(problem: ApiProblem) -> web.Response:
    """Answer what reached no endpoint, with an id, as some endpoints promise."""
    response = problem.response()
    response.headers["X-Request-ID"] = str(uuid4())
    return response


def _to_bytes(problem: ApiProblem) -> bytes:
    """Write a problem as an answer, for a connection that nobody answers calls on."""
    body = json.dumps(problem.document).encode()
    reason = {408: "Request Timeout", 503: "Service Unavailable"}[problem.status]
    head = (
        f"HTTP/1.1 {problem.status} {reason}\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
