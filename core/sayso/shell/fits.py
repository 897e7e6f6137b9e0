"""By which beginnings a whole line is known, and whether it fits to those that are held."""

from __future__ import annotations

import re
from collections.abc import Collection

from sayso.shell.line import Command, Line
from sayso.shell.looks import only_looks
from sayso.shell.opening import Beginning, Opening
from sayso.shell.openings import NODE_TOOLS, OPENINGS, PYTHON_TOOLS
from sayso.shell.places import Place

# They run a tool of the project, which goes on as if it stood there alone. `-m` runs any module:
# only pytest, which runs the code of the project anyway.
_RUNNERS: dict[Beginning, dict[Beginning, Opening]] = {
    ("uv", "run"): PYTHON_TOOLS,
    ("poetry", "run"): PYTHON_TOOLS,
    ("pdm", "run"): PYTHON_TOOLS,
    ("python", "-m"): {("pytest",): PYTHON_TOOLS[("pytest",)]},
    ("python3", "-m"): {("pytest",): PYTHON_TOOLS[("pytest",)]},
}
_IN_VENV = re.compile(r"(?:\./)?\.?venv/bin/([a-z0-9]+)")
_IN_MODULES = re.compile(r"(?:\./)?node_modules/\.bin/([a-z0-9]+)")
_MOST_WORDS = 3
_ANYWHERE = Place()

_FOLDER = re.compile(r"(?!(?:.*/)?\.\.(?:/|$))[a-zA-Z0-9_./][a-zA-Z0-9_./@+-]*")
_ACTIVATES = re.compile(r"(?!(?:.*/)?\.\./)(?:[a-zA-Z0-9_./@+-]+/)?bin/activate")
_ENTERS = {"cd": _FOLDER, "source": _ACTIVATES, ".": _ACTIVATES}


def beginning(command: Command, root: str = "") -> Beginning | None:
    """The first words by which an *Always* may know the command; None for what is asked anew.

    With other options and operands that change nothing it has the same beginning. ``root``
    is the folder that absolute paths may be below. The words are plain:
    joined by blanks they are a command with this beginning.
    """
    if command.reads_file:
        return None
    runner = (command.program, *command.arguments[:1])
    if (tools := _RUNNERS.get(runner)) is not None:
        program, *arguments = command.arguments[1:] or ("",)
        inner = Command(program, tuple(arguments), command.patterns, command.redirects)
        found = _opening(tools, inner, root)
        return found and (*runner, *found)
    for folder, tools in ((_IN_VENV, PYTHON_TOOLS), (_IN_MODULES, NODE_TOOLS)):
        if (name := folder.fullmatch(command.program)) is not None:
            found = _opening(tools, command._replace(program=name[1]), root)
            return found and (command.program, *found[1:])
    return _opening(OPENINGS, command, root)


def beginnings(
    line: Line, root: str = "", place: Place = _ANYWHERE
) -> tuple[Beginning, ...] | None:
    """What must be held for the line to run without a question: nothing where it only looks.

    None where no beginning would do. A folder that the line goes to first, and an environment
    that it enters first, are part of each: ``cd web && npm test`` is not ``npm test``. There is
    none for a folder of secrets, or with those of everybody.
    """
    places = _places(line)
    needed: dict[Beginning, None] = {}
    first = len(places)
    within: Beginning = ()
    for words in places:
        within += (*words, "&&")
        if words[0] != "cd":
            continue
        if place.is_wide(words[1]) or place.enter(words[1]).is_secret:
            return None
        place = place.enter(words[1])
        root = words[1] if words[1][0] == "/" else root
    for at, command in enumerate(line.parts[first:], first):
        if only_looks(command, place):
            continue
        found = beginning(command, root)
        # What it is given to read would be for it to run, perhaps.
        if found is None or (at and line.joins[at - 1] == "|"):
            return None
        # It would run where there is no such folder, too: in another.
        if places and not {";", "||"}.isdisjoint(line.joins[:at]):
            return None
        needed[(*within, *found)] = None
    if places and not needed:
        return (within[:-1],)
    return tuple(needed)


_BY_UV = ("uv", "run")
_IN_OWN = ("source", ".venv/bin/activate", "&&")


def alike(needed: tuple[Beginning, ...]) -> tuple[Beginning, ...]:
    """The beginnings that a line needs; of one alone also those that run the same tool.

    A tool for Python is there by itself, in the environment ``.venv`` of the folder, and by
    ``uv run``. What corrects may also only check, never the other way round. A sentence
    with all that is alike to several would not be read.
    """
    if len(needed) != 1:
        return needed
    only = needed[0]
    entry = next((one for one in (_BY_UV, _IN_OWN) if only[: len(one)] == one), ())
    words = only[len(entry) :]
    tool, mode = _tool_in(words)
    if not tool:
        return needed
    checks = [tool] if tool == ("ruff", "check") and mode else []
    return (words, (*_BY_UV, *words), (*_IN_OWN, *words), *checks)


def _tool_in(words: Beginning) -> tuple[Beginning, Beginning]:
    """A tool for Python, and what is held beside its name."""
    for count in (2, 1):
        if words[:count] in PYTHON_TOOLS:
            return words[:count], words[count:]
    return (), ()


def fits(line: Line, held: Collection[Beginning], root: str = "") -> bool:
    """Whether each command of the line only looks, or has one of the beginnings."""
    needed = beginnings(line, root)
    return needed is not None and all(one in held for one in needed)


def enters(command: Command) -> str | None:
    """``cd`` where the command goes to a folder, ``source`` where it enters an environment."""
    form = _ENTERS.get(command.program)
    if form is None or len(command.arguments) != 1 or command.redirects or command.patterns:
        return None
    name = "cd" if form is _FOLDER else "source"
    return name if form.fullmatch(command.arguments[0]) else None


def _opening(table: dict[Beginning, Opening], command: Command, root: str) -> Beginning | None:
    words = (command.program, *command.arguments[: _MOST_WORDS - 1])
    for count in range(len(words), 0, -1):
        if (opening := table.get(words[:count])) is not None:
            return opening.beginning(words[:count], command, root)
    return None


def _places(line: Line) -> list[Beginning]:
    """The folder and the environment that the line enters before all else, each once at most."""
    places: list[Beginning] = []
    for at, command in enumerate(line.parts):
        if (name := enters(command)) is None:
            break
        joined = at == len(line.joins) or line.joins[at] == "&&"
        if not joined or any(words[0] == name for words in places):
            break
        places.append((name, *command.arguments))
    return places
