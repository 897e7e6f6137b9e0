"""What all tests share: a real Redis server, and a namespace of it for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from valkey_server import Valkey

from assent.calls import new_id


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis server: the one at ASSENT_TEST_REDIS_URL, otherwise one of this session's own."""
    if url := os.environ.get("ASSENT_TEST_REDIS_URL"):
        yield url
        return
    server = Valkey()
    server.start()
    try:
        yield server.url
    finally:
        server.close()


@pytest.fixture
def store_url(redis_url: str) -> str:
    """The server's URL with a namespace that no other test uses."""
    separator = "&" if "?" in redis_url else "?"
    return f"{redis_url}{separator}namespace=test-{new_id()}"
