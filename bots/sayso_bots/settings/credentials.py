"""Secrets in the settings: how to recognise them."""

from __future__ import annotations

from sayso.text.secret_forms import holds
from sayso.text.secret_kinds import OWN_TOKEN


def holds_api_token(text: str) -> bool:
    """Whether it contains a bearer token of the hosted API."""
    return holds(OWN_TOKEN, text)
