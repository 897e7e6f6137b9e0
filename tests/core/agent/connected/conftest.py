"""A handle on a store of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sayso
from sayso.agent.connected.connect import ConnectedGate


@pytest.fixture
def handle(store_url: str) -> Iterator[ConnectedGate]:
    """A handle whose every call asks a person."""
    with sayso.connect(store_url, agent="deploy-bot", session="s-1", timeout=20) as handle:
        yield handle
