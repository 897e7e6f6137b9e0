"""A door whose framework is missing says so in a line, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules

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
from importlib import import_module
sys.modules.update(dict.fromkeys({PACKAGES}))
for door in {DOORS}:
    try:
        import_module(f"sayso_agents.{{door}}")
    except ImportError as error:
        print(error)
"""


def test_a_missing_framework_is_told_in_a_line_with_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False, timeout=50
    )

    lines = done.stdout.splitlines()
    assert len(lines) == len(DOORS), done.stderr
    for door, line in zip(DOORS, lines, strict=True):
        wanted = " ".join(f"'{requirement}'" for requirement in EXTRAS[door.replace("_", "-")])
        assert line.endswith(f": pip install {wanted}")
