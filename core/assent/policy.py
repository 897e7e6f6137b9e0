"""Policies: does this call need a person?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Literal, Protocol

from assent.calls import RunRef, ToolCall
from assent.rules import RememberedRule, Rule


class Ruling(Enum):
    """The three words of a decision."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of a call: ``Decision.ALLOW``, ``.DENY`` or ``.ASK``.

    ``line`` names the line of the policy that decided, ``reason`` is for
    people, ``arguments`` replace those of the call where they are given.
    """

    ruling: Ruling
    reason: str = ""
    line: str = ""
    arguments: dict[str, Any] | None = None

    ALLOW: ClassVar[Decision]
    DENY: ClassVar[Decision]
    ASK: ClassVar[Decision]

    def because(self, reason: str, *, line: str = "") -> Decision:
        """The same decision with a reason and the line that made it."""
        return replace(self, reason=reason, line=line or self.line)


Decision.ALLOW = Decision(Ruling.ALLOW)
Decision.DENY = Decision(Ruling.DENY)
Decision.ASK = Decision(Ruling.ASK)


@dataclass(frozen=True, slots=True)
class Context:
    """What a policy may know besides the call: who asks, and what the session remembers."""

    run: RunRef
    remembered: tuple[RememberedRule, ...] = ()


class Policy(Protocol):
    """Decides whether a call runs, does not run, or needs a person."""

    def decide(self, call: ToolCall, context: Context) -> Decision:
        """The decision on this call, with the line that made it."""
        ...


class RulePolicy:
    """Rules in a fixed order; nothing comes before a denial.

    1. a deny rule, a remembered *always deny*: deny;
    2. an allow rule, a remembered *always allow*: allow;
    3. otherwise the default: ``ask`` a person, or ``allow``.
    """

    def __init__(
        self,
        *,
        default: Literal["ask", "allow"] = "ask",
        allow: Sequence[Rule] = (),
        deny: Sequence[Rule] = (),
    ) -> None:
        self._default = default
        self._allow = tuple(allow)
        self._deny = tuple(deny)

    def decide(self, call: ToolCall, context: Context) -> Decision:
        """The decision on this call, with the line that made it."""
        denial = _first(self._deny, call, "deny")
        if denial is None:
            denial = _first_remembered(context, call, "deny")
        if denial is not None:
            return Decision.DENY.because(f"denied by {denial}", line=denial)
        consent = _first(self._allow, call, "allow")
        if consent is None:
            consent = _first_remembered(context, call, "allow")
        if consent is not None:
            return Decision.ALLOW.because(f"allowed by {consent}", line=consent)
        if self._default == "allow":
            return Decision.ALLOW.because("tools are allowed by default", line="default")
        return Decision.ASK.because("tools need a person by default", line="default")


def _first(rules: Sequence[Rule], call: ToolCall, effect: str) -> str | None:
    for number, rule in enumerate(rules, 1):
        if rule.matches(call):
            return f"{effect} rule {number}"
    return None


def _first_remembered(context: Context, call: ToolCall, effect: str) -> str | None:
    for remembered in context.remembered:
        if remembered.effect == effect and remembered.rule.matches(call):
            return f"an Always of {remembered.stored_by} (rule {remembered.rule_id})"
    return None
