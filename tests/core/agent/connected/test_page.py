"""What the page about the handle shows prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.people import People, allow

from sayso.events import Resolution, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent

PAGE = Path(__file__).parents[4] / "docs/agents/handle.md"
STORE = "redis://127.0.0.1:6379/0"
BLOCKS = re.findall(
    r"<!-- handle: prints (.*?) -->\n```python\n(.*?)^```",
    PAGE.read_text(),
    re.DOTALL | re.MULTILINE,
)


def by_day(request: UserInputRequest) -> Resolution | None:
    """A person who allows everything, and sleeps at night."""
    assert isinstance(request, PermissionRequestEvent)
    return None if request.run.run_id == "night" else allow(request)


def test_every_program_on_the_page_is_tried() -> None:
    assert len(BLOCKS) == PAGE.read_text().count("```python") == 3


@pytest.mark.parametrize(("printed", "code"), BLOCKS, ids=range(len(BLOCKS)))
def test_the_code_prints_what_the_page_says(printed: str, code: str, store_url: str) -> None:
    assert STORE in code
    with People(store_url, by_day):
        done = subprocess.run(
            [sys.executable, "-c", code.replace(STORE, store_url)],
            capture_output=True,
            text=True,
            timeout=50,
            check=True,
        )

    assert done.stdout == f"{printed}\n"
