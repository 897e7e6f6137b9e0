"""Every word of a table is said somewhere: a translator writes none in vain."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = [
    path
    for root in ("core", "adapters", "bots", "playground")
    for path in (ROOT / root).rglob("*.py")
]
TABLES = [path for path in CODE if path.name == "words.py"]


def _words(table: Path) -> list[str]:
    classes = [node for node in ast.parse(table.read_text()).body if isinstance(node, ast.ClassDef)]
    return [
        field.target.id
        for one in classes
        for field in one.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.parent.name)
def test_every_word_of_a_table_is_said(table: Path) -> None:
    code = "\n".join(path.read_text() for path in CODE)

    words = _words(table)

    assert words
    assert [word for word in words if not re.search(rf"\.{word}\b", code)] == []
