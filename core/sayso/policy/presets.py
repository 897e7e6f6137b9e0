"""Rules that come with Sayso: what well-known tools do that only look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.calls import ToolCall
from sayso.digests import arguments_digest
from sayso.known.secrets import may_show_secrets
from sayso.known.tools import KnownTool, catalog
from sayso.rules.matchers import ShellMatcher
from sayso.rules.rule import Rule
from sayso.rules.values import Values


@dataclass(frozen=True, slots=True)
class Looks:
    """A tool that only looks: whose it is, what it does at most, and the rule that allows that."""

    tool: str
    of: str
    does: str
    rule: Rule


@pydantic_dataclass(frozen=True, slots=True)
class ReadingRule(Rule):
    """A rule of a preset for a tool that reads: not about calls that may show secrets.

    It is never stored or sent: as JSON it would be the wider ``Rule``.
    """

    def matches(self, call: ToolCall, values: Values | None = None, *, but: str = "") -> bool:
        """Return whether the call is one that this rule is about."""
        return Rule.matches(self, call, values, but=but) and not may_show_secrets(call)


_NONE = arguments_digest({})


def _rule(tool: KnownTool) -> Rule:
    """The calls of a tool that only look: all, or those that its arguments tell apart."""
    if tool.command:
        lines = {tool.command: ShellMatcher()}
        return Rule(tool.name, matchers=lines, others_digest=_NONE, talk=tool.talk)
    if tool.only:
        there = dict.fromkeys(tool.needs, "*")
        free = tuple(name for name in tool.only if name not in there)
        return Rule(tool.name, there, others_digest=_NONE, talk=free)
    return ReadingRule(tool.name) if tool.name in catalog().looks else Rule(tool.name)


_CODING = tuple(
    Looks(tool.name, tool.of, tool.looks, _rule(tool)) for tool in catalog().tools if tool.looks
)

PRESETS: Mapping[str, tuple[Looks, ...]] = {"coding": _CODING}
"""The presets by their names. What a preset does not name needs a person."""
