"""What two lines have the same that differ only in who looks at what they print."""

from __future__ import annotations

import re

from sayso.shell.fits import beginning, enters
from sayso.shell.line import Command, Line
from sayso.shell.looks import only_looks
from sayso.shell.places import Place

Words = tuple[str, ...]
"""The words of a command; alone what joins two, which is no name of a program."""
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


def may_push(text: str) -> bool:
    """Return whether a text has the words of a push or a pull, however they are quoted."""
    return _PUSHES.search(re.sub(r"['\"\\]", "", text)) is not None


def hangs_on_the_branch(line: Line) -> bool:
    """Return whether a push or a pull in a line depends on the branch of an earlier step."""
    return any(
        may_push(" ".join((one.program, *one.arguments)))
        and not only_looks(one)
        and beginning(one) is None
        for one in line.parts
    )


def head(line: Line, place: Place = _ANYWHERE) -> tuple[Words, ...] | None:
    """All of a line that does more than look at what its last command prints.

    These are its commands and what joins them, up to the first one of the last pipe. What
    follows in this pipe only looks, and where the output of that command goes (both outputs
    joined, or one dropped) does not matter. Whatever may decide whether it runs, where, or on
    what, is part of it.

    None where that would not be all: with a word that becomes names of files, of which nobody
    knows any more whether it was quoted; with a file that the command reads, or redirections
    before it, on which it may depend; with what changes the shell itself, but for the
    folder and the environment that it enters first; where the command only looks, or where
    it hangs on the branch that an earlier step went to.
    """
    last = max((at for at, join in enumerate(line.joins, 1) if join != "|"), default=0)
    *before, command = line.parts[: last + 1]
    if hangs_on_the_branch(line):
        return None
    for one in before:
        place = place.enter(one.arguments[0]) if enters(one) == "cd" else place
    after = line.parts[last + 1 :]
    if only_looks(command, place) or not all(only_looks(one, place) for one in after):
        return None
    if any(one.patterns for one in (*before, command)) or any(one.redirects for one in before):
        return None
    if any(one.startswith("<") for one in command.redirects) or _changes_the_shell(command):
        return None
    if any(_changes_the_shell(one) and not enters(one) for one in before):
        return None
    words: list[Words] = []
    for one, join in zip(before, line.joins, strict=False):
        words += [(one.program, *one.arguments), (join,)]
    return (*words, (command.program, *command.arguments))


def _changes_the_shell(command: Command) -> bool:
    return command.program in _CHANGES_THE_SHELL
