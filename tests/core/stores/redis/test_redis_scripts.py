"""What is sent to Redis as a script: its own text, after the common functions that it needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import sayso
from sayso.stores.redis.script import Script

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


_UPGRADED_MEANWHILE = """
import sys, pathlib
from sayso.stores.redis.script import Script
for path in (pathlib.Path(sys.path[0]) / "sayso/stores/redis/scripts").iterdir():
    path.unlink()
    path.write_text("of another version")
assert "of another version" not in Script("resolve_request").text
"""


def test_a_process_goes_on_with_the_scripts_of_its_own_version_once_another_is_installed(
    tmp_path: Path,
) -> None:
    package = Path(sayso.__file__).parent
    shutil.copytree(package, tmp_path / "sayso", copy_function=os.symlink)
    code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{_UPGRADED_MEANWHILE}"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=50
    )

    assert done.returncode == 0, done.stderr
