"""Keys are found on their lines, however the file is written."""

from __future__ import annotations

import tomllib
from typing import Any

from sayso.toml_file import KeyPath, parse_toml

TEXT = '''# a comment with = and [brackets]
[store]
url = "redis://[::1]:6379/0"  # "quoted"

[people."alice b"]
slack = 'U0ALICE'
telegram = [
  4242,   # one
  43,
]
[[route]]
to = ["slack:C1", """slack:
C2 ]"""]
[[route]]
"approvers" = []
timeout = "1m"

[policy]
allow = [
  { tool = "read" },
  { tool = "bash", params = { command = "git = status", dir.name = "x" } },
]
default="ask"
at = 1979-05-27 07:32:00
'''


def test_keys_tables_and_items_stand_on_their_lines() -> None:
    lines = parse_toml(TEXT, "x")[1]

    assert lines["store", "url"] == 3
    assert lines["people", "alice b"] == 5
    assert lines["people", "alice b", "telegram", 1] == 9
    assert lines["route", 0, "to", 1] == 12
    assert lines["route", 1] == 14
    assert lines["route", 1, "approvers"] == 15
    assert lines["policy", "allow", 1, "params", "dir", "name"] == 21
    assert lines["policy", "default"] == 23


def test_every_value_of_the_file_has_a_line_and_nothing_else_has() -> None:
    lines = parse_toml(TEXT, "x")[1]

    assert set(_leaves(tomllib.loads(TEXT))) <= set(lines)


def test_windows_line_ends_count_once() -> None:
    assert parse_toml("a = 1\r\nb = 2\r\n", "x")[1]["b",] == 2


def _leaves(value: Any, path: KeyPath = ()) -> list[KeyPath]:
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for n, item in enumerate(value) for leaf in _leaves(item, (*path, n))]
    return [path]
