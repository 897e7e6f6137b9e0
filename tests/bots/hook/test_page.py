"""docs/agents/claude-code.md is true: its lines install the hook, its settings load."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "agents" / "claude-code.md").read_text()


def _block(what: str) -> str:
    (found,) = re.findall(rf"<!-- {what} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_lines_of_the_page_install_the_hook(tmp_path: Path) -> None:
    lines = _block("installs")
    home = {"HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(
        ["sh", "-e", "-c", lines],
        cwd=tmp_path,
        env={**home, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    (entry,) = settings["hooks"]["PreToolUse"]

    assert done.returncode == 0, done.stderr
    assert len(lines.splitlines()) <= 3
    assert entry["hooks"][0]["command"].endswith("hook claude-code --timeout 10m || exit 2")
    assert entry["hooks"][0]["timeout"] == 660


def test_the_settings_on_the_page_are_those_that_are_tried() -> None:
    assert json.loads(_block("settings")) == {"permissions": {"defaultMode": "dontAsk"}}
