"""A receiver as it is registered: an address that could be public, and a secret of 32 bytes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sayso_bots.exact import is_text

_FIELDS = ("type", "url", "registration_id", "signing_secret")
_PREFIX = "whsec_"
_INVALID = "invalid_request"
_SECRET_BYTES = 32
MOST_URL = 2048
"""Characters of a receiver's address."""

# Anything else has to be percent-encoded, and an international name written in Punycode.
_PLAIN = re.compile(r"[\x21-\x7e]+", re.ASCII)
_NAME = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?"
)
_QUARTET = re.compile(r"(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}")
_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)")
_BRACKETED = re.compile(r"\[[^\[\]]*\](:\d+)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class BadReceiverError(ValueError):
    """A registration that cannot be taken: ``code`` for the adapter, ``param`` is where."""

    def __init__(self, code: str, param: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.param = param


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where the notifications of an instance go, and what they are signed with."""

    url: str
    registration_id: str
    key: bytes = field(repr=False)

    @property
    def host(self) -> str:
        """The name or address that it is at, in lower case."""
        return (urlsplit(self.url).hostname or "").rstrip(".")

    @property
    def port(self) -> int:
        """The port that it is at."""
        return urlsplit(self.url).port or 443


def read_receiver(given: object) -> Receiver:
    """The receiver of a submitted ``delivery``.

    Raises:
        BadReceiverError: it is not one.
    """
    if not isinstance(given, dict):
        raise BadReceiverError(_INVALID, "delivery", "delivery must be an object")
    if given.get("type") != "webhook":
        text = "delivery.type must be webhook"
        if is_text(given.get("type")):
            raise BadReceiverError("unsupported_delivery_type", "delivery.type", text)
        raise BadReceiverError(_INVALID, "delivery.type", text)
    for name in given:
        if name not in _FIELDS:
            text = "delivery has a field that is not known"
            raise BadReceiverError(_INVALID, "delivery", text)
    url = _text(given, "url")
    _check_url(url)
    registration = _text(given, "registration_id")
    if _UUID.fullmatch(registration) is None:
        text = "delivery.registration_id must be a UUID"
        raise BadReceiverError(_INVALID, "delivery.registration_id", text)
    return Receiver(url, registration, _key(_text(given, "signing_secret")))


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if is_text(value) and value:
        return value
    text = f"delivery.{name} must be a string that is not empty"
    raise BadReceiverError(_INVALID, f"delivery.{name}", text)


def _key(secret: str) -> bytes:
    encoded = secret.removeprefix(_PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    good = secret.startswith(_PREFIX) and len(key) == _SECRET_BYTES
    if not good or base64.b64encode(key).decode() != encoded:
        text = "delivery.signing_secret must be whsec_ and the base64 of 32 bytes"
        raise BadReceiverError(_INVALID, "delivery.signing_secret", text)
    return key


def _check_url(url: str) -> None:
    """Refuse what is not https, or what says something beside where to go."""
    why = _wrong_url(url)
    if why:
        raise BadReceiverError("invalid_webhook_url", "delivery.url", f"delivery.url {why}")


def _wrong_url(url: str) -> str:
    if len(url) > MOST_URL:
        return f"is longer than {MOST_URL} characters"
    if _PLAIN.fullmatch(url) is None:
        return "holds a space or a character that is not plain ASCII"
    if "\\" in url or "#" in url:
        return "holds a backslash or a fragment"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme != "https":
        return "must begin with https://"
    if "@" in parts.netloc:
        return "must not hold a user or a password"
    if port == 0 or parts.netloc.endswith(":"):
        return "has no port that could be connected to"
    return "" if _is_host(parts) else "names no host"


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    if "[" in parts.netloc:
        return _BRACKETED.fullmatch(parts.netloc) is not None and _is_ipv6(host)
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        # What looks like a number is an address to some and a name to others.
        return _QUARTET.fullmatch(host) is not None and all(
            int(part) <= 255 for part in host.split(".")
        )
    return _NAME.fullmatch(host) is not None


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return "%" not in host
