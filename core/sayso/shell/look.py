"""What a table says of a program that only looks: with which arguments it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sayso.shell.line import Command
from sayso.shell.options import Given, options


@dataclass(frozen=True, slots=True)
class Look:
    """Which arguments of a program only look.

    ``written`` are its options, see ``Options``. ``most`` is how many operands it may have.
    ``orderly``: no option comes after an operand, where some versions take it for one.
    """

    written: str
    most: int | None = None
    check: Callable[[Given], bool] | None = None
    one_dash: bool = False
    orderly: bool = False

    def allows(self, command: Command, arguments: tuple[str, ...]) -> bool:
        """Whether the command only looks; the arguments are those that follow a subcommand."""
        if command.patterns and not self._takes_names(arguments):
            return False
        given = options(self.written, self.one_dash).sort_out(arguments, command.patterns)
        if given is None or (self.orderly and given.mixed):
            return False
        count = len(given.operands) + len(given.rest or ())
        enough = self.most is None or count <= self.most
        return enough and (self.check is None or self.check(given))

    def _takes_names(self, arguments: tuple[str, ...]) -> bool:
        # Names of files that match begin as the pattern does: with a plain letter there, none of
        # them is an option. How many there are must not matter, and none may be a script.
        many = self.most is None and self.check is None
        return many and all(one[0] not in "*?[" for one in arguments if one)
