"""The programs on the pages about agents, to be run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(page: str) -> list[str]:
    """The blocks of Python on a page of docs/agents, in order."""
    return _PROGRAM.findall((ROOT / "docs" / "agents" / f"{page}.md").read_text())


def begun(program: str, names: dict[str, object]) -> None:
    """Run a program up to its end; what it defines is among the names."""
    exec(compile(program, "a page of docs/agents", "exec"), names)
