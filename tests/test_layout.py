"""The tree explains itself: packages in source roots, all of them shipped, imports one way."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ("core", "adapters", "bots", "playground")
BESIDE = {"__pycache__", "pyproject.toml", "README.md"}  # playground/ is a distribution of its own


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


def test_every_module_says_what_it_is_for() -> None:
    modules = [path for root in ROOTS for path in (ROOT / root).rglob("*.py")]

    assert [
        str(path.relative_to(ROOT)) for path in modules if not path.read_text().startswith('"""')
    ] == []
