"""A server at an address: streamable HTTP in each revision, and its headers."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from sayso_bots import exact
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import ServerGoneError, Tell
from sayso_bots.mcp.messages import CALL, MOST_BYTES, VERSION_KEY, Message, is_modern
from sayso_bots.mcp.stdio import answered

VERSION, METHOD, NAME = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
SESSION = "Mcp-Session-Id"

_NAMED_BY = {
    CALL: "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_SEALED = re.compile(r"=\?base64\?(.*)\?=")


def headers_of(message: Message) -> Mapping[str, str]:
    """Build the headers of a message from 2026-07-28 on; older ones have none."""
    version = message.meta.get(VERSION_KEY)
    if not exact.is_text(version):
        return {}
    found = {VERSION: version, METHOD: message.method}
    named = (message.params or {}).get(_NAMED_BY.get(message.method, ""))
    return {**found, NAME: encoded(named)} if exact.is_text(named) else found


def encoded(text: str) -> str:
    """A text as a header may have it."""
    if _PLAIN.fullmatch(text) and not _SEALED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def decoded(header: str) -> str | None:
    """The text of a header; None where it is none."""
    match = _SEALED.fullmatch(header)
    if match is None:
        return header
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except ValueError:
        return None


class ToolHeaders:
    """Which arguments of which tools a server wants in headers, as its list of tools says."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, tuple[str, ...]]] = {}

    def knows(self, tool: str) -> bool:
        """Return True if the list had this tool."""
        return tool in self._known

    def learn(self, said: bytes) -> None:
        """Take a list of tools in, as the server sent it."""
        result = json.loads(said).get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._known[name] = dict(_wanted(tool.get("inputSchema"), ()))

    def of(self, message: Message) -> Mapping[str, str]:
        """The headers of a call, from its own arguments."""
        params = message.params or {}
        wanted = self._known.get(str(params.get("name")), {})
        found = {}
        for header, path in wanted.items():
            value: Any = params.get("arguments")
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, bool):
                found[f"Mcp-Param-{header}"] = "true" if value else "false"
            elif isinstance(value, str):
                found[f"Mcp-Param-{header}"] = encoded(value)
        return found


def _wanted(schema: object, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        header = inner.get("x-mcp-header") if isinstance(inner, dict) else None
        if isinstance(header, str) and _TOKEN.fullmatch(header):
            yield header, (*path, name)
        yield from _wanted(inner, (*path, name))


_log = logging.getLogger(__name__)

_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=30)
_AGAIN_SECONDS = 1.0


class Web:
    """The address, as all clients of this process reach it.

    What a redirect names is not asked: it would be told what the headers say.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url
        self.tools = ToolHeaders()
        self._headers = headers
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT, auto_decompress=True)

    async def close(self) -> None:
        """Reach it no more."""
        await self._session.close()

    def call(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> aiohttp.client._RequestContextManager:  # the library names its type so
        """One request."""
        every = {**_ACCEPT, **headers, **self._headers}
        return self._session.request(
            method, self.url, data=body, headers=every, allow_redirects=False
        )


@dataclass
class Peer:
    """The server as one client speaks to it, with the headers that are this client's own.

    ``status`` and ``answered`` are what came with the last answer.
    """

    web: Web
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200
    said: Mapping[str, str] = field(default_factory=dict)

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:
        """Its answer; what it says before goes to ``tell``."""
        try:
            if message.method == CALL and is_modern(message):
                await self._know_tools(message)
            said = await self._posted(raw, message.id, tell)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ServerGoneError(str(error) or type(error).__name__) from None
        if message.method == "tools/list":
            with suppress(ValueError, AttributeError):
                self.web.tools.learn(said)
        if message.method == "initialize":
            self._begin(said)
        return said

    async def send(self, message: Message) -> None:
        """Hand it what needs no answer."""
        headers = {**self.headers, **headers_of(message)}
        try:
            async with self.web.call("POST", headers, message.raw) as response:
                self.status = response.status
        except (aiohttp.ClientError, OSError) as error:
            raise ServerGoneError(str(error) or type(error).__name__) from None

    async def listen(self, tell: Tell) -> None:
        """Hear what the server says by itself, for as long as it offers that."""
        while True:
            try:
                async with self.web.call("GET", self.headers) as response:
                    if response.status != 200 or not _is_stream(response):
                        return
                    async for line in _events(response):
                        await tell(line)
            except (aiohttp.ClientError, OSError, ValueError):
                _log.debug("the server's own messages are heard again in a moment")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def leave(self) -> None:
        """Tell the server that the session is over."""
        if SESSION in self.headers:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                async with asyncio.timeout(2), self.web.call("DELETE", self.headers):
                    return

    async def _posted(self, raw: bytes, id_: str, tell: Tell) -> bytes:
        sent = messages.read(raw)
        headers = {**self.headers, **headers_of(sent)}
        if sent.method == CALL and is_modern(sent):
            headers |= self.web.tools.of(sent)
        async with self.web.call("POST", headers, raw) as response:
            self.status, self.said = response.status, response.headers
            if _is_stream(response):
                async for line in _events(response):
                    if answered(line) == id_:
                        return line
                    await tell(line)
                raise ServerGoneError("it ended its answer before the end")
            body = await _read(response)
        if answered(body) == id_:
            return body
        if answered(body) == "null":  # an error of somebody who did not read the id
            return messages.edited(body.decode(), {"id": id_}).encode()
        raise ServerGoneError(f"HTTP {self.status}")

    async def _know_tools(self, message: Message) -> None:
        """Ask for the tools, unless it is known which headers a call of this one has."""
        name = str((message.params or {}).get("name"))
        if self.web.tools.knows(name):
            return
        meta = messages.written(message.raw.decode(), "params") or "{}"
        params: dict[str, Any] = {"_meta": json.loads(messages.written(meta, "_meta") or "{}")}
        params["_meta"].pop("progressToken", None)
        while True:
            asked = {"jsonrpc": "2.0", "id": "sayso", "method": "tools/list", "params": params}
            said = await self._posted(json.dumps(asked).encode(), '"sayso"', _nobody)
            self.web.tools.learn(said)
            result = json.loads(said).get("result")
            cursor = result.get("nextCursor") if isinstance(result, dict) else None
            if not isinstance(cursor, str) or self.web.tools.knows(name):
                return
            params["cursor"] = cursor

    def _begin(self, said: bytes) -> None:
        """What each further request of an older client names."""
        result = json.loads(said).get("result")
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(version, str):
            self.headers[VERSION] = version
        if session := self.said.get(SESSION):
            self.headers[SESSION] = session


def _is_stream(response: aiohttp.ClientResponse) -> bool:
    return response.content_type == "text/event-stream"


async def _read(response: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for part in response.content.iter_any():
        found += part
        if len(found) > MOST_BYTES:
            raise ServerGoneError("its answer is too long")
    return bytes(found).strip().replace(b"\r", b" ").replace(b"\n", b" ")


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The messages in a stream of events, each on one line."""
    waiting = b""
    async for part in response.content.iter_any():
        waiting = (waiting + part).replace(b"\r\n", b"\n")
        if len(waiting) > MOST_BYTES:
            raise ServerGoneError("its answer is too long")
        *whole, waiting = waiting.split(b"\n\n")
        for event in whole:
            if line := _data(event):
                yield line


def _data(event: bytes) -> bytes:
    lines = (line for line in event.split(b"\n") if line.startswith(b"data:"))
    return b" ".join(line.removeprefix(b"data:").strip() for line in lines)


async def _nobody(_: bytes) -> None:
    """What comes beside an answer of ours is nobody's."""
