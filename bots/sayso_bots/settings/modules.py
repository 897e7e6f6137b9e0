"""Modules with platforms or kinds of question: what is said when one cannot be loaded."""

from __future__ import annotations

from sayso.text.printable import printable

# A module that leaves the process while it is loaded is broken, too.
UNLOADABLE = (Exception, SystemExit)
FIX = "install it beside the bots, or put its folder into PYTHONPATH"
PASTED = "holds a secret, which must not stand in a file; remove it, and write a module's name"


def told(error: BaseException) -> str:
    """What kind of error it is, and what it says, as it may be printed."""
    return printable(f"{type(error).__name__}: {error}")
