"""JSON-RPC messages and calls of tools: read strictly, changed without touching the rest, made."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from sayso_bots import exact
from sayso_bots.strict_json import MalformedMessageError

MOST_BYTES = 16 * 1024 * 1024
"""No message is longer."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

CALL = "tools/call"
CANCELLED = "notifications/cancelled"

Kind = Literal["request", "notification", "response"]
_FIELDS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_INTEGER = re.compile(r"-?[0-9]{1,16}")
_SPACE = re.compile(r"[ \t\n\r]*")
_BREAKS = bytes.maketrans(b"\n\r", b"  ")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a client: its bytes on one line, and what they say.

    ``id`` is written as JSON; empty where it has none. Numbers in ``params`` are
    ``exact.Number``.
    """

    raw: bytes
    kind: Kind
    id: str = ""
    method: str = ""
    params: Mapping[str, Any] | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """What stands in ``_meta``; empty where nothing does."""
        found = (self.params or {}).get("_meta")
        return found if isinstance(found, dict) else {}

    def changed(self, **changes: str | None) -> bytes:
        """The bytes with other fields in ``params``, or without them; all else as it came."""
        text = self.raw.decode()
        params = dict(_spans(text)).get("params")
        inner = "{}" if params is None else text[params[0] : params[1]]
        return edited(text, {"params": edited(inner, changes)}).encode()

    def with_meta(self, **changes: str | None) -> bytes:
        """The bytes with other fields in ``_meta``, or without them."""
        params = written(self.raw.decode(), "params") or "{}"
        meta = written(params, "_meta")
        return self.raw if meta is None else self.changed(_meta=edited(meta, changes))

    def renamed(self, id_: str) -> bytes:
        """The bytes with another id."""
        return edited(self.raw.decode(), {"id": id_}).encode()


def read(raw: bytes) -> Message:
    """The message in a line, or in a body.

    What a server could read in another way than we do is refused: a name that is there
    twice or nearly so, a batch, what is nested deeply, text that is not Unicode.

    Raises:
        MalformedMessageError: it is not one.
    """
    try:
        data = exact.read(raw)
    except ValueError as error:
        raise MalformedMessageError(str(error), PARSE_ERROR) from None
    if not isinstance(data, dict):
        raise MalformedMessageError(
            "batches are not taken" if isinstance(data, list) else "no object"
        )
    id_ = _id(data)
    if data.get("jsonrpc") != "2.0" or isinstance(data["jsonrpc"], exact.Number):
        raise MalformedMessageError("it is not JSON-RPC 2.0", id_=id_ or "null")
    if unknown := sorted(set(data) - _FIELDS):
        # Some servers take "Method" for "method", and the last of both.
        raise MalformedMessageError(f"it has a field {unknown[0]!r:.40}", id_=id_ or "null")
    line = raw.strip(b" \t\r\n").translate(_BREAKS)
    if "method" not in data:
        if not id_ or ("result" in data) == ("error" in data) or "params" in data:
            raise MalformedMessageError("it is neither a request nor a response")
        return Message(line, "response", id_)
    method, params = data["method"], data.get("params")
    if not exact.is_text(method) or not _is_object_or_none(data, "params"):
        raise MalformedMessageError(
            "its method or its params are not understood", id_=id_ or "null"
        )
    if "result" in data or "error" in data:
        raise MalformedMessageError("it is a request and a response at once", id_=id_ or "null")
    if method != CALL and _folded(method) == CALL:
        raise MalformedMessageError(f"its method is nearly {CALL}", METHOD_NOT_FOUND, id_ or "null")
    if id_:
        return Message(line, "request", id_, method, params)
    if not method.startswith("notifications/"):
        raise MalformedMessageError("it is a request without an id")
    return Message(line, "notification", "", method, params)


def _id(data: Mapping[str, Any]) -> str:
    """The id as JSON, empty where there is none.

    Raises:
        MalformedMessageError: it cannot be one.
    """
    if "id" not in data:
        return ""
    found = data["id"]
    if isinstance(found, exact.Number) and _INTEGER.fullmatch(found):
        return str(found)
    if exact.is_text(found):
        return json.dumps(found)
    raise MalformedMessageError("its id is neither a text nor a whole number")


def id_of(found: object) -> str:
    """An id that stands in a message, as JSON; empty where it can be none."""
    return str(found) if isinstance(found, exact.Number) else json.dumps(found)


def _is_object_or_none(data: Mapping[str, Any], name: str) -> bool:
    return name not in data or isinstance(data[name], dict)


def _folded(method: str) -> str:
    return "".join(method.casefold().split())


def lookalike(found: Mapping[str, Any], known: frozenset[str]) -> str | None:
    """A name that some servers take for a known one: Go reads ``Name`` as ``name``."""
    folded = {name.casefold() for name in known}
    return next((one for one in found if one not in known and one.casefold() in folded), None)


def edited(text: str, changes: Mapping[str, str | None]) -> str:
    """The JSON of an object with other values, or without them; the rest is as it was written."""
    kept = [
        f"{json.dumps(name)}:{changes.get(name, text[start:end])}"
        for name, (start, end) in _spans(text)
        if changes.get(name, "") is not None
    ]
    there = {name for name, _ in _spans(text)}
    added = [
        f"{json.dumps(name)}:{value}"
        for name, value in changes.items()
        if value is not None and name not in there
    ]
    return "{" + ",".join((*kept, *added)) + "}"


def written(text: str, name: str) -> str | None:
    """The value of a name in the JSON of an object, as it was written."""
    span = dict(_spans(text)).get(name)
    return None if span is None else text[span[0] : span[1]]


def _spans(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Where the values of an object stand, which is known to be one."""
    at = _after_space(text, _after_space(text, 0) + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield name, (at, end)
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def hash_text(text: str) -> str:
    """What stands for a long text in a name."""
    return hashlib.sha256(text.encode()).hexdigest()


def response(id_: str, result: Mapping[str, Any]) -> bytes:
    """The answer to a request, on one line."""
    return f'{{"jsonrpc":"2.0","id":{id_},"result":{json.dumps(result)}}}'.encode()


def failure(id_: str, code: int, message: str, data: Mapping[str, Any] | None = None) -> bytes:
    """The error in answer to a request, on one line."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return f'{{"jsonrpc":"2.0","id":{id_},"error":{json.dumps(error)}}}'.encode()


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """A notification, on one line."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"

_GOES_ON = ("inputResponses", "requestState")
_KNOWN = frozenset({"name", "arguments", "_meta", "task", *_GOES_ON})


def is_modern(message: Message) -> bool:
    """Return True if the message names its revision, as those from 2026-07-28 on do."""
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
        """A text that is the same for the same call, made again."""
        params = self.message.params or {}
        more = [params[name] for name in _GOES_ON if name in params]
        written = json.dumps([self.tool, self.arguments, more], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()

    @property
    def goes_on(self) -> bool:
        """Return True if the call brings what its server wanted first."""
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
