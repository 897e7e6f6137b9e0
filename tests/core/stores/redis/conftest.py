"""Fixtures of the tests of the Redis store: it alone, and a look behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from sayso.stores.redis.keys import Keys
from sayso.stores.redis.url import read_url


@pytest.fixture
def store(store_url: str) -> str:
    """The URL of a store in Redis that nobody else uses."""
    return store_url


@pytest.fixture
def keys(store_url: str) -> Keys:
    """How its keys are named."""
    return read_url(store_url).keys


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Any]:
    """The server itself, for looking behind the store."""
    async with Redis.from_url(redis_url) as client:
        yield client
