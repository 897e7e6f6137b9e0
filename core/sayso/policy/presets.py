"""Rules that come with Sayso: the well-known tools that only look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.known.tools import TOOLS
from sayso.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Looks:
    """A tool that only looks: whose it is, and what it does at most."""

    tool: str
    of: str
    does: str

    @property
    def rule(self) -> Rule:
        """The rule that allows it."""
        return Rule(self.tool)


_CODING = tuple(Looks(tool.name, tool.of, tool.looks) for tool in TOOLS if tool.looks)

PRESETS: Mapping[str, tuple[Looks, ...]] = {"coding": _CODING}
"""The presets by their names. What a preset does not name needs a person."""
