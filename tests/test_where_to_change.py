"""The list of what to change where is true: what it names is defined in the file it names."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


def _lua_names(path: Path) -> set[str]:
    return set(re.findall(r"^(?:local )?function (\w+)\(", path.read_text(), re.MULTILINE))


def _toml_names(path: Path) -> set[str]:
    """Tables and keys with all that they stand in, as ``table.key``."""

    def defined(table: dict[str, Any], before: str = "") -> Iterator[str]:
        for key, value in table.items():
            yield before + key
            if isinstance(value, dict):
                yield from defined(value, f"{before}{key}.")

    return set(defined(tomllib.loads(path.read_text())))


_NAMES: dict[str, Callable[[Path], set[str]]] = {
    ".py": _python_names,
    ".lua": _lua_names,
    ".toml": _toml_names,
}


def test_there_are_as_many_changes_as_a_newcomer_was_asked_about() -> None:
    lines = [line for line in _section().splitlines() if line.startswith("| ")]

    assert len(ROWS) == len(lines) - 1, "a row does not have the form of the others"
    assert len(ROWS) >= 34
    assert len({row["what"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["what"]))
def test_what_is_to_be_changed_is_there(row: dict[str, str]) -> None:
    path = ROOT / row["file"]

    assert path.is_file()
    assert row["name"] in _NAMES[path.suffix](path)


def test_a_name_that_is_only_mentioned_is_not_defined(tmp_path: Path) -> None:
    lua, toml = tmp_path / "a.lua", tmp_path / "a.toml"
    lua.write_text("local function put(kind)\nend\nring(inbox)\n")
    toml.write_text('[tool.checks]\nstrict = true\n[[tool.rules]]\nname = "one"\n')

    assert _lua_names(lua) == {"put"}
    assert _toml_names(toml) == {"tool", "tool.checks", "tool.checks.strict", "tool.rules"}
