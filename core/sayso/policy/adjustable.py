"""A policy under rules that change while its agent works."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sayso.calls import ToolCall, new_id
from sayso.policy.call_ids import CallIds, denial_of, reasons_by_id
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate
from sayso.policy.declared import requirements_of
from sayso.policy.denials import denial_by
from sayso.policy.deny_rules import deny_rules_of, numbered
from sayso.policy.once import once_keys
from sayso.policy.permissions import Permissions, besides, permissions_in, together
from sayso.rules.deny_rule import DenyRule
from sayso.rules.rule import Rule, check_can_deny
from sayso.rules.values import Values


class AdjustablePolicy:
    """A policy under rules that can be replaced at any time.

    A denial of either denies. The rules' allow stands in for a person where
    the policy would ask for one; it never overrides the policy. A rule that
    allows once is gone with its first match.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.requirements = requirements_of(policy)
        self._updated = Permissions()
        self._once: dict[str, Rule] = {}
        self._used: set[str] = set()

    @property
    def permissions(self) -> Permissions:
        """The rules that the policy was given, then those that came on top; each once."""
        given = self._given()
        return together(
            given,
            Permissions(
                besides(self._updated.allow, given.allow),
                tuple(self._once.values()),
                besides(self._updated.deny, given.deny),
                self._updated.denied_call_ids,
            ),
        )

    def update(
        self,
        *,
        allow: Sequence[Rule] | None = None,
        allow_once: Sequence[Rule] | None = None,
        deny: Sequence[Rule] | None = None,
        denied_call_ids: CallIds | None = None,
    ) -> None:
        """Replace the rules on top that are named; those that the policy was given stay."""
        for rule in deny or ():
            check_can_deny(rule)
        now = self._updated
        self._updated = replace(
            now,
            allow=now.allow if allow is None else tuple(allow),
            deny=now.deny if deny is None else tuple(deny),
            denied_call_ids=(
                now.denied_call_ids if denied_call_ids is None else reasons_by_id(denied_call_ids)
            ),
        )
        if allow_once is not None:
            # What the policy still has is not to be had twice.
            more, fresh = besides(allow_once, self._given().allow_once), new_id()
            # The same rule, given again, may be used again.
            self._once = {f"{fresh}:{number}": rule for number, rule in enumerate(more, 1)}

    async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """The denial by the rules as they are now or by the policy, if one denies the call."""
        denied = denial_of(call.call_id, self._updated.denied_call_ids)
        if denied is not None:
            return denied
        values = Values(call.arguments, call.folder)
        for number, rule in enumerate(self._updated.deny, 1):
            if rule.matches(call, values):
                line = f"updated deny rule {number}"
                return Decision.DENY.because(f"denied by {line}", line=line)
        return await denial_by(self._policy, call, context)

    async def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
        """The deny rules as they are now, and those of the policy."""
        own = numbered(self._updated.deny, "updated deny rule")
        fitting = [one for one in own if one.rule is not None and one.rule.tool == call.name]
        return [*fitting, *await deny_rules_of(self._policy, call, context)]

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        """The decision on this call, with the line that made it."""
        if (denial := await self.denial(call, context)) is not None:
            return denial
        watched = replace(context, spend=self._watching(context.spend))
        decision = await evaluate(self._policy, call, watched) or Decision.ASK
        runs = decision.applied_to(call)
        # Also what the policy made of the call, and rules that came while it was thinking.
        if (denial := await self._denial(context, call, runs)) is not None:
            return denial
        if decision.ruling is not Ruling.ASK:
            return decision
        values = Values(runs.arguments, runs.folder)
        for number, rule in enumerate(self._updated.allow, 1):
            if rule.matches(runs, values):
                return _allowed(decision, f"updated allow rule {number}")
        for number, (key, rule) in enumerate(tuple(self._once.items()), 1):
            if rule.matches(runs, values) and await self._spend(key, context):
                denial = await self._denial(context, call, runs)
                return denial or _allowed(decision, f"updated allow-once rule {number}")
        return decision

    async def _denial(
        self, context: PolicyContext, call: ToolCall, runs: ToolCall
    ) -> Decision | None:
        return await self.denial(call, context) or await self.denial(runs, context)

    async def _spend(self, key: str, context: PolicyContext) -> bool:
        """Use up a rule on top: the first who asks, unless it has been taken back meanwhile."""
        if context.spend is not None and not await context.spend(key):
            return False
        return self._once.pop(key, None) is not None

    def _given(self) -> Permissions:
        given = permissions_in(self._policy)
        keys = once_keys(given.allow_once)
        left = (
            rule for key, rule in zip(keys, given.allow_once, strict=True) if key not in self._used
        )
        return replace(given, allow_once=tuple(left))

    def _watching(
        self, spend: Callable[[str], Awaitable[bool]] | None
    ) -> Callable[[str], Awaitable[bool]] | None:
        """The same, noting what is used up here."""
        if spend is None:
            return None

        async def noting(key: str) -> bool:
            taken = await spend(key)
            if taken:
                self._used.add(key)
            return taken

        return noting


def _allowed(decision: Decision, line: str) -> Decision:
    return replace(decision, ruling=Ruling.ALLOW, reason=f"allowed by {line}", line=line)
