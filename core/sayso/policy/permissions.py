"""The permissions of a running agent: rules on top of its policy, changed while it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sayso.calls import ToolCall
from sayso.digests import Digests
from sayso.policy.call_ids import CallIds, denial_of, reasons_by_id
from sayso.policy.decision import Context, Decision, Policy, Ruling, evaluate
from sayso.policy.declared import requirements_of
from sayso.policy.denials import denial_by
from sayso.policy.deny_rules import deny_rules_of, numbered
from sayso.rules.rule import Rule
from sayso.rules.standing import DenyRule


@dataclass(frozen=True, slots=True)
class Permissions:
    """The rules on top of one agent's policy; call ids are denied with a reason, or with ``""``."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    denied_call_ids: Mapping[str, str] = field(default_factory=dict)


class AdjustablePolicy:
    """A policy under rules that can be replaced at any time.

    A denial of either denies. The rules' allow stands in for a person where
    the policy would ask for one; it never overrides the policy.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.requirements = requirements_of(policy)
        self.permissions = Permissions()

    def update(
        self,
        *,
        allow: Sequence[Rule] | None,
        deny: Sequence[Rule] | None,
        denied_call_ids: CallIds | None,
    ) -> None:
        """Replace the rules that are given."""
        now = self.permissions
        self.permissions = replace(
            now,
            allow=now.allow if allow is None else tuple(allow),
            deny=now.deny if deny is None else tuple(deny),
            denied_call_ids=(
                now.denied_call_ids if denied_call_ids is None else reasons_by_id(denied_call_ids)
            ),
        )

    async def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """The denial by the rules as they are now or by the policy, if one denies the call."""
        denied = denial_of(call.call_id, self.permissions.denied_call_ids)
        if denied is not None:
            return denied
        digests = Digests(call.arguments)
        for number, rule in enumerate(self.permissions.deny, 1):
            if rule.matches(call, digests):
                line = f"updated deny rule {number}"
                return Decision.DENY.because(f"denied by {line}", line=line)
        return await denial_by(self._policy, call, context)

    async def deny_rules(self, call: ToolCall, context: Context) -> Sequence[DenyRule]:
        """The deny rules as they are now, and those of the policy."""
        own = numbered(self.permissions.deny, "updated deny rule")
        fitting = [one for one in own if one.rule is not None and one.rule.tool == call.name]
        return [*fitting, *await deny_rules_of(self._policy, call, context)]

    async def decide(self, call: ToolCall, context: Context) -> Decision:
        """The decision on this call, with the line that made it."""
        if (denial := await self.denial(call, context)) is not None:
            return denial
        decision = await evaluate(self._policy, call, context) or Decision.ASK
        runs = decision.applied_to(call)
        # Also what the policy made of the call, and rules that came while it was thinking.
        denial = await self.denial(call, context) or await self.denial(runs, context)
        if denial is not None:
            return denial
        if decision.ruling is not Ruling.ASK:
            return decision
        digests = Digests(runs.arguments)
        for number, rule in enumerate(self.permissions.allow, 1):
            if rule.matches(runs, digests):
                line = f"updated allow rule {number}"
                return replace(
                    decision, ruling=Ruling.ALLOW, reason=f"allowed by {line}", line=line
                )
        return decision
