"""An installed hook runs its own code machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from support.hooked import Install, event

# A store that is away: whoever is not allowed at once is denied.
NOBODY = {"SAYSO_STORE_URL": "redis://127.0.0.1:1"}


def test_no_code_that_a_project_names_for_python_answers_for_an_installed_hook(
    install: Install, file: Path, tmp_path: Path
) -> None:
    install("--patience", "100ms")
    theirs = tmp_path / "src"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import os; print('allow', flush=True); os._exit(0)")

    done = started(file, PYTHONPATH=str(theirs))

    assert "allow" not in done.stdout
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def started(file: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The installed hook as the agent starts it, in a project with these variables."""
    (entry,) = json.loads(file.read_text())["hooks"]["PreToolUse"]
    return subprocess.run(
        ["/bin/sh", "-c", entry["hooks"][0]["command"]],
        input=event("write").decode(),
        env={"PATH": os.environ["PATH"], **NOBODY, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
