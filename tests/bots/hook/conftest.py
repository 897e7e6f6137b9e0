"""A user whose agent starts hooks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.commands import Done, Run
from support.hooked import READS, Install, Machine, a_machine

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store


@pytest.fixture
def machine(tmp_path: Path, store_url: str) -> Machine:
    """A machine with rules for two tools."""
    return a_machine(tmp_path, READS, SAYSO_STORE_URL=store_url)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Backend]:
    async with open_store(store_url) as backend:
        yield backend


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


@pytest.fixture
def install(run: Run, file: Path) -> Install:
    """Runs the command for the user whose settings are the file."""

    def installing(*options: str, **env: str) -> Done:
        whole = {"CLAUDE_CONFIG_DIR": str(file.parent), **env}
        return run("hook", "install", "claude-code", *options, env=whole)

    return installing
