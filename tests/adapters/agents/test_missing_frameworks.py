"""A door whose framework is missing says so in a line, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules

import pytest

import sayso_agents

ROOT = Path(__file__).parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SHARED = {"calls", "kept", "used"}
DOORS = sorted({module.name for module in iter_modules(sayso_agents.__path__)} - SHARED)
PACKAGES = (
    *("ag_ui.core", "agent_framework", "agents", "claude_agent_sdk", "crewai", "google.adk"),
    *("langchain", "pydantic_ai", "strands"),
)

_WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({PACKAGES}))
try:
    import sayso_agents.{{door}}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("door", DOORS)
def test_a_missing_framework_is_told_in_a_line_with_the_command(door: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(door=door)],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    wanted = " ".join(f"'{requirement}'" for requirement in EXTRAS[door.replace("_", "-")])
    assert done.stdout.count("\n") == 1, done.stderr
    assert done.stdout.endswith(f": pip install {wanted}\n")
