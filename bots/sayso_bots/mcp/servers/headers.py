"""The headers in which streamable HTTP repeats what a message says, from the message itself."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sayso_bots import exact
from sayso_bots.mcp.calls import VERSION_KEY
from sayso_bots.mcp.messages import CALL, Message

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
    """What stands in the headers of a message from 2026-07-28 on; nothing of older ones."""
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
        """Whether the list had this tool."""
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
