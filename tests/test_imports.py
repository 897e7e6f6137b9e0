"""An agent's process pays for pydantic and nothing else; how long that takes, the bench says."""

from __future__ import annotations

import os
import subprocess
import sys

_PYDANTIC = """
import pydantic
class Model(pydantic.BaseModel):
    name: str
"""


def _fresh(code: str) -> str:
    """What the code prints in an interpreter of its own, without pydantic's plugins."""
    environment = {**os.environ, "PYDANTIC_DISABLE_PLUGINS": "__all__"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_assent_loads_no_chat_library_and_no_redis() -> None:
    loaded = _fresh("import sys, assent\nprint(*sys.modules)").split()

    packages = {name.partition(".")[0] for name in loaded}
    heavy = {"aiohttp", "redis", "hiredis", "slack_bolt", "slack_sdk", "telegram", "httpx"}
    ours = {"assent_slack", "assent_telegram", "assent_bots", "assent_playground"}
    assert packages & (heavy | ours) == set()


def test_importing_assent_loads_pydantic_and_the_standard_library_only() -> None:
    loaded = _fresh("import sys, assent\nprint(*sys.modules)").split()
    needed = _fresh(f"import sys\n{_PYDANTIC}\nprint(*sys.modules)").split()

    packages = {name.partition(".")[0] for name in loaded}
    known = {name.partition(".")[0] for name in needed} | sys.stdlib_module_names
    assert packages - known == {"assent"}


def test_a_gate_in_memory_loads_no_more() -> None:
    loaded = _fresh(
        "import asyncio, sys\n"
        "from assent import Gate, RunRef\n"
        "async def main():\n"
        "    async with Gate.open('memory://', run=RunRef('agent', 'session')):\n"
        "        print(*sys.modules)\n"
        "asyncio.run(main())"
    ).split()

    packages = {name.partition(".")[0] for name in loaded}
    assert packages & {"aiohttp", "redis", "slack_bolt", "telegram", "httpx"} == set()
