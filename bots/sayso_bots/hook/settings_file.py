"""The files in which agents have their hooks: ours goes in and out, all else stays as it means."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import sayso_bots
from sayso.errors import ConfigError
from sayso_bots.hook.agents import CODEX, HookAgent
from sayso_bots.process.files import replace_file
from sayso_bots.strict_json import refuse_duplicates

SCOPES = ("user", "project", "local")
DEFAULT_ADDRESS = "127.0.0.1:8091"
TOKEN_VARIABLE = "SAYSO_HOOK_TOKEN"  # noqa: S105  the name of a secret, not the secret

# A command that we wrote, whatever its options: ours is known by what it runs.
_OURS = re.compile(
    r"(?:^|[\s/'\"])(?:sayso|sayso_bots)['\"]?\s+hook\s+(?:claude-code|codex)(?:\s|$)"
)

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hook:
    """What is written: for which event and tools, which command, and the agent's limit for it."""

    event: str
    matcher: str
    command: str
    seconds: int

    @property
    def entry(self) -> Data:
        """As it stands in the list of its event."""
        hook = {"type": "command", "command": self.command, "timeout": self.seconds}
        return {"matcher": self.matcher, "hooks": [hook]}


@dataclass(frozen=True, slots=True)
class HttpHook:
    """A hook that sends its events to an address, with the token of ``TOKEN_VARIABLE``.

    ``blocks`` says that the call is stopped where that fails.
    """

    event: str
    matcher: str
    url: str
    seconds: int
    blocks: bool = True

    @property
    def entry(self) -> Data:
        """As it stands in the list of its event."""
        hook: Data = {"type": "http", "url": self.url, "timeout": self.seconds}
        if self.blocks:
            hook["onFailure"] = "block"
        hook["headers"] = {"Authorization": f"Bearer ${TOKEN_VARIABLE}"}
        hook["allowedEnvVars"] = [TOKEN_VARIABLE]
        return {"matcher": self.matcher, "hooks": [hook]}


@dataclass(frozen=True, slots=True)
class HttpHookFound:
    """An HTTP hook as it stands in a file: its event, the entry around it, and the hook."""

    event: str
    entry: Data
    hook: Data


def settings_file(agent: HookAgent, scope: str, env: Mapping[str, str], folder: Path) -> Path:
    """Where the hooks of a scope are: the user's, a project's, or the user's of a project.

    Raises:
        ConfigError: the agent has no such file.
    """
    if agent is CODEX:
        if scope == "local":
            raise ConfigError("Codex has no settings of one user in one project")
        own = env.get("CODEX_HOME", "") or str(Path(env.get("HOME", "~")) / ".codex")
        return (Path(own).expanduser() if scope == "user" else folder / ".codex") / "hooks.json"
    if scope == "user":
        home = env.get("CLAUDE_CONFIG_DIR", "") or str(Path(env.get("HOME", "~")) / ".claude")
        return Path(home).expanduser() / "settings.json"
    return folder / ".claude" / f"settings{'.local' if scope == 'local' else ''}.json"


def this_command() -> tuple[str, ...]:
    """The words that start this command from any folder, by Python itself.

    A project may set ``PYTHONPATH`` for the agent, and have a module there that answers in our
    place: what is installed is started without it, a source tree needs it.
    """
    for isolated in ("-I", "-EP"):
        if _starts(isolated):
            return (sys.executable, isolated, "-m", "sayso_bots")
    # Not the folder it is started in: an agent could put a module of any name there.
    return (sys.executable, "-P", "-m", "sayso_bots")


