"""What all tests share: a real Redis server, and a namespace of it for each test."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
from support.valkey_server import Valkey

from sayso.calls import new_id

_OTHER_LOGGERS = ("sayso_bots", "sayso_slack", "sayso_telegram", "httpx", "httpcore")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis server: the one at SAYSO_TEST_REDIS_URL, otherwise one of this session's own."""
    if url := os.environ.get("SAYSO_TEST_REDIS_URL"):
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


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Iterator[None]:
    """Commands that run in this process set how much our loggers say: for that test only."""
    ours = [logging.getLogger(name) for name in ("", "sayso", *_OTHER_LOGGERS)]
    levels = [logger.level for logger in ours]
    yield
    for logger, level in zip(ours, levels, strict=True):
        logger.setLevel(level)
