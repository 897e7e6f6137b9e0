"""Fixtures of the tests of the provider: on memory, and on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.aap_world import AapWorld, aap_world_on, with_instance
from support.playing import a_playground

from sayso.calls import new_id
from sayso.stores.connect import open_store


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["memory", "redis"])
async def provider(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[AapWorld]:
    """Bots with the provider, for all tests of a module."""
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=aap-{new_id()}"
    async with (
        a_playground() as playground,
        open_store("memory://" if request.param == "memory" else url) as backend,
        aap_world_on(playground, backend) as world,
    ):
        yield world


@pytest_asyncio.fixture(loop_scope="module")
async def aap(provider: AapWorld) -> AapWorld:
    """The same bots, with an instance of this test's own."""
    return await with_instance(provider)
