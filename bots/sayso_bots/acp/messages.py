"""Messages of the protocol: JSON-RPC, one a line, read strictly and handed on as they came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso_bots.strict_json import MalformedMessageError, refuse_duplicates

MOST_BYTES = 16 * 1024 * 1024
"""No message is longer."""

_NAMES_AN_ID = str | int | float | None


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its bytes, and what they say. ``id`` is as JSON, empty where it has none."""

    raw: bytes
    method: str
    id: str
    params: Mapping[str, Any]
    result: object = None

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request."""
        return not self.method

    @property
    def session(self) -> str:
        """The session that it is about; empty where it names none."""
        return text_of(self.params, "sessionId")


def read(raw: bytes) -> Message:
    """The message in a line.

    Raises:
        MalformedMessageError: it is not JSON, says a thing twice, or is no message.
    """
    try:
        found = json.loads(raw, object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise MalformedMessageError(f"not JSON ({error})" if str(error) else "not JSON") from None
    if not isinstance(found, dict):
        raise MalformedMessageError("not an object")
    method, params = found.get("method", ""), found.get("params") or {}
    if not isinstance(method, str) or ("method" in found and not method):
        raise MalformedMessageError("its method is not a name")
    id_ = id_of(found["id"]) if "id" in found else ""
    if not method and not id_:
        raise MalformedMessageError("neither a request nor an answer")
    params = params if isinstance(params, dict) else {}
    return Message(raw.strip(), method, id_, params, found.get("result"))


def id_of(found: object) -> str:
    """An id as JSON, as it stands in requests and in their answers.

    Raises:
        MalformedMessageError: it cannot be one.
    """
    if isinstance(found, bool) or not isinstance(found, _NAMES_AN_ID):
        raise MalformedMessageError("its id is neither a text nor a number")
    if isinstance(found, float):
        if not found.is_integer():
            raise MalformedMessageError("its id is not a whole number")
        found = int(found)  # to most readers 1.0 is 1
    return json.dumps(found)


def answer(id_: str, result: Mapping[str, Any]) -> bytes:
    """The answer to a request."""
    return f'{{"jsonrpc":"2.0","id":{id_},"result":{json.dumps(result)}}}'.encode()


def failure(id_: str, code: int, text: str) -> bytes:
    """The error in answer to a request."""
    error = {"code": code, "message": text}
    return f'{{"jsonrpc":"2.0","id":{id_},"error":{json.dumps(error)}}}'.encode()


def notification(method: str, params: str) -> bytes:
    """A notification, whose params are JSON already."""
    return f'{{"jsonrpc":"2.0","method":{json.dumps(method)},"params":{params}}}'.encode()


def text_of(found: Mapping[str, Any], name: str) -> str:
    """A text in an object; empty where there is none."""
    value = found.get(name)
    return value if isinstance(value, str) else ""
