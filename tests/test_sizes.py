"""Files, functions and packages stay small, and the budgets of packages only fall."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest
from support.budgets import Size, count_sizes, find_excess, find_slack, read_budgets

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["importlinter"]["root_packages"]
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 40
MOST_FLOORS = 9
# Written on the line of a longer function, or on the one above: why it is not taken apart.
A_WORD_WHY = "# long: "


def _modules() -> list[Path]:
    roots = ("core", "adapters", "bots", "playground", "examples", "docs", "tests")
    return [path for root in roots for path in sorted((ROOT / root).rglob("*.py"))]


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in _modules()
    }

    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def _long_functions(path: Path) -> Iterator[str]:
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
        length = (node.end_lineno or node.lineno) - first.lineno + 1
        first_line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        said = "\n".join(lines[first_line - 2 : first.lineno])
        if length > MOST_LINES_OF_A_FUNCTION and A_WORD_WHY not in said:
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {length} lines"


def test_no_function_is_long_without_a_word_why() -> None:
    assert [long for path in _modules() for long in _long_functions(path)] == []


@cache
def _imports() -> grimp.ImportGraph:
    graph = grimp.build_graph(*PACKAGES)
    for kind in graph.find_children("sayso.questions"):  # lazy names, as pyproject.toml says
        graph.remove_import(importer="sayso.events", imported=kind)
    return graph


def _rooms() -> list[str]:
    graph = _imports()
    return sorted(module for module in graph.modules if graph.find_children(module))


@pytest.mark.parametrize("room", _rooms())
def test_no_room_has_too_many_floors(room: str) -> None:
    graph = _imports()
    inside = sorted(graph.find_children(room))

    @cache
    def floor(module: str) -> int:
        below = [
            other
            for other in inside
            if other != module
            and graph.direct_import_exists(importer=module, imported=other, as_packages=True)
        ]
        return 1 + max(map(floor, below), default=0)

    assert max(map(floor, inside)) <= MOST_FLOORS


def test_no_package_exceeds_its_budget() -> None:
    budgets = read_budgets()
    sizes = count_sizes(budgets)

    excesses = {
        name: excess
        for name, size in sizes.items()
        if (excess := find_excess(budgets.get(name, Size(0)), size))
    }

    assert excesses == {}, "take lines out, or move them with their budget in tests/budgets.toml"


def test_no_budget_is_higher_than_its_package_needs() -> None:
    budgets = read_budgets()
    sizes = count_sizes(budgets)
    empty = Size(0, 0)

    slack = {
        name: found
        for name, budget in budgets.items()
        if (found := find_slack(budget, sizes.get(name, empty))) or name not in sizes
    }

    assert slack == {}, "lower them: make budgets"


def test_a_few_lines_more_or_less_need_no_new_budget() -> None:
    budget = Size(1000, 5)

    assert find_excess(budget, Size(1000, 5)) == ""
    assert "1 more" in find_excess(budget, Size(1001, 5))
    assert "6 modules" in find_excess(budget, Size(1000, 6))
    assert find_slack(budget, Size(960, 4)) == ""
    assert "959" in find_slack(budget, Size(959, 4))
    assert "3" in find_slack(budget, Size(1000, 3))
