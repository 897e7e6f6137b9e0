"""Does this callback come from Slack? Decided on the raw bytes, before anything reads them."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from sayso.errors import ForgedCallbackError

_TIMESTAMP = "X-Slack-Request-Timestamp"
_SIGNATURE = "X-Slack-Signature"
_WINDOW_SECONDS = 300  # docs.slack.dev, verifying requests from Slack: five minutes
_DIGITS = re.compile(r"[0-9]{1,12}", re.ASCII)
_V0 = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


def verified(
    headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str], now: datetime
) -> str:
    """An id of this very callback, once it is proven to be Slack's.

    Any of the secrets may have signed it; empty ones and none at all let
    nobody in. The id is a hash: it does not help to sign anything. Repetitions
    within the five minutes have the same id.

    Raises:
        ForgedCallbackError: a header is missing or malformed, the time is
            more than five minutes off, or no secret made the signature.
    """
    timestamp = header(headers, _TIMESTAMP)
    signature = header(headers, _SIGNATURE)
    if not _DIGITS.fullmatch(timestamp):
        raise ForgedCallbackError(
            f"Slack callback refused: {_TIMESTAMP} is missing or not a number"
        )
    if not _V0.fullmatch(signature):
        raise ForgedCallbackError(f"Slack callback refused: {_SIGNATURE} is missing or malformed")
    if abs(now.timestamp() - int(timestamp)) > _WINDOW_SECONDS:
        raise ForgedCallbackError(
            "Slack callback refused: it was signed more than five minutes from now; "
            "is this machine's clock right?"
        )
    signed = b"v0:%b:%b" % (timestamp.encode(), body)
    # A sum, so that every secret is tried, whichever fits.
    if not sum(_made(signature, signed, secret) for secret in secrets if secret):
        raise ForgedCallbackError(
            "Slack callback refused: SLACK_SIGNING_SECRET did not sign it; compare it with "
            "Basic Information in your Slack app"
        )
    return delivery_id(signature)


def delivery_id(text: str) -> str:
    """A short name for one callback that gives nothing of the text away."""
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:40]


def header(headers: Mapping[str, str], name: str) -> str:
    """A header's value whatever its spelling, empty when it is not there."""
    value = headers.get(name)
    if value is None:
        name = name.lower()
        value = next((text for key, text in headers.items() if key.lower() == name), "")
    return value


def _made(signature: str, signed: bytes, secret: str) -> bool:
    digest = hmac.digest(secret.encode(), signed, hashlib.sha256).hex()
    return hmac.compare_digest(signature, f"v0={digest}")