def _starts(option: str) -> bool:
    """Whether Python finds this very code with the option."""
    code = "import sayso_bots; print(sayso_bots.__file__, end='')"
    done = subprocess.run(  # noqa: S603  our own interpreter
        (sys.executable, option, "-c", code), capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and done.stdout == sayso_bots.__file__


def add_hooks(at: Path, hooks: Sequence[Hook | HttpHook]) -> bool:
    """Write the hooks in the place of older ones of ours; whether that changed anything.

    Raises:
        ConfigError: the file is not as its agent could read it, or switches hooks off.
    """
    text, data = _read(at)
    if data.get("disableAllHooks") is True:
        raise ConfigError(f"{at} has disableAllHooks, so no hook would run: remove it first")
    before = json.dumps(data)
    _without_ours(at, data)
    for hook in hooks:
        _list(at, _table(at, data, "hooks"), hook.event).append(hook.entry)
    if json.dumps(data) == before:
        return False
    _write(at, text, data)
    return True


def remove_hook(at: Path) -> bool:
    """Take out what ``add_hooks`` wrote; whether there was anything.

    Raises:
        ConfigError: the file is not as its agent could read it.
    """
    text, data = _read(at)
    if not _without_ours(at, data):
        return False
    _write(at, text, data)
    return True


def _without_ours(at: Path, data: Data) -> bool:
    """Take our hooks out of the data, and what they leave empty; whether there were any."""
    found = False
    hooks = _table(at, data, "hooks")
    for event in list(hooks):
        entries = _list(at, hooks, event)
        kept = []
        for entry in entries:
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            others = [one for one in inner if not _is_ours(one)] if isinstance(inner, list) else []
            if not isinstance(inner, list) or len(others) == len(inner):
                kept.append(entry)
                continue
            found = True
            if others:
                kept.append({**entry, "hooks": others})
        if len(kept) < len(entries) and not kept:
            del hooks[event]
        else:
            entries[:] = kept
    if not hooks:
        del data["hooks"]
    return found


def find_http_hooks(at: Path, events: Sequence[str]) -> Sequence[HttpHookFound]:
    """Return the HTTP hooks for these events that we wrote into the file.

    Raises:
        ConfigError: the file is not as its agent could read it.
    """
    _, data = _read(at)
    table = _table(at, data, "hooks")
    return [
        HttpHookFound(event, entry, hook)
        for event in events
        for entry in _list(at, table, event)
        if isinstance(entry, dict) and isinstance(entry.get("hooks"), list)
        for hook in entry["hooks"]
        if _is_our_http_hook(hook)
    ]


def are_hooks_off(at: Path) -> bool:
    """Return True if the file switches all hooks off.

    Raises:
        ConfigError: the file is not as its agent could read it.
    """
    return _read(at)[1].get("disableAllHooks", False) is not False


def _is_ours(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    is_command = isinstance(command, str) and _OURS.search(command) is not None
    return is_command or _is_our_http_hook(hook)


def _is_our_http_hook(hook: object) -> bool:
    """Return True for an HTTP hook that brings our token: ours is known by that."""
    if not isinstance(hook, dict) or hook.get("type") != "http":
        return False
    variables = hook.get("allowedEnvVars")
    return isinstance(variables, list) and TOKEN_VARIABLE in variables


def _table(at: Path, data: Data, key: str) -> Data:
    value = data.setdefault(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{at}: {key} is not an object; nothing was changed")
    return value


def _list(at: Path, data: Data, key: str) -> list[Any]:
    value = data.setdefault(key, [])
    if not isinstance(value, list):
        raise ConfigError(f"{at}: {key} is not a list; nothing was changed")
    return value


def _read(at: Path) -> tuple[str, Data]:
    """The text of the file, empty where there is none, and what it says."""
    try:
        text = at.read_bytes().decode()
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{at} cannot be read: {error}; nothing was changed") from None
    if not text.strip():
        return text, {}
    try:
        data = json.loads(
            text.removeprefix("\ufeff"), parse_constant=_refuse, object_pairs_hook=refuse_duplicates
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{at} is not JSON ({error}); nothing was changed") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{at} is not a JSON object; nothing was changed")
    return text, data


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _write(at: Path, before: str, data: Data) -> None:
    replace_file(at, _as_text(before, data))


def _as_text(before: str, data: Data) -> bytes:
    """The data as JSON, indented as the file was, with its line ends."""
    found = re.search(r"^\s*\{\s*\n([ \t]+)\"", before)
    indent = found[1] if found else "  "
    try:
        text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(data, indent=indent, allow_nan=False)
    if "\r\n" in before:
        text = text.replace("\n", "\r\n")
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    end = (
        "" if before.strip() and not before.endswith("\n") else "\r\n" if "\r\n" in before else "\n"
    )
    return f"{mark}{text}{end}".encode()
