"""The pictures of docs/questions can be taken again, by the command that the documents name."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from support.browser import NO_CHROMIUM, chromium
from support.examples import examples

SCRIPT = Path(__file__).with_name("question_pictures.py")
PICTURES = Path(__file__).parents[2] / "docs" / "images" / "questions"

if chromium() is None and not os.environ.get("CI"):
    pytest.skip(NO_CHROMIUM, allow_module_level=True)


@pytest.mark.skipif(examples(5) < 5, reason="it takes a minute: make check does it")
@pytest.mark.timeout(240)
async def test_every_picture_of_the_questions_can_be_taken_again(tmp_path: Path) -> None:
    # The example's kind of question is known in its process only.
    script = await asyncio.create_subprocess_exec(
        sys.executable, str(SCRIPT), str(tmp_path), stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(180):
        _, said = await script.communicate()

    assert script.returncode == 0, said.decode()
    taken = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(taken) == sorted(path.name for path in PICTURES.glob("*.png"))
    assert {name: size for name, size in taken.items() if not 2_000 < size < 80_000} == {}
