"""A command line that was understood: commands, and what joins them."""

from __future__ import annotations

from typing import Literal, NamedTuple

Join = Literal["&&", "||", ";", "|"]


class Command(NamedTuple):
    """One program and its arguments, as the program gets them.

    ``patterns`` says that arguments may become names of files that they match, any
    number of them and of any form; they are here as they were written.
    ``redirects`` are as written but without blanks: ``2>&1``, ``>/dev/null``, ``<notes.txt``.
    """

    program: str
    arguments: tuple[str, ...] = ()
    patterns: bool = False
    redirects: tuple[str, ...] = ()

    @property
    def reads_file(self) -> bool:
        """True if its input is a file."""
        return any(one[0] == "<" and one != "</dev/null" for one in self.redirects)


class Line(NamedTuple):
    """The commands of a line in their order; ``joins`` are what stands between them.

    A new line between two commands is ``;``.
    """

    parts: tuple[Command, ...]
    joins: tuple[Join, ...] = ()
