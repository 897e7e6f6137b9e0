"""From the bytes of a verified callback to the one JSON object in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from yarl import query_to_pairs

from sayso.errors import CallbackError
from sayso.text.unicode import is_unicode
from sayso_slack.reading.verification import header

Payload = dict[str, Any]

_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"
_MOST_FIELDS = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decoded(headers: Mapping[str, str], body: bytes) -> Payload:
    """What Slack says: the ``payload`` of a form, its flat fields, or a JSON body.

    Raises:
        CallbackError: it is neither a form nor JSON, not UTF-8, or
            does not hold exactly one JSON object.
    """
    kind = header(headers, "Content-Type").partition(";")[0].strip().lower()
    if kind not in (_FORM, _JSON):
        raise CallbackError("Slack callback is neither a form nor JSON")
    try:
        text = body.decode("utf-8")
        return _json_object(text) if kind == _JSON else _form(text)
    except UnicodeDecodeError:
        # Not chained: the error holds the body.
        raise CallbackError("Slack callback is not UTF-8") from None


def _form(text: str) -> Payload:
    fields = _fields(text)
    payloads = [value for name, value in fields if name == "payload"]
    if not payloads:
        return dict(fields)
    if len(fields) > 1:
        raise CallbackError("Slack callback has other fields beside its payload")
    return _json_object(payloads[0])


def _fields(text: str) -> list[tuple[str, str]]:
    try:
        # yarl decodes in C: 5 µs for a press, where urllib takes 100.
        fields = query_to_pairs(text, max_fields=_MOST_FIELDS)
        if any("\ufffd" in value for _, value in fields):
            # Either really that character or yarl's stand-in for what is not UTF-8.
            return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise
    except ValueError:
        raise CallbackError("Slack callback has too many fields") from None
    return fields


def _json_object(text: str) -> Payload:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise CallbackError("Slack callback is not JSON") from None
    if not isinstance(found, dict):
        raise CallbackError("Slack callback is JSON but not an object")
    # Only an escape can hold half of a pair: the text itself was UTF-8.
    return storable(found) if _SURROGATE.search(text) else found


def storable(payload: Payload) -> Payload:
    """The payload, of which all can be stored and sent on.

    Raises:
        CallbackError: a string in it holds half of a surrogate pair, or it is nested
            too deeply.
    """
    if not is_unicode(payload):
        raise CallbackError(
            "Slack callback holds half of a surrogate pair, or is nested too deeply"
        )
    return payload


def object_of(value: Any) -> dict[str, Any]:
    """The value where it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """The value where it is a string, otherwise an empty one."""
    return value if isinstance(value, str) else ""
