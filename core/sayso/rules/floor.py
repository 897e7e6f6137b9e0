"""The floor: what a server denies to agents, whatever their own policies say of a call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import ToolCall
from sayso.errors import ConfigError
from sayso.rules.rule import DenyRule, StandingDenial, Values

MOST_FLOOR_BYTES = 256 * 1024
"""A floor that is written down has at most so many bytes: every agent reads it."""

UNREADABLE = "the server's floor"
"""The line of a floor that cannot be read here."""

# A name that is not known might narrow what is denied, or widen it: such a floor is not read.
_CONFIG = ConfigDict(
    alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid"
)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class FloorSection:
    """What is denied in the calls of some agents and tools: rules by the name of their tool.

    Agents and tools are told by patterns, as for routes.
    """

    agent: str = "*"
    tool: str = "*"
    deny: Mapping[str, tuple[DenyRule, ...]] = field(default_factory=dict)


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class _Written:
    sections: tuple[FloorSection, ...]


_WRITTEN: TypeAdapter[_Written] = TypeAdapter(_Written)


@dataclass(frozen=True, slots=True)
class AgentFloor:
    """The floor as it is for one agent; without ``sections`` it denies nothing.

    One that cannot be read here, None, denies every call.
    """

    sections: tuple[FloorSection, ...] | None = ()

    def rules(self, tool: str) -> tuple[DenyRule, ...]:
        """Its rules for a tool: those of the first section that is about it."""
        if self.sections is None:
            return (DenyRule(UNREADABLE),)
        section = next((one for one in self.sections if fnmatchcase(tool, one.tool)), None)
        return () if section is None else section.deny.get(tool, ())

    def denial(self, call: ToolCall, values: Values | None = None) -> StandingDenial | None:
        """The denial of the call, if it is denied."""
        if self.sections is None:
            reason = "what the server denies cannot be read by this version of Sayso: update it"
            return StandingDenial(reason, UNREADABLE)
        rules = self.rules(call.name)
        if not rules:
            return None
        values = values or Values(call.arguments, call.folder)
        found = next((rule for rule in rules if rule.denies(call, values)), None)
        return None if found is None else StandingDenial(f"denied by {found.line}", found.line)


NO_FLOOR = AgentFloor()


@dataclass(frozen=True, slots=True)
class Floor:
    """Sections of which the first that is about a call counts, and their version.

    Two floors of the same version deny the same.
    """

    version: str = ""
    sections: tuple[FloorSection, ...] | None = ()

    def of(self, agent_id: str) -> AgentFloor:
        """What of it is about this agent."""
        if not self.sections:
            return AgentFloor(self.sections)
        return AgentFloor(tuple(one for one in self.sections if fnmatchcase(agent_id, one.agent)))


def floor_of(sections: Sequence[FloorSection]) -> Floor:
    """The floor of these sections; those after the last that denies anything have no part in it."""
    last = max((number for number, one in enumerate(sections, 1) if one.deny), default=0)
    kept = tuple(sections[:last])
    return Floor(hashlib.sha256(_dumped(kept)).hexdigest()[:16], kept)


def written_floor(floor: Floor) -> bytes:
    """The floor as a store keeps it.

    Raises:
        ConfigError: it is too large for that.
    """
    written = _dumped(floor.sections or ())
    if len(written) > MOST_FLOOR_BYTES:
        raise ConfigError(f"all deny rules together may have {MOST_FLOOR_BYTES:,} bytes")
    return written


def read_floor(version: str, written: bytes) -> Floor:
    """The floor as it was kept; one that denies everything where it cannot be read."""
    try:
        return Floor(version, _WRITTEN.validate_json(written).sections)
    except (ValidationError, ConfigError):
        return Floor(version, None)


def _dumped(sections: tuple[FloorSection, ...]) -> bytes:
    return _WRITTEN.dump_json(_Written(sections), by_alias=True, exclude_none=True)
