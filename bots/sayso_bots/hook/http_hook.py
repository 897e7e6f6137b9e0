"""Claude Code's HTTP hook in its settings: where it leads, and which version reads it rightly."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import Any

from sayso.errors import ConfigError
from sayso.platforms.finding import Finding
from sayso_bots.hook.agents import CLAUDE_CODE
from sayso_bots.hook.settings_file import SCOPES, find_http_hooks, settings_file

DECIDE_PATH, REPORT_PATH = "/hooks/claude-code", "/hooks/claude-code/ran"

MIN_VERSION = (2, 1, 295)
"""The first Claude Code that stops a call when its HTTP hook fails. Older ones run it."""

_VERSION_SECONDS = 20.0


def read_version(env: Mapping[str, str]) -> tuple[int, ...] | None:
    """Return the version of the Claude Code that is found first; None where there is none."""
    command = which("claude", path=env.get("PATH"))
    if command is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  the user's own
            (command, "--version"),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = re.match(r"(\d+)\.(\d+)\.(\d+)\b", done.stdout)
    return None if found is None else tuple(map(int, found.groups()))


def explain_version(version: tuple[int, ...] | None) -> str:
    """Return why an HTTP hook is not safe with this version; empty where it is."""
    needed = ".".join(map(str, MIN_VERSION))
    if version is None:
        return f"no `claude --version` says that it is Claude Code {needed} or newer"
    if version < MIN_VERSION:
        named = ".".join(map(str, version))
        return f"Claude Code {named} runs the call when an HTTP hook fails; {needed} does not"
    return ""


def http_hook_findings(env: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Look at the HTTP hooks of the user and of the project in the folder, where there are some."""
    for scope in SCOPES:
        at = settings_file(CLAUDE_CODE, scope, env, folder)
        try:
            hooks = find_http_hooks(at, CLAUDE_CODE.events)
        except ConfigError as error:
            yield Finding("failed", "hook", str(error))
            continue
        for hook in hooks:
            why = _find_fault(hook) or explain_version(read_version(env))
            if why:
                text = f"{at}: {why}; run `sayso hook install claude-code --http` again"
                yield Finding("failed", "hook", text)
            else:
                yield Finding("ok", "hook", f"{at}: Claude Code stops a call when its hook fails")


def _find_fault(hook: Mapping[str, Any]) -> str:
    blocks = hook.get("onFailure") == "block"
    return "" if blocks else 'its HTTP hook lets calls run when it fails: onFailure is not "block"'
