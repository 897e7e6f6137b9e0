"""The tree explains itself: packages in source roots, all of them shipped, imports one way."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ("core", "adapters", "bots")


def test_every_package_is_shipped_and_nothing_else_lives_in_a_root() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    present = [
        f"{root}/{path.name}"
        for root in ROOTS
        for path in (ROOT / root).iterdir()
        if path.name != "__pycache__"
    ]

    assert sorted(present) == sorted(shipped)


def test_every_package_is_under_the_layer_contracts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    guarded = project["tool"]["importlinter"]["root_packages"]

    assert sorted(guarded) == sorted(path.partition("/")[2] for path in shipped)


@pytest.mark.parametrize("root", ROOTS)
def test_every_package_is_typed(root: str) -> None:
    packages = [path for path in (ROOT / root).iterdir() if path.name != "__pycache__"]

    assert [path.name for path in packages if not (path / "py.typed").is_file()] == []


def test_every_module_says_what_it_is_for() -> None:
    modules = [path for root in ROOTS for path in (ROOT / root).rglob("*.py")]

    assert [
        str(path.relative_to(ROOT)) for path in modules if not path.read_text().startswith('"""')
    ] == []
