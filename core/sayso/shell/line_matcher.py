"""Lines that may run without a question: by the prefixes of their commands, or as one shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sayso.shell.line import Command, Line
from sayso.shell.places import Place
from sayso.shell.prefixes import Prefix, PrefixRow, prefix_table
from sayso.shell.read_only import is_read_only

Words = tuple[str, ...]
"""The words of a command; alone those that join two, which name no program."""

# They run a tool of the project, which goes on as if it stood there alone. `-m` runs any module:
# only pytest, which runs the code of the project anyway.
_RUNNERS: dict[Prefix, str] = {
    ("uv", "run"): "",
    ("poetry", "run"): "",
    ("pdm", "run"): "",
    ("python", "-m"): "pytest",
    ("python3", "-m"): "pytest",
}
_IN_VENV = re.compile(r"(?:\./)?\.?venv/bin/([a-z0-9]+)")
_IN_MODULES = re.compile(r"(?:\./)?node_modules/\.bin/([a-z0-9]+)")
_MOST_WORDS = 3
_ANYWHERE = Place()

# Behind a pipe, or in parentheses, they change nothing that stays; alone they change the shell that
# runs the next line. Those of bash, dash, ksh and zsh.
_CHANGES_THE_SHELL = frozenset(
    re.findall(
        r"\S+",
        """
        . alias autoload bg bind bindkey break builtin cd chdir command compdef compinit continue
        declare dirs disable disown emulate enable eval exec exit export fc fg float functions
        getopts hash history integer jobs let limit local logout mapfile newgrp popd print printf
        pushd read readarray readonly rehash return sched set setopt shift shopt source suspend
        trap typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait zle
        zmodload zparseopts zstyle
        """,
    )
)

_PUSHES = re.compile(r"\bgit\b.*(?<!stash )\b(?:push|pull)\b", re.DOTALL)

_FOLDER = re.compile(r"(?!(?:.*/)?\.\.(?:/|$))[a-zA-Z0-9_./][a-zA-Z0-9_./@+-]*")
_ACTIVATES = re.compile(r"(?!(?:.*/)?\.\./)(?:[a-zA-Z0-9_./@+-]+/)?bin/activate")
_ENTERS = {"cd": _FOLDER, "source": _ACTIVATES, ".": _ACTIVATES}


def command_prefix(command: Command, root: str = "") -> Prefix | None:
    """Return the first words by which an *Always* may know the command; None if there are none.

    With other options and operands that change nothing it has the same prefix. ``root`` is the
    folder that absolute paths may be below. The words are plain: joined by blanks they are a
    command with this prefix.
    """
    if command.reads_file:
        return None
    runner = (command.program, *command.arguments[:1])
    tools = prefix_table().by_group
    if (only := _RUNNERS.get(runner)) is not None:
        program, *arguments = command.arguments[1:] or ("",)
        if only and program != only:
            return None
        inner = Command(program, tuple(arguments), command.patterns, command.redirects)
        found = _find_prefix(tools["python"], inner, root)
        return found and (*runner, *found)
    for folder, group in ((_IN_VENV, "python"), (_IN_MODULES, "node")):
        if (name := folder.fullmatch(command.program)) is not None:
            found = _find_prefix(tools[group], command._replace(program=name[1]), root)
            return found and (command.program, *found[1:])
    return _find_prefix(prefix_table().all, command, root)


def line_prefixes(
    line: Line, root: str = "", place: Place = _ANYWHERE
) -> tuple[Prefix, ...] | None:
    """Return the prefixes that allow the line without a question: none if it only reads.

    None if no prefix would do. A folder that the line goes to first, and an environment
    that it enters first, are part of each: ``cd web && npm test`` is not ``npm test``. There is
    none for a folder of secrets, or with those of everybody.
    """
    places = _entered_places(line)
    needed: dict[Prefix, None] = {}
    first = len(places)
    within: Prefix = ()
    for words in places:
        within += (*words, "&&")
        if words[0] != "cd":
            continue
        if place.is_wide(words[1]) or place.enter(words[1]).is_secret:
            return None
        place = place.enter(words[1])
        root = words[1] if words[1][0] == "/" else root
    for at, command in enumerate(line.parts[first:], first):
        if is_read_only(command, place):
            continue
        found = command_prefix(command, root)
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


def equivalent_prefixes(needed: tuple[Prefix, ...]) -> tuple[Prefix, ...]:
    """Return the prefixes that a line needs; of one alone also those that run the same tool.

    A tool for Python is there by itself, in the environment ``.venv`` of the folder, and by
    ``uv run``. What corrects may also only check, never the other way round. A sentence
    with all that is alike to several would not be read.
    """
    if len(needed) != 1:
        return needed
    only = needed[0]
    entry = next((one for one in (_BY_UV, _IN_OWN) if only[: len(one)] == one), ())
    words = only[len(entry) :]
    tool, mode = _split_tool(words)
    if not tool:
        return needed
    checks = [tool] if tool == ("ruff", "check") and mode else []
    return (words, (*_BY_UV, *words), (*_IN_OWN, *words), *checks)


def _split_tool(words: Prefix) -> tuple[Prefix, Prefix]:
    """Return a tool for Python, and the other words that are held."""
    tools = prefix_table().by_group["python"]
    for count in (2, 1):
        if words[:count] in tools:
            return words[:count], words[count:]
    return (), ()


def entered_kind(command: Command) -> str | None:
    """Return ``cd`` if the command goes to a folder, ``source`` if it enters an environment."""
    form = _ENTERS.get(command.program)
    if form is None or len(command.arguments) != 1 or command.redirects or command.patterns:
        return None
    name = "cd" if form is _FOLDER else "source"
    return name if form.fullmatch(command.arguments[0]) else None


def _find_prefix(table: Mapping[Prefix, PrefixRow], command: Command, root: str) -> Prefix | None:
    words = (command.program, *command.arguments[: _MOST_WORDS - 1])
    for count in range(len(words), 0, -1):
        if (row := table.get(words[:count])) is not None:
            return row.command_prefix(words[:count], command, root)
    return None


def _entered_places(line: Line) -> list[Prefix]:
    """Return the folder and the environment that the line enters first, each once at most."""
    places: list[Prefix] = []
    for at, command in enumerate(line.parts):
        if (name := entered_kind(command)) is None:
            break
        joined = at == len(line.joins) or line.joins[at] == "&&"
        if not joined or any(words[0] == name for words in places):
            break
        places.append((name, *command.arguments))
    return places


def may_push(text: str) -> bool:
    """Return True if a text has the words of a push or a pull, however they are quoted."""
    return _PUSHES.search(re.sub(r"['\"\\]", "", text)) is not None


def depends_on_branch(line: Line) -> bool:
    """Return True if a push or a pull in a line depends on the branch of an earlier step."""
    return any(
        may_push(" ".join((one.program, *one.arguments)))
        and not is_read_only(one)
        and command_prefix(one) is None
        for one in line.parts
    )


def output_head(line: Line, place: Place = _ANYWHERE) -> tuple[Words, ...] | None:
    """Return a line without the commands that only read the output of its last command.

    These are its commands and what joins them, up to the first one of the last pipe. What
    follows in this pipe only looks, and where the output of that command goes (both outputs
    joined, or one dropped) does not matter. Whatever may decide whether it runs, where, or on
    what, is part of it.

    None if that would not be all: with a word that becomes names of files, of which nobody
    knows any more whether it was quoted; with a file that the command reads, or redirections
    before it, on which it may depend; with what changes the shell itself, but for the
    folder and the environment that it enters first; where the command only looks, or where
    it hangs on the branch that an earlier step went to.
    """
    last = max((at for at, join in enumerate(line.joins, 1) if join != "|"), default=0)
    *before, command = line.parts[: last + 1]
    if depends_on_branch(line):
        return None
    for one in before:
        place = place.enter(one.arguments[0]) if entered_kind(one) == "cd" else place
    after = line.parts[last + 1 :]
    if is_read_only(command, place) or not all(is_read_only(one, place) for one in after):
        return None
    if any(one.patterns for one in (*before, command)) or any(one.redirects for one in before):
        return None
    if command.program in _CHANGES_THE_SHELL:
        return None
    if any(one.startswith("<") for one in command.redirects):
        return None
    if any(one.program in _CHANGES_THE_SHELL and not entered_kind(one) for one in before):
        return None
    words: list[Words] = []
    for one, join in zip(before, line.joins, strict=False):
        words += [(one.program, *one.arguments), (join,)]
    return (*words, (command.program, *command.arguments))
