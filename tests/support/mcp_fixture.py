"""The fixture of a machine on which clients start servers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.mcp_machine import POLICY, Machine

from sayso.stores.connect import open_store


@pytest.fixture
async def machine(tmp_path: Path, store_url: str) -> AsyncIterator[Machine]:
    config = tmp_path / "sayso.toml"
    config.write_text(POLICY)
    own = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    env = {
        **own,
        "HOME": str(tmp_path),
        "USER": "tester",
        "SAYSO_CONFIG": str(config),
        "SAYSO_STORE_URL": store_url,
    }
    async with open_store(store_url) as backend:
        yield Machine(tmp_path, env, backend)
