"""Secrets in the settings: how to recognise them, and how to keep them out of sight."""

from __future__ import annotations

from sayso.text import secrets
from sayso.text.secret_forms import holds
from sayso.text.secret_kinds import OWN_TOKEN
from sayso.text.visible import shortened


def holds_api_token(text: str) -> bool:
    """Whether it contains a bearer token of the hosted API."""
    return holds(OWN_TOKEN, text)


def shown(value: object) -> str:
    """A wrong value as it may be shown in a message: short, and never a secret."""
    text = value if isinstance(value, str) else repr(value)
    if secrets.holds_secret(text) or secrets.has_login(text):
        return "that value"
    short = shortened(text, 60)
    return repr(short) if isinstance(value, str) else short
