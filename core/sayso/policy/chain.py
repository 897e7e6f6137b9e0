"""Policies made of policies: a chain, a condition, and one under rules that change."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sayso.calls import ToolCall, new_id
from sayso.policy.decision import (
    ASK_LINE,
    Decision,
    FirstDeclared,
    Policy,
    PolicyContext,
    Rewritten,
    Ruling,
    check_policy,
    denial_by,
    evaluate,
    policy_name,
    requirements_of,
    said_by,
)
from sayso.policy.permissions import (
    Permissions,
    besides,
    deny_rules_of,
    numbered,
    permissions_in,
    together,
)
from sayso.policy.rule_policy import CallIds, denial_of, once_keys, reasons_by_id
from sayso.rules.rule import DenyRule, Rule, Values, check_can_deny

Predicate: TypeAlias = Callable[[ToolCall, PolicyContext], bool | Awaitable[bool]]
"""True or false of a call, async or not. It only looks, and may be asked more than once a call."""


class Chain:
    """The first policy that decides wins; where none does, a person is asked.

    A member that returns plain arguments does not decide: those after it are
    asked about the call with these arguments, and so is a person.

    Nothing comes before a denial, wherever in the chain it stands: deny rules,
    denied call ids and *always deny* of all members are looked at before any
    of them decides, and again for arguments that one of them puts in. A
    member that denies by a decision of its own has its turn like any other.
    For exceptions to deny rules, use ``When``.
    """

    def __init__(self, *policies: Policy) -> None:
        for number, policy in enumerate(policies, start=1):
            check_policy(policy, f"policy {number} of a Chain")
        self._policies = policies
        self.requirements = FirstDeclared(*policies)

    @property
    def permissions(self) -> Permissions:
        """The rules of all members that can say theirs."""
        return together(*map(permissions_in, self._policies))

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        """A denial that stands, else the first decision; later policies are not asked."""
        runs = call
        denial = await self.denial(call, context)
        for policy in self._policies:
            if denial is not None:
                return denial
            said = await said_by(policy, runs, context)
            if isinstance(said, Decision):
                last = said.applied_to(runs)
                denial = None if last is runs else await self.denial(last, context)
                return denial or _about(last, call, said)
            if isinstance(said, Rewritten):
                runs = replace(runs, arguments=said.arguments)
                denial = await self.denial(runs, context)
        nobody = Decision.ASK.because("no policy of the chain has an opinion", line=ASK_LINE)
        return denial or _about(runs, call, nobody)

    async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """The first denial of a member that can say so without side effects."""
        for policy in self._policies:
            denial = await denial_by(policy, call, context)
            if denial is not None:
                return denial
        return None

    async def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
        """The deny rules of all members."""
        found = [await deny_rules_of(policy, call, context) for policy in self._policies]
        return [rule for rules in found for rule in rules]


class When:
    """One policy for the calls that a predicate is true of, another one or none for the others.

    A predicate that fails denies the call. It must only look: it is asked
    again, without a way to spend or ask, when denials of either policy are
    looked at.
    """

    def __init__(self, predicate: Predicate, then: Policy, otherwise: Policy | None = None) -> None:
        check_policy(then, "then")
        if otherwise is not None:
            check_policy(otherwise, "otherwise")
        self._predicate = predicate
        self._then = then
        self._otherwise = otherwise
        self.requirements = FirstDeclared(*(one for one in (then, otherwise) if one is not None))
        self.__qualname__ = f"When({policy_name(predicate)})"

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision | Rewritten | None:
        """What the chosen policy says; None where there is none to choose."""
        policy = await self._chosen(call, context)
        return None if policy is None else await said_by(policy, call, context)

    async def denial(self, call: ToolCall, context: PolicyContext) -> Decision | None:
        """The denial of the policy that is chosen now; the other one's do not count."""
        if not self._has("denial"):
            return None
        policy = await self._chosen(call, context)
        return None if policy is None else await denial_by(policy, call, context)

    async def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
        """The deny rules of the policy that is chosen for this call."""
        if not self._has("deny_rules"):
            return ()
        policy = await self._chosen(call, context)
        return () if policy is None else await deny_rules_of(policy, call, context)

    def _has(self, method: str) -> bool:
        return any(getattr(one, method, None) for one in (self._then, self._otherwise))

    async def _chosen(self, call: ToolCall, context: PolicyContext) -> Policy | None:
        true = self._predicate(call, context)
        if inspect.isawaitable(true):
            true = await true
        return self._then if true else self._otherwise


def _about(runs: ToolCall, asked: ToolCall, decision: Decision) -> Decision:
    """The decision with the arguments of what runs, where they are not those that were asked."""
    if runs is asked or decision.ruling is Ruling.DENY:
        return decision
    return decision.with_arguments(dict(runs.arguments))


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
        denied = denial_of(self._updated.denied_call_ids.get(call.call_id))
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
