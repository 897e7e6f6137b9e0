"""The values of a call as rules look at them: each written once, however many rules ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sayso.calls import Folder
from sayso.digests import Digests
from sayso.rules.javascript import as_text
from sayso.rules.paths import find_place

_FOLDERS = ("workdir", "cwd")


class Values:
    """The values of a call, which all rules look at together, and the digests of its arguments.

    They are those of the moment when they are asked for first: for one
    decision, and not to be kept beyond it.
    """

    def __init__(self, arguments: Mapping[str, Any], folder: Folder | None = None) -> None:
        self._arguments = arguments
        self.folder = folder
        self._values: dict[str, str] = {}
        self.digests = Digests(arguments)

    def get(self, name: str) -> str | None:
        """The value of a parameter as text; None if the call has no such parameter.

        Raises:
            InvalidCallError: it has no JSON form, or no certain one.
        """
        found = self._values.get(name)
        if found is None and name in self._arguments:
            found = self._values[name] = as_text(self._arguments[name])
        return found

    def plain(self, name: str) -> Any:
        """The value of a parameter as it was passed; None if the call has no such parameter."""
        return self._arguments.get(name)

    @property
    def runs_in(self) -> Folder | None:
        """The folder that a line of a shell runs in: one that the call names, or the agent's."""
        named = next((self._arguments[name] for name in _FOLDERS if name in self._arguments), None)
        if not isinstance(named, str) or not named:
            return self.folder
        folder = self.folder or Folder("")
        return replace(folder, begins=find_place(folder).enter(named).begins)
