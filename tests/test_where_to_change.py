"""The list of what to change where is true: what it names is defined in the file it names."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEADING = "## Where to change what"
_ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| `(?P<name>[^`|]+)` in `(?P<file>[\w./-]+)` \|$", re.MULTILINE
)


def _section() -> str:
    text = (ROOT / "docs" / "architecture.md").read_text()
    return text.partition(HEADING)[2].partition("\n## ")[0]


ROWS = [match.groupdict() for match in _ROW.finditer(_section())]


def _python_names(path: Path) -> set[str]:
    """Functions, classes, their members and constants, as ``name`` or ``Class.name``."""

    def defined(body: list[ast.stmt]) -> set[str]:
        found = set()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Assign):
                found.update(target.id for target in node.targets if isinstance(target, ast.Name))
            if isinstance(node, ast.ClassDef):
                found.update(f"{node.name}.{member}" for member in defined(node.body))
        return found

    return defined(ast.parse(path.read_text()).body)


def test_there_are_as_many_changes_as_a_newcomer_was_asked_about() -> None:
    lines = [line for line in _section().splitlines() if line.startswith("| ")]

    assert len(ROWS) == len(lines) - 1, "a row does not have the form of the others"
    assert len(ROWS) >= 34
    assert len({row["what"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["what"]))
def test_what_is_to_be_changed_is_there(row: dict[str, str]) -> None:
    path = ROOT / row["file"]

    assert path.is_file()
    if path.suffix == ".py":
        assert row["name"] in _python_names(path)
    elif path.suffix == ".toml":
        assert row["name"] in tomllib.loads(path.read_text())
    else:
        assert row["name"] in path.read_text()
