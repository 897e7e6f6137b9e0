"""The guard in front of slack_bolt, which parses before it verifies and trusts what it parses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from slack_sdk.signature import Clock, SignatureVerifier

from sayso.errors import CallbackError, ForgedCallbackError
from sayso.text.visible import is_unicode

Payload = dict[str, Any]

_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
# SignatureVerifier raises at a timestamp that is no number and a signature that is not ASCII.
_DIGITS = re.compile(r"[0-9]{1,12}", re.ASCII)
_V0 = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_MAX_FIELDS = 100


class _FixedClock(Clock):
    def __init__(self, now: datetime) -> None:
        self._now = now.timestamp()

    def now(self) -> float:
        return self._now


def verify_callback(
    headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str], now: datetime
) -> str:
    """Return the id of this callback once one of the secrets is proven to have signed it.

    Without a secret that is not blank, every callback is refused. The id is a hash that helps
    nobody to sign; repetitions within the five minutes have the same id.

    Raises:
        ForgedCallbackError: a header is missing or malformed, the time is more than five minutes
            off, or no secret made the signature.
        CallbackError: the body is not UTF-8, so Slack cannot have signed it.
    """
    timestamp, signature = _header(headers, _TIMESTAMP), _header(headers, _SIGNATURE)
    for name, value, shape in ((_TIMESTAMP, timestamp, _DIGITS), (_SIGNATURE, signature, _V0)):
        if not shape.fullmatch(value):
            raise ForgedCallbackError(f"Slack callback refused: {name} is missing or malformed")
    clock, text = _FixedClock(now), _decode_utf8(body)
    verifiers = [SignatureVerifier(secret, clock) for secret in secrets if secret.strip()]
    # A sum, so that every secret is tried, whichever fits.
    if sum(one.is_valid(text, timestamp, signature) for one in verifiers):
        return hash_delivery(signature)
    if abs(now.timestamp() - int(timestamp)) > 300:
        raise ForgedCallbackError(
            "Slack callback refused: it was signed more than five minutes from now; "
            "is this machine's clock right?"
        )
    raise ForgedCallbackError(
        "Slack callback refused: SLACK_SIGNING_SECRET did not sign it; compare it with "
        "Basic Information in your Slack app"
    )


def hash_delivery(text: str) -> str:
    """Return a short id of one callback that reveals nothing of the text."""
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:40]


def decode_callback(headers: Mapping[str, str], body: bytes) -> Payload:
    """Return the ``payload`` of a form, its flat fields, or a JSON body.

    Bolt's own parser loses a slash command that has the word "payload" in its text.

    Raises:
        CallbackError: the body is neither a form nor JSON, is not UTF-8, or does not
            hold exactly one JSON object.
    """
    content_type = _header(headers, "Content-Type").partition(";")[0].strip().lower()
    if content_type not in (_FORM, _JSON):
        raise CallbackError("Slack callback is neither a form nor JSON")
    text = _decode_utf8(body)
    try:
        payload = json.loads(text) if content_type == _JSON else _decode_form(text)
    except UnicodeDecodeError:
        raise CallbackError("Slack callback is not UTF-8") from None
    except (ValueError, RecursionError):  # not chained: the error holds the body
        raise CallbackError("Slack callback is not JSON") from None
    if not isinstance(payload, dict):
        raise CallbackError("Slack callback is JSON but not an object")
    return check_unicode(payload)


def check_unicode(payload: Payload) -> Payload:
    """Return the payload if all of it can be stored and sent on.

    Raises:
        CallbackError: a string in it holds half of a surrogate pair, or it is nested
            too deeply.
    """
    if not is_unicode(payload):
        raise CallbackError(
            "Slack callback holds half of a surrogate pair, or is nested too deeply"
        )
    return payload


def as_object(value: Any) -> Payload:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """Return the value if it is a string, otherwise an empty one."""
    return value if isinstance(value, str) else ""


def _decode_form(text: str) -> Any:
    if text.count("&") >= _MAX_FIELDS:
        raise CallbackError("Slack callback has too many fields")
    fields = parse_qsl(text, keep_blank_values=True, errors="strict")
    payloads = [value for name, value in fields if name == "payload"]
    if not payloads:
        return dict(fields)
    if len(fields) > 1:
        raise CallbackError("Slack callback has other fields beside its payload")
    return json.loads(payloads[0])


def _decode_utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:  # not chained: the error holds the body
        raise CallbackError("Slack callback is not UTF-8") from None


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((text for key, text in headers.items() if key.lower() == name.lower()), "")
