"""The policy of a server: sections, of which the first that is about a call decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from sayso.calls import ToolCall
from sayso.policy.decision import Decision, PolicyContext
from sayso.policy.policy_file import Default, PlacedRule
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.floor import Floor, FloorSection, floor_of
from sayso.rules.rule import DenyRule


@dataclass(frozen=True)
class Section:
    """What is said of the calls of some agents and tools.

    Both are told by patterns, as for routes. ``called`` is its name in lines
    such as *deny rule 1 of policy 2*, and ``place`` where it was written. With
    ``audit``, what it decides without a person is in the audit.
    """

    agent: str = "*"
    tool: str = "*"
    default: Default = "ask"
    allow: tuple[PlacedRule, ...] = ()
    allow_once: tuple[PlacedRule, ...] = ()
    deny: tuple[PlacedRule, ...] = ()
    looking: tuple[PlacedRule, ...] = ()
    audit: bool = False
    called: str = ""
    place: str = ""

    def takes(self, agent_id: str, tool: str) -> bool:
        """Return True if it is about the calls of this tool by this agent."""
        return fnmatchcase(agent_id, self.agent) and fnmatchcase(tool, self.tool)

    @cached_property
    def policy(self) -> RulePolicy:
        """What it says, in the order of evaluation that every policy of rules has."""
        return RulePolicy(
            default=self.default,
            allow=[one.rule for one in (*self.allow, *self.looking)],
            allow_once=[one.rule for one in self.allow_once],
            deny=[one.rule for one in self.deny],
            lines=self.lines,
        )

    @cached_property
    def lines(self) -> dict[str, str]:
        """What its lines are called, by what those of a policy alone are called."""
        own = {"default": "default"}
        counts = {"allow rule": self.allow, "allow-once rule": self.allow_once}
        for kind, rules in {**counts, "deny rule": self.deny}.items():
            own |= {line: line for line in _lines(kind, len(rules))}
        lines = {line: f"{name} of {self.called}" for line, name in own.items() if self.called}
        looking = _lines("allow rule", len(self.looking), after=len(self.allow))
        return lines | {line: one.place for line, one in zip(looking, self.looking, strict=True)}

    def rule(self, line: str, tool: str) -> PlacedRule | None:
        """The rule of a line for a tool, where it was written; None of a line that is no rule."""
        kinds = {"allow rule": self.allow, "allow-once rule": self.allow_once}
        for kind, rules in {**kinds, "deny rule": self.deny}.items():
            for plain, one in zip(_lines(kind, len(rules)), rules, strict=True):
                if self.lines.get(plain, plain) == line:
                    return one
        looking = (one for one in self.looking if one.place == line and one.rule.tool == tool)
        return next(looking, None)

    @cached_property
    def floor(self) -> FloorSection:
        """What it denies, as it counts for all agents on the store of the server."""
        denied: dict[str, list[DenyRule]] = defaultdict(list)
        for number, one in enumerate(self.deny, 1):
            line = f"deny rule {number}"
            told = f"{self.lines.get(line, line)} on the server"
            denied[one.rule.tool].append(DenyRule(told, one.rule))
        rules = {tool: tuple(of_tool) for tool, of_tool in denied.items()}
        return FloorSection(self.agent, self.tool, rules)


class ServerPolicy:
    """The sections of a server, the first that matches; where none does, a person is asked.

    It counts wherever a call comes in without a policy of its own: over HTTP,
    by ``sayso ask``, by hooks and by protocols. In each section the order is
    that of ``RulePolicy``, what the session remembers included. The sections
    can be replaced at any time, and count from the next call on.
    """

    def __init__(self, sections: Sequence[Section] = ()) -> None:
        self._sections = tuple(sections)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections as they are now."""
        return self._sections

    def replace(self, sections: Sequence[Section]) -> None:
        """Put these in the place of all sections."""
        self._sections = tuple(sections)

    def section(self, agent_id: str, tool: str) -> Section | None:
        """The section that is about these calls, if one is."""
        return next((one for one in self._sections if one.takes(agent_id, tool)), None)

    @property
    def floor(self) -> Floor:
        """What it denies, for the agents that have a policy of their own."""
        return floor_of([section.floor for section in self._sections])

    def audits(self, agent_id: str, tool: str) -> bool:
        """Return True if what is decided on these calls without a person is to be audited."""
        section = self.section(agent_id, tool)
        return section is not None and section.audit

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision | Awaitable[Decision]:
        """What the section of this agent and tool says."""
        return self._policy(call, context).decide(call, context)

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """The denial of this call, which nothing can come before; None where there is none."""
        return self._policy(call, context).denial(call, context)

    def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
        """The deny rules for the call's tool."""
        return self._policy(call, context).deny_rules(call, context)

    def _policy(self, call: ToolCall, context: PolicyContext) -> RulePolicy:
        section = self.section(context.run.agent_id, call.name)
        return _NOBODY if section is None else section.policy


_NOBODY = RulePolicy()
"""What counts where no section is about a call: a person is asked."""


def _lines(kind: str, count: int, *, after: int = 0) -> list[str]:
    return [f"{kind} {number}" for number in range(after + 1, after + count + 1)]
