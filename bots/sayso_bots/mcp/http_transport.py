"""Clients over HTTP: one endpoint, each message a POST, its answer as JSON or as a stream."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Collection, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from aiohttp import web

from sayso.calls import new_id
from sayso.tasks import Background
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Client, ServerGoneError
from sayso_bots.mcp.messages import CLIENT_KEY, HEADER_MISMATCH, Message, client_of, is_modern
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.mcp.upstreams import (
    Connection,
    NoSessionError,
    TooManySessionsError,
    Upstream,
    identify_principal,
)
from sayso_bots.mcp.web import NAME, SESSION, decoded, headers_of
from sayso_bots.strict_json import MalformedMessageError

PATH = "/mcp"

# An answer that takes longer becomes a stream: what stands between sees that something comes.
_STREAM_SECONDS = 5.0
_STREAM = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class HttpTransport:
    """Takes the requests of clients over HTTP; a handler is cancelled when its client leaves.

    Args:
        proxy: answers them.
        upstream: the server behind.
        token: what clients must bring; empty for nothing.
        names: those under which this server is reached, which keeps pages of a browser out that
            found another one for it.
    """

    def __init__(
        self, proxy: Proxy, upstream: Upstream, *, token: str, names: Collection[str]
    ) -> None:
        self._proxy = proxy
        self._upstream = upstream
        self._token = token
        self._names = frozenset(name.casefold() for name in names)
        self._background = Background("calls of MCP clients")

    def routes(self) -> list[web.RouteDef]:
        """Return the endpoint."""
        return [
            web.post(PATH, self._post),
            web.get(PATH, self._get),
            web.delete(PATH, self._delete),
        ]

    async def finish(self) -> None:
        """Give up what waits. Its questions stay open: whoever calls again finds them."""
        await self._background.cancel()

    async def _post(self, request: web.Request) -> web.StreamResponse:
        headers = self._admit(request)
        try:
            message = messages.read(await request.read())
            _check_headers(message, headers)
            async with self._upstream.connect(message, headers) as connection:
                return await self._take(request, message, headers, connection)
        except MalformedMessageError as error:
            return _fail(400, error.id, error.code, str(error))
        except NoSessionError:
            return _fail(404, "null", messages.INVALID_REQUEST, "Session not found")
        except TooManySessionsError:
            return _fail(503, "null", messages.INTERNAL_ERROR, "All sessions are in use")
        except ServerGoneError as error:
            return _fail(502, "null", messages.INTERNAL_ERROR, f"The server is away: {error}")

    async def _take(
        self,
        request: web.Request,
        message: Message,
        headers: Mapping[str, str],
        connection: Connection,
    ) -> web.StreamResponse:
        name = client_of(message.meta.get(CLIENT_KEY))
        if message.method == "initialize":
            name = client_of((message.params or {}).get("clientInfo"))
        # One without a session can withdraw nothing but by leaving.
        client = Client(connection.session or new_id(), identify_principal(headers), name)
        if message.kind == "request":
            return await self._answer(request, message, client, connection)
        await self._proxy.take(message, client, connection.server)
        return web.Response(status=202)

    async def _answer(
        self, request: web.Request, message: Message, client: Client, connection: Connection
    ) -> web.StreamResponse:
        reply = _Reply(request, connection)
        work = self._background.start(
            self._proxy.request(message, client, connection.server, reply.tell)
        )
        try:
            while not (await asyncio.wait({work}, timeout=_STREAM_SECONDS))[0]:
                await reply.keep_alive()
        except asyncio.CancelledError:
            # To newer clients to leave is to withdraw a call, older ones may come back.
            if is_modern(message):
                self._proxy.withdraw(client.connection, message.id)
            elif self._proxy.waits(client.connection, message.id):
                work.cancel()
            raise
        return await reply.end(None if work.cancelled() else work.result())

    async def _get(self, request: web.Request) -> web.StreamResponse:
        headers = self._admit(request)
        if SESSION not in headers:
            return web.Response(status=405)
        response = web.StreamResponse(headers=_STREAM)
        await response.prepare(request)

        async def tell(line: bytes) -> None:
            await response.write(_event(line))

        await self._upstream.listen(headers, tell)
        return response

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        headers = self._admit(request)
        self._proxy.withdraw(headers.get(SESSION, "-"))
        return web.Response(status=204 if await self._upstream.end_session(headers) else 404)

    def _admit(self, request: web.Request) -> Mapping[str, str]:
        """Return the headers of a request that may come in, without what proves that to us."""
        host = _host_in(f"//{request.host}")
        origin = request.headers.get("Origin")
        came = None if origin is None else _host_in(origin)
        if self._names and (host not in self._names or came not in (None, *self._names)):
            raise web.HTTPForbidden(
                text=(
                    "Not reached under this Host, or not from this Origin. Name the host with "
                    "--name where sayso is started.\n"
                )
            )
        headers = request.headers.copy()
        if self._token:
            brought = headers.pop("Authorization", "")
            # Bytes that are not UTF-8 come as lone surrogates.
            given = brought.encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
                raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})
        return headers


class _Reply:
    """The reply to one request, which becomes a stream when something comes before its end."""

    def __init__(self, request: web.Request, connection: Connection) -> None:
        self._request = request
        self._connection = connection
        self._takes_streams = "text/event-stream" in request.headers.get("Accept", "")
        self._stream: web.StreamResponse | None = None

    async def tell(self, line: bytes) -> None:
        """Write a message that comes before the answer."""
        await self._write(_event(line))

    async def keep_alive(self) -> None:
        """Show whatever stands between that something comes."""
        await self._write(b": waiting\n\n")

    async def end(self, answer: bytes | None) -> web.StreamResponse:
        """Write the answer; None where nobody wants it any more."""
        if self._stream is not None:
            if answer is not None:
                await self._write(_event(answer))
            return self._stream
        if answer is None:
            return web.Response(status=202)
        return web.Response(
            status=self._connection.status,
            body=answer,
            content_type="application/json",
            headers=self._connection.headers,
        )

    async def _write(self, part: bytes) -> None:
        """Write to the stream; a client that has gone is no error here."""
        if not self._takes_streams:
            return
        with suppress(ConnectionError):
            if self._stream is None:
                self._stream = web.StreamResponse(headers={**_STREAM, **self._connection.headers})
                await self._stream.prepare(self._request)
            await self._stream.write(part)


def _host_in(address: str) -> str:
    """Return the name of a host; empty, which is nobody's name, where an address has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _check_headers(message: Message, headers: Mapping[str, str]) -> None:
    """Refuse a message whose headers say something else: a server may go by them.

    Raises:
        MalformedMessageError: they do.
    """
    id_ = message.id or "null"
    for name, value in headers_of(message).items():
        told = headers.get(name, "")
        if (decoded(told) if name == NAME else told) != (decoded(value) if name == NAME else value):
            raise MalformedMessageError(
                f"the header {name} is not that of the body", HEADER_MISMATCH, id_
            )
    if not is_modern(message) and ("Mcp-Method" in headers or NAME in headers):
        raise MalformedMessageError("its headers are of another revision", HEADER_MISMATCH, id_)


def _event(line: bytes) -> bytes:
    return b"event: message\ndata: " + line + b"\n\n"


def _fail(status: int, id_: str, code: int, why: str) -> web.Response:
    body = messages.failure(id_, code, on_one_line(why))
    return web.Response(status=status, body=body, content_type="application/json")
