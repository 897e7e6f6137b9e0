"""What docs/http-api.md shows works as it stands there."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from bots.api_world import CI, REVIEWER, World  # noqa: TID251  the folder of these tests

from assent.calls import new_id
from assent_bots import api, api_door, api_stream
from assent_bots.api_kinds import Kind, request_kinds, response_kinds

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"


def example(language: str) -> str:
    """The example of the page in this language."""
    match = re.search(rf"<!-- run by .*-->\n```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return match[1]


async def test_curl_asks_listens_and_answers(world: World, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl: apt-get install curl")
    # Asking waits for the stream, and the end for its last event: a person would see it.
    script = example("sh").replace(
        "# Ask:", "until grep -q '^id:' events.txt; do sleep 0.05; done\n# Ask:"
    )
    script = script.replace("/sessions/s-1/", f"/sessions/{world.session_id}/")
    script += "until grep -q PERMISSION_APPROVED events.txt; do sleep 0.05; done\nkill %1\n"
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-emc",
        script,
        cwd=tmp_path,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "ASSENT_URL": world.url,
            "ASSENT_TOKEN": CI,
            "REVIEWER_TOKEN": REVIEWER,
            "ID": new_id(),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()

    assert process.returncode == 0, err.decode() + out.decode()
    asked, end = json.JSONDecoder().raw_decode(out.decode())
    answered = json.loads(out.decode()[end:])
    assert asked["response"] is None
    assert answered["decidedBy"] == "api:reviewer"
    assert answered["reason"] == "the plan looks good"
    events = re.findall(r"^event: (\w+)$", (tmp_path / "events.txt").read_text(), re.MULTILINE)
    assert events == ["PERMISSION_REQUEST", "PERMISSION_RESPONSE", "PERMISSION_APPROVED"]


async def test_the_page_names_every_code() -> None:
    page = PAGE.read_text()
    raised = set()
    for module in (api, api_door, api_stream):
        source = Path(str(module.__file__)).read_text()
        raised |= set(re.findall(r'ApiProblem\(\s*\d+,\s*"(\w+)"', source))

    assert len(raised) > 12
    assert not {code for code in raised if f"`{code}`" not in page}


async def test_the_page_names_the_id_of_every_kind_that_comes_with_assent() -> None:
    page = PAGE.read_text()

    kinds: list[Kind[Any]] = [*request_kinds().values(), *response_kinds().values()]
    for kind in kinds:
        if kind.model.__module__.startswith("assent."):
            assert f"`{kind.id_name}`" in page
