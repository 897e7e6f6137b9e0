"""The table of programs holds what was reviewed, and nothing that cannot be looked up."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest
from pydantic import TypeAdapter

from sayso.dangers.danger import Danger
from sayso.dangers.programs import Programs, Row, programs


def test_the_table_holds_every_row_once() -> None:
    rows = [(name, row) for name, some in programs().by_name.items() for row in some]

    assert len(rows) == len(set(rows)) >= 383
    assert ("git", Row(("push",), ("--no-verify",), Danger.SKIPS_CHECKS)) in rows
    assert len(programs().runs_others) >= 84


@pytest.mark.parametrize(
    "change",
    [
        {"rows": {"DELETE_FILES": ["rm"]}},
        {"rows": {"DISK": [["fdisk"]]}},
        {"shell": ["sh"]},
        {"shells": "sh"},
    ],
)
def test_a_table_that_is_written_otherwise_is_refused(change: dict[str, Any]) -> None:
    table = tomllib.loads(files("sayso.dangers").joinpath("programs.toml").read_text("utf-8"))
    TypeAdapter(Programs).validate_python(table)

    with pytest.raises(ValueError):
        TypeAdapter(Programs).validate_python({**table, **change})
