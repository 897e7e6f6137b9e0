"""The list of deliberate mistakes stays true: ``make mutants`` plants them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from mutants.mutant import ROOT, Mutant, mutants

_ALL = mutants()
_EACH = pytest.mark.parametrize("one", _ALL, ids=[one.name for one in _ALL])


def test_there_are_at_least_sixty_and_each_has_a_name_of_its_own() -> None:
    assert len(_ALL) >= 60
    assert [name for name, times in Counter(one.name for one in _ALL).items() if times > 1] == []


@_EACH
def test_a_mistake_can_still_be_planted(one: Mutant) -> None:
    text = (ROOT / one.file).read_text()

    assert one.planted(text) != text


@_EACH
def test_the_tests_that_must_notice_a_mistake_exist(one: Mutant) -> None:
    assert one.tests
    for test in one.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file()
        assert not name or name.partition("[")[0] in _names(file)


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
    """What a class of tests has: its own, and those of the contracts in tests/support."""
    yield from _qualified(node.body, "")
    for base in node.bases:
        if isinstance(base, ast.Name) and (contract := _contracts().get(base.id)):
            yield from _own_and_inherited(contract)


@cache
def _contracts() -> dict[str, ast.ClassDef]:
    every = (ast.parse(path.read_text()) for path in (ROOT / "tests/support").glob("*.py"))
    return {node.name: node for one in every for node in one.body if isinstance(node, ast.ClassDef)}
