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
from sayso_bots.mcp.asking import Client, ServerGoneError
from sayso_bots.mcp.calls import CLIENT_KEY, client_of, is_modern
from sayso_bots.mcp.messages import HEADER_MISMATCH, Message, NotAMessageError
from sayso_bots.mcp.peers import NoSessionError, Side, Sides, TooManyError, principal_of
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.mcp.servers.headers import NAME, decoded, headers_of
from sayso_bots.mcp.words import MCP_WORDS

PATH = "/mcp"

_LOOK_SECONDS = 0.5
# An answer that takes longer becomes a stream: what stands between sees that something comes.
_STREAM_SECONDS = 5.0
_STREAM = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class Front:
    """Takes the requests of clients over HTTP.

    ``token`` is what they must bring, where there is one; ``names`` are those under which
    this server is reached, which keeps pages of a browser out that found another one for it.
    """

    def __init__(self, proxy: Proxy, sides: Sides, *, token: str, names: Collection[str]) -> None:
        self._proxy = proxy
        self._sides = sides
        self._token = token
        self._names = frozenset(name.casefold() for name in names)
        self._background = Background("calls of MCP clients")

    def routes(self) -> list[web.RouteDef]:
        """The endpoint."""
        return [
            web.post(PATH, self._post),
            web.get(PATH, self._get),
            web.delete(PATH, self._delete),
        ]

    async def finish(self) -> None:
        """Give up what waits. Its questions stay open: whoever calls again finds them."""
        await self._background.cancel()

    async def _post(self, request: web.Request) -> web.StreamResponse:
        headers = self._admitted(request)
        try:
            message = messages.read(await request.read())
            _check_headers(message, headers)
            side = await self._sides.side(message, headers)
        except NotAMessageError as error:
            return _failed(400, error.id, error.code, str(error))
        except NoSessionError:
            return _failed(404, "null", messages.INVALID_REQUEST, "Session not found")
        except TooManyError:
            return _failed(503, "null", messages.INTERNAL_ERROR, "Too many sessions")
        except ServerGoneError as error:
            return _failed(502, "null", messages.INTERNAL_ERROR, f"The server is away: {error}")
        client = self._client(message, headers, side)
        if message.kind == "request":
            return await _Answering(self._proxy, request, message, client, side).answer(
                self._background
            )
        try:
            await self._proxy.take(message, client, side.server)
        except ServerGoneError as error:
            return _failed(502, "null", messages.INTERNAL_ERROR, f"The server is away: {error}")
        return web.Response(status=202)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        headers = self._admitted(request)
        response = web.StreamResponse(headers=_STREAM)

        async def tell(line: bytes) -> None:
            await response.write(_event(line))

        if "Mcp-Session-Id" not in headers:
            return web.Response(status=405)
        await response.prepare(request)
        listening = asyncio.create_task(self._sides.listen(headers, tell))
        try:
            while not listening.done() and not _is_gone(request):
                await asyncio.wait({listening}, timeout=_LOOK_SECONDS)
        finally:
            listening.cancel()
            await asyncio.wait({listening})
        return response

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        headers = self._admitted(request)
        self._proxy.withdraw(headers.get("Mcp-Session-Id", "-"))
        return web.Response(status=204 if await self._sides.leave(headers) else 404)

    def _admitted(self, request: web.Request) -> Mapping[str, str]:
        """The headers of a request that may come in, without what proves that to us."""
        host = _host_in(f"//{request.host}")
        origin = request.headers.get("Origin")
        came = None if origin is None else _host_in(origin)
        if self._names and (host not in self._names or came not in (None, *self._names)):
            raise web.HTTPForbidden(text=MCP_WORDS.strange_name)
        headers = request.headers.copy()
        if self._token:
            brought = headers.pop("Authorization", "")
            # Bytes that are not UTF-8 come as lone surrogates.
            given = brought.encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
                raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})
        return headers

    def _client(self, message: Message, headers: Mapping[str, str], side: Side) -> Client:
        """Who sends a message. One without a session can withdraw nothing but by leaving."""
        name = client_of(message.meta.get(CLIENT_KEY))
        if message.method == "initialize":
            name = client_of((message.params or {}).get("clientInfo"))
        return Client(side.session or new_id(), principal_of(headers), name)


class _Answering:
    """The answer to one request, which becomes a stream when something comes before its end."""

    def __init__(
        self, proxy: Proxy, request: web.Request, message: Message, client: Client, side: Side
    ) -> None:
        self._proxy = proxy
        self._request = request
        self._message = message
        self._client = client
        self._side = side
        self._stream: web.StreamResponse | None = None

    async def answer(self, background: Background) -> web.StreamResponse:
        """Wait for it, for as long as the client does."""
        work = background.start(
            self._proxy.request(self._message, self._client, self._side.server, self._tell)
        )
        waited = 0.0
        while not work.done():
            await asyncio.wait({work}, timeout=_LOOK_SECONDS)
            waited += _LOOK_SECONDS
            if work.done():
                break
            if _is_gone(self._request):
                self._left(work)
                break
            if waited % _STREAM_SECONDS == 0 and self._takes_streams:
                await self._write(b": waiting\n\n")
        answered = work.done() and not work.cancelled()
        return await self._ended(work.result() if answered else None)

    def _left(self, work: asyncio.Task[bytes | None]) -> None:
        """The client has gone: to newer ones that withdraws a call, older ones may come back."""
        where, id_ = self._client.connection, self._message.id
        if is_modern(self._message):
            self._proxy.withdraw(where, id_)
        elif self._proxy.waits(where, id_):
            work.cancel()

    async def _tell(self, line: bytes) -> None:
        if self._takes_streams and not _is_gone(self._request):
            await self._write(_event(line))

    async def _write(self, part: bytes) -> None:
        """Write to the stream; that the client has gone is seen where that is looked for."""
        with suppress(ConnectionError):
            await (await self._streaming()).write(part)

    async def _streaming(self) -> web.StreamResponse:
        if self._stream is None:
            self._stream = web.StreamResponse(headers={**_STREAM, **self._side.headers})
            await self._stream.prepare(self._request)
        return self._stream

    async def _ended(self, said: bytes | None) -> web.StreamResponse:
        if self._stream is None:
            if said is None:
                return web.Response(status=202)
            status, headers = self._side.status, self._side.headers
            return web.Response(
                status=status, body=said, content_type="application/json", headers=headers
            )
        if said is not None:
            await self._write(_event(said))
        return self._stream

    @property
    def _takes_streams(self) -> bool:
        return "text/event-stream" in self._request.headers.get("Accept", "")


def _host_in(address: str) -> str:
    """The name of a host; empty, which is nobody's name, where an address has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _check_headers(message: Message, headers: Mapping[str, str]) -> None:
    """Refuse a message whose headers say something else: a server may go by them.

    Raises:
        NotAMessageError: they do.
    """
    id_ = message.id or "null"
    for name, value in headers_of(message).items():
        told = headers.get(name, "")
        if (decoded(told) if name == NAME else told) != (decoded(value) if name == NAME else value):
            raise NotAMessageError(
                f"the header {name} is not that of the body", HEADER_MISMATCH, id_
            )
    if not is_modern(message) and ("Mcp-Method" in headers or NAME in headers):
        raise NotAMessageError("its headers are of another revision", HEADER_MISMATCH, id_)


def _is_gone(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


def _event(line: bytes) -> bytes:
    return b"event: message\ndata: " + line + b"\n\n"


def _failed(status: int, id_: str, code: int, why: str) -> web.Response:
    body = messages.failure(id_, code, on_one_line(why))
    return web.Response(status=status, body=body, content_type="application/json")
