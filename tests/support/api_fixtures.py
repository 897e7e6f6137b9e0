"""Fixtures of the tests of the hosted API: on memory, and on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from support.api_world import World, world_on
from support.playing import a_playground

from sayso.calls import new_id
from sayso.stores.connect import open_store


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["memory", "redis"])
async def bots(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[World]:
    """Bots with the hosted API, for all tests of a module."""
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=api-{new_id()}"
    async with (
        a_playground() as playground,
        open_store("memory://" if request.param == "memory" else url) as backend,
        world_on(playground, backend) as world,
    ):
        yield world


@pytest.fixture
def world(bots: World) -> World:
    """The same bots, with a session of this test's own."""
    return replace(bots, session_id=f"s-{new_id()}")
