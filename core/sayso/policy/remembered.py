"""What people chose with Always, as a policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from sayso.calls import ToolCall
from sayso.digests import Digests
from sayso.policy.decision import Context, Decision


class Remembered:
    """What people chose with Always, and no opinion on anything else: for a Chain."""

    def decide(self, call: ToolCall, context: Context) -> Decision | None:
        """Denied or allowed by a remembered rule; nothing comes before a denial."""
        return self.denial(call, context) or remembered_decision(call, context, "allow")

    def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """Denied by a remembered rule, which nothing can come before."""
        return remembered_decision(call, context, "deny")


def remembered_decision(
    call: ToolCall, context: Context, effect: Literal["allow", "deny"]
) -> Decision | None:
    """The decision of the first remembered rule of this effect that is about the call.

    A rule that cannot be read denies: it may be about the call.
    """
    if effect == "deny" and context.unreadable:
        return _unreadable(context.unreadable[0])
    digests = Digests(call.arguments)
    for remembered in context.remembered:
        rule = remembered.rule
        if rule.tool == call.name and remembered.effect == effect and rule.matches(call, digests):
            allow = effect == "allow"
            said = "allowed" if allow else "denied"
            reason = f"{said} by an Always of {remembered.stored_by} (rule {remembered.rule_id})"
            decision = Decision.ALLOW if allow else Decision.DENY
            return replace(
                decision,
                reason=reason,
                line=f"remembered always {effect}",
                rule_id=remembered.rule_id,
            )
    return None


def _unreadable(rule_id: str) -> Decision:
    reason = (
        f"a remembered rule cannot be read by this version of Sayso (rule {rule_id}): "
        f"update it, or take the rule back with: sayso revoke {rule_id}"
    )
    line = "remembered always deny"
    return replace(Decision.DENY.because(reason, line=line), rule_id=rule_id)
