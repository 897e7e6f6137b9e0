"""What the tests of the client in TypeScript share: bots, and a project that it is installed in."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.api_fixtures import world
from support.api_world import TOML, World, world_on
from support.playing import a_playground
from support.typescript import Project, installed

from sayso.calls import new_id
from sayso.stores.connect import open_store

__all__ = ["bots", "project", "projects", "world"]

# On a busy machine, calls of one step come further apart than by default share a card.
_TOML = f'{TOML}\n[questions]\ntogether = "1s"\n'
_MODEL = Path(__file__).parent / "agents" / "model.mjs"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bots(redis_url: str) -> AsyncIterator[World]:
    """Bots with the hosted API on Redis, for all tests of a module."""
    separator = "&" if "?" in redis_url else "?"
    async with (
        a_playground() as playground,
        open_store(f"{redis_url}{separator}namespace=clients-{new_id()}") as backend,
        world_on(playground, backend, _TOML) as world,
    ):
        yield world


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """A project with each version of the AI SDK, and a double of a model."""
    found = {}
    for version in ("ai-6", "ai-7"):
        found[version] = installed(tmp_path_factory.mktemp(version), ai=version, zod="zod")
        shutil.copy(_MODEL, found[version].folder)
    return found


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A folder in which the client is installed."""
    return installed(tmp_path_factory.mktemp("project"))
