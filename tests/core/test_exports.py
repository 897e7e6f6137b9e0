"""What `from sayso import …` gives: complete, told to type checkers, and each with its promise."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import sayso

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def _checked_imports() -> dict[str, str]:
    """What only type checkers import, by the module it is from."""
    tree = ast.parse(Path(str(sayso.__file__)).read_text())
    guarded = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: str(node.module)
        for found in guarded
        for node in found.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("name", sayso.__all__)
def test_every_name_that_is_listed_is_there_and_says_what_it_promises(name: str) -> None:
    found = getattr(sayso, name)

    written = inspect.getdoc(found) or ""
    is_own = inspect.isclass(found) or inspect.isroutine(found)
    promised = is_own and written and not written.startswith(f"{name}(")
    documented = any(re.search(rf"`[^`\n]*\b{name}\b", path.read_text()) for path in DOCUMENTS)
    assert promised or documented


def test_type_checkers_are_told_the_truth_about_what_is_loaded_later() -> None:
    loaded = {name: file for file, names in sayso._FILES.items() for name in names}

    assert _checked_imports() == loaded
    assert set(loaded) == set(sayso.__all__)


def test_the_list_is_complete_and_names_nothing_twice() -> None:
    public = {name for name in dir(sayso) if not name.startswith("_")}
    ours = {
        name
        for name in public
        if str(getattr(getattr(sayso, name), "__module__", "")).startswith("sayso.")
    }

    assert len(set(sayso.__all__)) == len(sayso.__all__)
    assert ours <= set(sayso.__all__) <= public


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sayso' has no attribute 'Gaet'"):
        _ = sayso.Gaet  # type: ignore[attr-defined]
