"""The rules that count for one session at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.rules.floor import NO_FLOOR, AgentFloor
from sayso.rules.rule import RememberedRule


@dataclass(frozen=True, slots=True)
class RuleBook:
    """What counts for one session, the agent's own rules among it; the version it was read at.

    ``unreadable`` are the rules that cannot be read here and may be denials of
    anything: while there are any, every call is denied. ``floor`` is what the
    server denies this agent, whatever the agent's own policy says; the version
    is one of all of it.
    """

    version: str = ""
    remembered: tuple[RememberedRule, ...] = ()
    unreadable: tuple[str, ...] = ()
    floor: AgentFloor = NO_FLOOR

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The ids of all of them."""
        return (*(kept.rule_id for kept in self.remembered), *self.unreadable)
