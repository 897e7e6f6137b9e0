"""A user whose commands ask a helper."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from support.helpers import runtime_folder
from support.hooked import READS, Machine, a_machine

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store


@pytest.fixture
def runtime() -> Iterator[Path]:
    with runtime_folder() as folder:
        yield folder


@pytest.fixture
async def machine(tmp_path: Path, runtime: Path, store_url: str) -> Machine:
    """A machine whose helper is at work."""
    made = a_machine(tmp_path, runtime, READS, SAYSO_STORE_URL=store_url)
    await made.until_helped()
    return made


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with open_store(store_url) as opened:
        yield opened
