"""The list of deliberate mistakes stays true: ``make mutants`` plants them."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from mutants.mutant import ROOT, Mutant, StaleMutantError, mutants
from mutants.run import Copy

_ALL = mutants()


def test_there_are_at_least_sixty_and_each_has_a_name_of_its_own() -> None:
    assert len(_ALL) >= 60
    assert [name for name, times in Counter(one.name for one in _ALL).items() if times > 1] == []


def test_every_mistake_can_still_be_planted() -> None:
    assert [why for one in _ALL if (why := _why_not(one))] == []


def test_the_tests_that_must_notice_a_mistake_exist() -> None:
    assert [one.name for one in _ALL if not one.tests] == []
    named = ((one.name, test) for one in _ALL for test in one.tests)
    assert [(mistake, test) for mistake, test in named if not _exists(test)] == []


def test_a_copy_to_plant_mistakes_in_has_every_file_of_the_tree_that_is_not_hidden(
    tmp_path: Path,
) -> None:
    files = _known_files()
    if not files:
        pytest.skip("no git knows which files there are")

    Copy(tmp_path / "1", "redis://unused")

    assert "Makefile" in files
    assert [one for one in files if not (tmp_path / "1" / one).exists()] == []


def _known_files() -> list[str]:
    """The files that git knows and that are there; none where there is no git."""
    if shutil.which("git") is None:
        return []
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    known = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    names = (one for one in known.stdout.decode().split("\0") if one and one[0] != ".")
    return [one for one in names if (ROOT / one).exists()]


def _why_not(one: Mutant) -> str:
    """Why a mistake cannot be planted, or nothing."""
    text = _text(one.file)
    try:
        return f"{one.name}: it changes nothing" if one.planted(text) == text else ""
    except StaleMutantError as error:
        return str(error)


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    if not (ROOT / file).is_file():
        return False
    return not name or name.partition("[")[0] in _names(file)


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text()


@cache
def _names(file: str) -> set[str]:
    return set(_qualified(ast.parse((ROOT / file).read_text()).body, ""))


def _qualified(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"{prefix}{node.name}"
            yield from (f"{prefix}{node.name}::{name}" for name in _own_and_inherited(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}"


def _own_and_inherited(node: ast.ClassDef) -> Iterator[str]:
    """What a class of tests has: its own, and those of the contracts that it inherits."""
    yield from _qualified(node.body, "")
    for base in node.bases:
        if isinstance(base, ast.Name) and (contract := _contracts().get(base.id)):
            yield from _own_and_inherited(contract)


@cache
def _contracts() -> dict[str, ast.ClassDef]:
    folders = (ROOT / "tests/support", ROOT / "tests/store_contracts")
    paths = (path for folder in folders for path in folder.glob("*.py"))
    every = (ast.parse(path.read_text()) for path in paths)
    return {node.name: node for one in every for node in one.body if isinstance(node, ast.ClassDef)}
