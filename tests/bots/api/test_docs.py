"""What docs/http-api.md shows works as it stands there."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.api_world import CI, REVIEWER, World, world_on
from support.commands import Run
from support.playing import a_playground

from sayso.stores.connect import open_store
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.api import bodies
from sayso_bots.api.bodies import Kind, request_kinds, response_kinds
from sayso_bots.config.api_tokens import hash_token

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[3] / "docs" / "http-api.md"


def example(language: str) -> str:
    """The example of the page in this language."""
    match = re.search(rf"<!-- run by .*-->\n```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return match[1]


def page_settings() -> str:
    """The settings of the page, with the hashes, the channel and the platforms of these tests."""
    match = re.search(r"```toml\n\[slack]\nmode = [^\n]+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    toml = match[1].replace("C0123ABCD", "C0OPS")
    for name, token in (("ci", CI), ("reviewer", REVIEWER)):
        hashed = re.compile(rf'(name = "{name}"\nsha256 = )"[0-9a-f]{{64}}"')
        toml, count = hashed.subn(rf'\1"{hash_token(token)}"', toml)
        assert count == 1
    return toml


async def run_script(folder: Path, url: str, token: str) -> tuple[int | None, str]:
    """The example as it stands on the page."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl: apt-get install curl")
    (folder / "ask.sh").write_text(example("sh"))
    (folder / "events.txt").write_text("id: of an earlier run\n\nevent: PERMISSION_APPROVED\n\n")
    process = await asyncio.create_subprocess_exec(
        "sh",
        "ask.sh",
        cwd=folder,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "SAYSO_URL": url,
            "SAYSO_TOKEN": token,
            "REVIEWER_TOKEN": REVIEWER,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        # It ends with all it has started: otherwise this pipe would stay open.
        out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_curl_asks_listens_and_answers_with_the_settings_of_the_page(
    tmp_path: Path,
) -> None:
    async with (
        a_playground() as playground,
        open_store("memory://") as backend,
        world_on(playground, backend, page_settings()) as world,
    ):
        code, out = await run_script(tmp_path, world.url, CI)

    assert code == 0, out
    asked, end = json.JSONDecoder().raw_decode(out)
    answered, heard = json.JSONDecoder().raw_decode(out, end)
    assert asked["response"] is None
    assert answered["decidedBy"] == "api:reviewer"
    assert answered["reason"] == "the plan looks good"
    assert re.findall(r"^event: (\w+)$", out[heard:], re.MULTILINE) == [
        "PERMISSION_REQUEST",
        "PERMISSION_RESPONSE",
        "PERMISSION_APPROVED",
    ]


async def test_the_script_ends_and_says_why_when_it_is_refused(
    world: World, tmp_path: Path
) -> None:
    code, out = await run_script(tmp_path, world.url, "sayso_wrong")

    assert code == 1
    assert "this token is not known" in out


async def test_the_tokens_of_the_page_can_be_made_as_it_says(run: Run) -> None:
    lines = re.findall(r"\$\((sayso api token .*)\)$", PAGE.read_text(), re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        done = run(*shlex.split(line)[1:])
        _, section = done.err.split("\n\n", 1)
        assert done.out.startswith("sayso_")
        assert without_hashes(section.strip()) in without_hashes(PAGE.read_text())


def without_hashes(text: str) -> str:
    return re.sub(r'"[0-9a-f]{64}"', '"…"', text)


async def test_the_page_names_every_code() -> None:
    page = PAGE.read_text()
    raised = set()
    for module in Path(bodies.__file__).parent.glob("*.py"):
        raised |= set(re.findall(r'ApiProblem\(\s*\d+,\s*"(\w+)"', module.read_text()))

    assert len(raised) > 12
    assert not {code for code in raised if f"`{code}`" not in page}


async def test_the_page_names_the_id_of_every_kind_that_comes_with_sayso() -> None:
    page = PAGE.read_text()

    kinds: list[Kind[Any]] = [*request_kinds().values(), *response_kinds().values()]
    for kind in kinds:
        if kind.model.__module__.startswith("sayso."):
            assert f"`{kind.id_name}`" in page
