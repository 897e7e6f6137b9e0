"""The pages of docs/agents about hooks are true: their lines install them, their settings load."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sayso import RunRef, ToolCall
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso_bots.config.store_settings import read_ask_settings
from sayso_bots.hook.agents import AGENTS, HookAgent

ROOT = Path(__file__).parents[3]
FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}


def _block(agent: str, what: str) -> str:
    page = (ROOT / "docs" / "agents" / f"{agent}.md").read_text()
    (found,) = re.findall(rf"<!-- {what} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_the_lines_of_the_page_install_the_hook(agent: HookAgent, tmp_path: Path) -> None:
    lines = _block(agent.key, "installs")
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
    settings = json.loads((tmp_path / FILES[agent.key]).read_text())
    (entry,) = settings["hooks"]["PreToolUse"]
    command = entry["hooks"][0]["command"]

    assert done.returncode == 0, done.stderr
    assert len(lines.splitlines()) <= 3
    assert command.endswith(
        f"hook {agent.key} --config /dev/null --timeout 10m --store redis://127.0.0.1:6379/0 "
        f"--agent {agent.key} {agent.otherwise}"
    )
    assert entry["hooks"][0]["timeout"] == 660


@pytest.mark.parametrize("tool", ["Edit", "Write"])
async def test_the_policy_of_the_page_lets_nobody_write_the_settings_of_a_project(
    tool: str, tmp_path: Path
) -> None:
    (tmp_path / "sayso.toml").write_text(_block("claude-code", "policy"))
    policy = read_ask_settings(str(tmp_path / "sayso.toml"), {}).policies

    async def ruling(path: str) -> Ruling | None:
        call = ToolCall(tool, {"file_path": path})
        decided = await evaluate(policy, call, PolicyContext(RunRef("claude-code", "s-1")))
        return None if decided is None else decided.ruling

    assert await ruling("/home/me/shop/src/main.py") is not Ruling.DENY
    for name in ("settings.json", "settings.local.json"):
        assert await ruling(f"/home/me/shop/.claude/{name}") is Ruling.DENY
        assert await ruling(f".claude/{name}") is Ruling.DENY


def test_the_settings_on_the_page_are_those_that_are_tried() -> None:
    assert json.loads(_block("claude-code", "settings")) == {
        "permissions": {"defaultMode": "dontAsk"}
    }
