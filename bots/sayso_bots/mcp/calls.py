"""A call of a tool, as a client writes it: which tool, and which arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sayso_bots import exact
from sayso_bots.mcp.messages import INVALID_PARAMS, Message, lookalike
from sayso_bots.strict_json import MalformedMessageError

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"

_GOES_ON = ("inputResponses", "requestState")
_KNOWN = frozenset({"name", "arguments", "_meta", "task", *_GOES_ON})


def is_modern(message: Message) -> bool:
    """Whether the message says of itself which revision it is of, as those from 2026-07-28 on."""
    return VERSION_KEY in message.meta


def client_of(info: object) -> str:
    """The name of a client, as it says itself; empty where it does not."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if exact.is_text(name) else ""


@dataclass(frozen=True)
class McpCall:
    """A request that calls a tool. ``arguments`` are as every program holds them."""

    message: Message
    tool: str
    arguments: Mapping[str, Any]
    description: str = ""
    call_id: str = ""

    @cached_property
    def mark(self) -> str:
        """What this call has in common with the same call, made again."""
        params = self.message.params or {}
        more = [params[name] for name in _GOES_ON if name in params]
        written = json.dumps([self.tool, self.arguments, more], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()

    @property
    def goes_on(self) -> bool:
        """Whether the call brings what its server wanted first."""
        return any(name in (self.message.params or {}) for name in _GOES_ON)

    @property
    def progress(self) -> str | int | None:
        """By what the client knows news of this call; None where it wants none."""
        token = self.message.meta.get("progressToken")
        if isinstance(token, exact.Number):
            return int(token) if token.lstrip("-").isdecimal() else None
        return token if exact.is_text(token) else None


def read_call(message: Message, *, description: str = "", call_id: str = "") -> McpCall:
    """The call in a request; an agent may say why it is made, and what it knows it by.

    Raises:
        MalformedMessageError: the server could read another call than a person would be shown.
    """
    params = message.params or {}
    name, arguments = params.get("name"), params.get("arguments")
    why = ""
    if (near := lookalike(params, _KNOWN)) is not None:
        why = f"{near!r:.40} could be read as another name"
    elif not exact.is_text(name) or not name.strip():
        why = "it names no tool"
    elif name != name.strip():
        # A policy goes by the exact name, and some servers leave such blanks out.
        why = "blanks stand around the name of its tool"
    elif arguments is not None and not isinstance(arguments, dict):
        why = "its arguments are not an object"
    elif "_meta" in params and not isinstance(params["_meta"], dict):
        why = "its _meta is not an object"
    held: Mapping[str, Any] = {}
    try:
        held = held if why else held_alike(arguments or {})
    except ValueError as error:
        why = str(error)
    if why:
        raise MalformedMessageError(why, INVALID_PARAMS, message.id)
    return McpCall(message, str(name), held, description, call_id)


def held_alike(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments as every program holds them.

    Raises:
        ValueError: some programs would hold another number: what is shown would not run.
    """
    return {name: _held(value) for name, value in arguments.items()}


def _held(value: Any) -> Any:
    if isinstance(value, exact.Number):
        if not value.is_held:
            raise ValueError("a number has too many digits; pass a text instead")
        return value.near
    if isinstance(value, dict):
        return {name: _held(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_held(item) for item in value]
    return value
