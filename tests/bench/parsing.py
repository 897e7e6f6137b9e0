"""HTTP at its cheapest in Python: a parser in C on a bare connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httptools


class HttpProtocol(asyncio.Protocol):
    """One connection; ``requested`` is called with this for each whole request."""

    def __init__(self, requested: Callable[[HttpProtocol], None]) -> None:
        self._requested = requested
        self._parser = httptools.HttpRequestParser(self)
        self.path = ""
        self.headers: dict[bytes, bytes] = {}
        self.body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.headers = {}
        self.body = b""

    def on_url(self, url: bytes) -> None:
        self.path = url.decode()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self._requested(self)

    def answer(self, body: bytes = b"", kind: str = "text/plain", status: str = "200 OK") -> None:
        """Send a whole answer."""
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)  # type: ignore[attr-defined]
