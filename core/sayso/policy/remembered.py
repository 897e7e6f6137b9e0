"""What people chose with Always, as a policy."""

from __future__ import annotations

from typing import Literal

from sayso.calls import ToolCall
from sayso.policy.decision import Decision, PolicyContext, Ruling
from sayso.rules.deny_rule import StandingDenial
from sayso.rules.standing import about, remembered_denial
from sayso.rules.together import together


class Remembered:
    """What people chose with Always, and no opinion on anything else: for a Chain."""

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """Denied or allowed by a remembered rule; nothing comes before a denial."""
        return self.denial(call, context) or remembered_decision(call, context, "allow")

    def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """Denied by a remembered rule, which nothing can come before."""
        return remembered_decision(call, context, "deny")


def remembered_decision(
    call: ToolCall, context: PolicyContext, effect: Literal["allow", "deny"]
) -> Decision | None:
    """The decision of the first remembered rule of this effect that is about the call.

    Or of several that allow each part of a line: see ``sayso.rules.together``.

    A rule that cannot be read denies: it may be about the call. What the server
    denies is denied here, too.
    """
    if effect == "deny":
        denial = context.floor.denial(call) or remembered_denial(
            call, context.remembered, context.unreadable
        )
        return None if denial is None else denied(denial)
    consent = next(about(call, context.remembered, effect), None)
    rules = together(call, context.remembered) if consent is None else (consent,)
    if not rules:
        return None
    said = " and ".join(f"by an Always of {one.stored_by} (rule {one.rule_id})" for one in rules)
    first, *others = (one.rule_id for one in rules)
    line = "remembered always allow"
    return Decision(Ruling.ALLOW, f"allowed {said}", line, rule_id=first, other_rules=tuple(others))


def denied(denial: StandingDenial) -> Decision:
    """The decision that a standing denial makes."""
    return Decision(Ruling.DENY, denial.reason, denial.line, rule_id=denial.rule_id)
