"""What is sent to Redis as a script: its own text, after the common functions that it needs."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from sayso.stores.redis.client import Script

_FOLDER = files("sayso.stores.redis") / "scripts"
_NAMES = sorted(path.name.removesuffix(".lua") for path in _FOLDER.iterdir())
_MADE = re.compile(r"^local function (\w+)", re.MULTILINE)
_COMMON = set(_MADE.findall((_FOLDER / "common.lua").read_text("utf-8")))


@pytest.mark.parametrize("name", [name for name in _NAMES if name != "common"])
def test_a_script_has_each_common_function_that_it_calls_before_it_and_no_others(name: str) -> None:
    text = Script(name).text
    made = {found[1]: found.end() for found in _MADE.finditer(text)}
    first_called: dict[str, int] = {}
    for found in re.finditer(r"(?<!function )\b(\w+)\(", text):
        first_called.setdefault(found[1], found.start())

    needed = _COMMON & set(first_called)

    assert needed == _COMMON & set(made)
    assert [one for one in needed if first_called[one] < made[one]] == []
    assert text.endswith((_FOLDER / f"{name}.lua").read_text("utf-8"))
