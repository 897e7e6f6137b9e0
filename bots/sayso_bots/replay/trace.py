"""A trace: calls as they were made, a JSON object a line."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sayso.calls import Folder, ToolCall
from sayso.errors import ConfigError
from sayso.known.tools import roles_in
from sayso.rules import paths

Press = Literal["never", "exact", "narrowest", "widest"]
PRESSES: tuple[Press, ...] = get_args(Press)

# Of the paths of a project, so many lie below its folder, where the trace does not name it.
_MOST_OF_THEM = 0.8


class _Line(BaseModel):
    """A line of a trace; what else it says does not matter."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    session: str = Field(min_length=1)
    project: str = ""
    agent: str = "agent"
    folder: str = ""
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}
    press: Press | None = None


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call of a trace: when, by whom, for which project, and what a person would press."""

    at: datetime
    agent: str
    session: str
    project: str
    call: ToolCall
    press: Press | None = None


def read_trace(name: str) -> list[TracedCall]:
    """The calls in a file, in the order of their times.

    The folder of a project is the one that a line names by ``folder``, or by ``project`` as
    a path; else the deepest that most of the project's paths lie below.

    Raises:
        ConfigError: it cannot be read, or a line is no call: the message names file and line.
    """
    try:
        with Path(name).open(encoding="utf-8-sig", newline="\n") as file:
            lines = [
                _line(written, f"{name} line {number}")
                for number, written in enumerate(file, 1)
                if written.strip()
            ]
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name} cannot be read: it is not UTF-8") from None
    lines.sort(key=lambda line: line.at)
    return _place_calls(lines)


def _line(written: str, place: str) -> _Line:
    try:
        said = json.loads(written)
    except (ValueError, RecursionError):
        raise ConfigError(f"{place}: not JSON; each line is one call, as an object") from None
    if not isinstance(said, dict):
        raise ConfigError(f"{place}: not an object; write one call with at, session and tool")
    try:
        return _Line.model_validate(said)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(map(str, wrong["loc"]))
        raise ConfigError(f"{place}: {key}: {wrong['msg']}") from None


def _place_calls(lines: Sequence[_Line]) -> list[TracedCall]:
    calls = [ToolCall(line.tool, line.arguments) for line in lines]
    guessed = _guess_folders(zip(lines, calls, strict=True))
    found = []
    for line, call in zip(lines, calls, strict=True):
        root = line.folder or (line.project if line.project.startswith("/") else "")
        root = root.rstrip("/") or guessed.get(line.project, "")
        placed = replace(call, folder=Folder(root) if root else None)
        at = line.at.astimezone(UTC)
        found.append(TracedCall(at, line.agent, line.session, line.project, placed, line.press))
    return found


def _guess_folders(lines: Iterable[tuple[_Line, ToolCall]]) -> Mapping[str, str]:
    """A folder for each project, from the paths that its calls name."""
    counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    for line, call in lines:
        for name in roles_in(call, None).paths:
            value = call.arguments.get(name)
            names = paths.parts(value) if isinstance(value, str) else None
            if not names:
                continue
            totals[line.project] += 1
            counts[line.project].update(names[:depth] for depth in range(1, len(names)))
    guessed = {}
    for project, folders in counts.items():
        enough = [one for one, count in folders.items() if count >= _MOST_OF_THEM * totals[project]]
        deepest = max(enough, key=lambda names: len(names), default=())
        root = "/" + "/".join(deepest)
        if paths.is_project(root):
            guessed[project] = root
    return guessed
