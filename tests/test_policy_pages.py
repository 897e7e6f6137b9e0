"""The pages of docs/policies are true: each is a script that prints what stands below its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "policies"
INDEX = FOLDER / "README.md"
PAGES = sorted(FOLDER.glob("*.md"))

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<told>.*?)^```$)?", re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_a_script_that_prints_what_it_says(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": page.stem}
    blocks = list(_BLOCK.finditer(page.read_text()))

    assert blocks
    for block in blocks:
        line = page.read_text().count("\n", 0, block.start("code"))
        code = "\n" * line + block["code"]
        exec(compile(code, str(page), "exec", dont_inherit=True), names)
        assert capsys.readouterr().out == (block["told"] or ""), f"{page.name}:{line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_output_stands_below_its_code(page: Path) -> None:
    text = page.read_text()

    assert text.count("```text\n") == sum(bool(found["told"]) for found in _BLOCK.finditer(text))


def test_every_page_stands_in_the_list_and_the_readme_leads_there() -> None:
    index = INDEX.read_text()

    assert [page.name for page in PAGES if page != INDEX and f"]({page.name})" not in index] == []
    assert "](docs/policies/README.md)" in (ROOT / "README.md").read_text()
