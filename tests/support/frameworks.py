"""Interpreters of agent frameworks that cannot live beside our tools; `make agents` makes them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_ENVIRONMENTS = Path(__file__).parents[2] / ".venv-agents"


def interpreter(name: str) -> Path:
    """The Python of one of tests/agents/locks; "" is our own.

    Where it is not installed, the test has failed.
    """
    if not name:
        return Path(sys.executable)
    home = _ENVIRONMENTS / name
    if not (home / ".installed").is_file():
        pytest.fail(f"{name} is not installed: make .venv-agents/{name}/.installed")
    return home / "bin" / "python"
