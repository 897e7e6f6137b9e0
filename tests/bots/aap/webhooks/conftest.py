"""What the tests of notifications share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.certificates import self_signed
from support.hooks import HOST, Hooks, hooks

__all__ = ["certificate", "receiving"]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of a receiver."""
    return self_signed(tmp_path_factory.mktemp("tls"), f"DNS:{HOST}", "IP:127.0.0.1")


@pytest.fixture
async def receiving(certificate: Path) -> AsyncIterator[Hooks]:
    """A receiver at work."""
    async with hooks(certificate) as receiver:
        yield receiver
