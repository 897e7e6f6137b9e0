"""Claude Code's HTTP hook in its settings: where it leads, and which version reads it rightly."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from sayso.errors import ConfigError
from sayso.platforms.bot import Finding
from sayso_bots.hook.agents import CLAUDE_CODE
from sayso_bots.hook.settings_file import (
    SCOPES,
    HttpHook,
    HttpHookFound,
    are_hooks_off,
    find_http_hooks,
    settings_file,
)

DECIDE_PATH, REPORT_PATH = "/hooks/claude-code", "/hooks/claude-code/ran"

MIN_VERSION = (2, 1, 295)
"""The first Claude Code that stops a call when its HTTP hook fails. Older ones run it."""

_VERSION_SECONDS = 20.0
# No secret of the user's is among these: what is found as `claude` may be anything.
_VERSION_ENV = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "CLAUDE_CONFIG_DIR")
_SHARED = (
    "its HTTP hook is for all on the project, and an older Claude Code runs every call with it"
)


def read_version(env: Mapping[str, str]) -> tuple[int, ...] | None:
    """Return the version of the Claude Code that is found first; None where there is none."""
    command = which("claude", path=env.get("PATH"))
    if command is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  the user's own
            (command, "--version"),
            env={name: env[name] for name in _VERSION_ENV if name in env},
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
    found: list[tuple[Path, HttpHookFound]] = []
    reports: list[tuple[Path, HttpHookFound]] = []
    off: list[Path] = []
    files = [settings_file(CLAUDE_CODE, scope, env, folder) for scope in SCOPES]
    user, project, _ = files
    for at in dict.fromkeys(files):
        try:
            found += [(at, one) for one in find_http_hooks(at, CLAUDE_CODE.events)]
            reports += [(at, one) for one in find_http_hooks(at, tuple(CLAUDE_CODE.outcomes))]
            off += [at] if are_hooks_off(at) else []
        except ConfigError as error:
            yield Finding("failed", "hook", str(error))
    if found:
        for at in off:
            text = f"{at}: disableAllHooks lets calls run without a hook; remove it"
            yield Finding("failed", "hook", text)
    for at, one in found:
        if at == project != user:
            text = f"{at}: {_SHARED}; run `sayso hook install claude-code --scope project`"
            yield Finding("failed", "hook", text)
            continue
        beside = [other for file, other in reports if file == at]
        why = (
            _find_fault(one)
            or _find_changed_matcher(one, beside)
            or explain_version(read_version(env))
        )
        if why:
            text = f"{at}: {why}; run `sayso hook install claude-code --http` again"
            yield Finding("failed", "hook", text)
        else:
            tools = _name_tools(one.entry["matcher"])
            text = f"{at}: Claude Code stops a call{tools} when its hook fails"
            yield Finding("ok", "hook", text)


def _find_fault(found: HttpHookFound) -> str:
    """Compare a hook with what is installed; the port and the limit are free."""
    hook, matcher = found.hook, found.entry.get("matcher")
    if hook.get("onFailure") != "block":
        return 'its HTTP hook lets calls run when it fails: onFailure is not "block"'
    if not _is_decide_url(hook.get("url")):
        return f"its HTTP hook does not ask this machine's `sayso hook serve`: {hook.get('url')!r}"
    if not isinstance(matcher, str):
        return "its HTTP hook has no matcher, or one that is not a text"
    if type(hook.get("timeout")) not in (int, float):
        return "its HTTP hook has no timeout, or one that is not a number of seconds"
    whole = HttpHook(found.event, matcher, hook["url"], hook["timeout"]).entry
    (written,) = whole.pop("hooks")
    around = {key: value for key, value in found.entry.items() if key != "hooks"}
    changed = [*_find_changed(around, whole), *_find_changed(hook, written)]
    return f"its HTTP hook is not as it was installed: {', '.join(changed)}" if changed else ""


def _find_changed_matcher(found: HttpHookFound, reports: Sequence[HttpHookFound]) -> str:
    """Compare the tools of a hook with those of the reports, which were installed with it."""
    matcher = found.entry.get("matcher")
    others = [one.entry.get("matcher") for one in reports]
    if found.event != CLAUDE_CODE.events[0] or all(other == matcher for other in others):
        return ""
    return (
        f"its HTTP hook is not as it was installed: matcher {matcher!r} is not that of its reports"
    )


def _find_changed(has: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[str]:
    absent = object()
    for key in sorted({*has, *written}):
        if has.get(key, absent) != written.get(key, absent):
            yield key


def _is_decide_url(url: object) -> bool:
    if not isinstance(url, str):
        return False
    hosts = "|".join(map(re.escape, ("127.0.0.1", "[::1]", "localhost")))
    return re.fullmatch(rf"http://(?:{hosts}):[1-9][0-9]{{0,4}}{DECIDE_PATH}", url) is not None


def _name_tools(matcher: str) -> str:
    return "" if matcher in ("", "*") else f" of {matcher!r}, and of no other tool,"
