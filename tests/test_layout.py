"""The tree explains itself: packages in source roots, all of them shipped, imports one way."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ("core", "adapters", "bots", "playground")
BESIDE = {"__pycache__", "pyproject.toml", "README.md"}  # playground/ is a distribution of its own

ROOM_BY_ROOM = {"core/sayso": "tests/core", "bots/sayso_bots": "tests/bots"}
# A chat is tested from a card to a press, through all of its rooms.
AS_A_WHOLE = {
    "adapters/sayso_agents": "tests/adapters/agents",
    "adapters/sayso_slack": "tests/adapters/slack",
    "adapters/sayso_telegram": "tests/adapters/telegram",
    "playground/sayso_playground": "tests/playground",
}
# Promises alone: the contracts in memory/ and redis/ are their tests.
WITHOUT_TESTS = {"core/sayso/stores/protocols"}

SOURCES = {".py", ".lua"}
# Made-up people and places of the contracts: to a store, theirs are names as any other.
NAMING_EXAMPLES = {"testing"}
# What tools of others are called, as data: some of them post where our cards are shown, too.
NAMING_TOOLS = {"known/wordings.py"}


def _packages(root: str) -> list[Path]:
    return [path for path in (ROOT / root).iterdir() if path.name not in BESIDE]


def _shipped() -> list[str]:
    """The packages of both distributions, as folders of the tree."""
    found = []
    for folder in ("", "playground/"):
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())
        packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        found += [f"{folder}{package}" for package in packages]
    return found


def test_every_package_is_shipped_and_nothing_else_lives_in_a_root() -> None:
    present = [f"{root}/{path.name}" for root in ROOTS for path in _packages(root)]

    assert sorted(present) == sorted(_shipped())


def test_every_package_is_under_the_layer_contracts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    guarded = project["tool"]["importlinter"]["root_packages"]

    assert sorted(guarded) == sorted(path.partition("/")[2] for path in _shipped())


@pytest.mark.parametrize("root", ROOTS)
def test_every_package_is_typed(root: str) -> None:
    assert [path.name for path in _packages(root) if not (path / "py.typed").is_file()] == []


def _rooms(package: str) -> set[str]:
    folder = ROOT / package
    inside = {path.parent.relative_to(folder).as_posix() for path in folder.rglob("__init__.py")}
    return inside - {"."}


@pytest.mark.parametrize(("package", "tests"), ROOM_BY_ROOM.items())
def test_every_room_has_a_room_of_tests_and_there_are_no_others(package: str, tests: str) -> None:
    rooms = {room for room in _rooms(package) if f"{package}/{room}" not in WITHOUT_TESTS}
    tested = {
        path.parent.relative_to(ROOT / tests).as_posix()
        for path in (ROOT / tests).rglob("test_*.py")
    }

    assert tested - {"."} == rooms


def test_the_core_names_no_platform() -> None:
    core = ROOT / "core" / "sayso"
    files = [path for path in core.rglob("*") if path.suffix in SOURCES]
    naming = {
        f"{path.relative_to(core)}:{number}"
        for path in files
        if path.relative_to(core).parts[0] not in NAMING_EXAMPLES
        and path.relative_to(core).as_posix() not in NAMING_TOOLS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search("slack|telegram", line, re.IGNORECASE)
    }

    assert len(files) > 150
    assert naming == set()


def test_every_other_package_has_one_room_of_tests() -> None:
    packages = {path for path in _shipped() if path not in ROOM_BY_ROOM}

    assert packages == set(AS_A_WHOLE)
    for tests in AS_A_WHOLE.values():
        assert {path.parent for path in (ROOT / tests).rglob("test_*.py")} == {ROOT / tests}


def test_every_exception_from_that_is_still_a_room() -> None:
    assert [room for room in WITHOUT_TESTS if not (ROOT / room / "__init__.py").is_file()] == []


def test_every_module_says_what_it_is_for() -> None:
    modules = [path for root in ROOTS for path in (ROOT / root).rglob("*.py")]

    assert [
        str(path.relative_to(ROOT)) for path in modules if not path.read_text().startswith('"""')
    ] == []


def test_every_room_says_in_two_sentences_what_belongs_there_and_what_does_not() -> None:
    rooms = [path for root in ROOTS for path in (ROOT / root).rglob("__init__.py")]
    said = {path: ast.get_docstring(ast.parse(path.read_text())) or "" for path in rooms}

    assert [
        str(path.relative_to(ROOT))
        for path, text in said.items()
        if len(re.findall(r"\.(?=\s|$)", text)) < 2
    ] == []


def test_no_protocol_is_checked_at_run_time() -> None:
    """An ``isinstance`` of one costs ten times what looking for its method does."""
    modules = [path for root in ROOTS for path in (ROOT / root).rglob("*.py")]

    checked = [path for path in modules if "runtime_checkable" in path.read_text()]

    assert [str(path.relative_to(ROOT)) for path in checked] == []
