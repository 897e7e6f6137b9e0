"""Bots that serve both chats for the real Claude Code, which asks them by its hook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from e2e.hands import SlackHands
from support.claude_code import ClaudeCode, claude_code
from support.claude_model import model_served
from support.commands import ROUTES, env_of, served
from support.playing import a_playground

from sayso.calls import new_id
from sayso_playground import Playground

POLICY = """
[[policy]]
allow = [{ tool = "Read" }]
deny = [{ tool = "Bash", params = { command = "*forbidden*" } }]
"""


@dataclass(frozen=True)
class World:
    """Bots that serve both chats; every test asks them from a project and a session of its own."""

    playground: Playground
    env: Mapping[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(
    request: pytest.FixtureRequest, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    config = tmp_path_factory.mktemp("bots") / "sayso.toml"
    together = f'\n[questions]\ntogether = "{getattr(request, "param", "200ms")}"\n'
    config.write_text(ROUTES + POLICY + together)
    async with a_playground() as playground:
        store_url = f"{redis_url}{'&' if '?' in redis_url else '?'}namespace=claude-{new_id()}"
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        async with served(playground, config, env):
            yield World(playground, env)


@pytest.fixture
def hands(world: World) -> SlackHands:
    return SlackHands(world.playground, new=True)


@asynccontextmanager
async def installed(world: World, folder: Path) -> AsyncIterator[ClaudeCode]:
    """Claude Code in a folder, which has no hook yet."""
    (folder / "sayso.toml").write_text(ROUTES + POLICY)
    async with model_served() as model:
        yield claude_code(folder, model, world.env)
