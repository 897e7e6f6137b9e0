"""A user whose agent starts hooks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.commands import Done, Run
from support.helpers import SharedFolder, runtime_folder
from support.hooked import READS, Install, Machine, a_machine

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store


@pytest.fixture
def runtime() -> Iterator[Path]:
    with runtime_folder() as folder:
        yield folder


@pytest.fixture
def alone(tmp_path: Path, runtime: Path, store_url: str) -> Machine:
    """A machine without a helper."""
    return a_machine(tmp_path, runtime, READS, SAYSO_STORE_URL=store_url, SAYSO_HELPER="off")


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedFolder]:
    with ExitStack() as folders:
        yield SharedFolder(folders)


@pytest.fixture(params=["alone", "helped"])
async def machine(
    request: pytest.FixtureRequest, tmp_path: Path, shared: SharedFolder, store_url: str
) -> Machine:
    """A machine without a helper, and one with a helper that other tests had before."""
    if request.param == "alone":
        env = {"SAYSO_STORE_URL": store_url, "SAYSO_HELPER": "off"}
        return a_machine(tmp_path, tmp_path, READS, **env)
    folder = shared.for_another_store()
    made = a_machine(tmp_path, folder, READS, SAYSO_STORE_URL=store_url, SAYSO_HELPER="on")
    await made.until_helped()
    return made


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
