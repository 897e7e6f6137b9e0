"""Stores made of cells: in memory, and in namespaces of one Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store


@pytest.fixture(params=["memory", "redis"])
def address(request: pytest.FixtureRequest) -> str:
    """Three cells: in memory, then in three namespaces of one Redis."""
    if request.param == "memory":
        return " ".join(f"memory://?cell=0{number}" for number in range(3))
    url: str = request.getfixturevalue("store_url")
    return " ".join(f"{url}-{number}&cell=0{number}" for number in range(3))


@pytest.fixture
async def backend(address: str) -> AsyncIterator[Backend]:
    """The store that they make."""
    async with open_store(address) as opened:
        yield opened
