"""Policies made of policies: the first that answers, one or the other."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sayso.calls import ToolCall
from sayso.policy.decision import (
    ASK_LINE,
    Decision,
    Policy,
    PolicyContext,
    Rewritten,
    Ruling,
    check_policy,
    policy_name,
    said_by,
)
from sayso.policy.declared import FirstDeclared
from sayso.policy.denials import denial_by, denies
from sayso.policy.deny_rules import deny_rules_of, has_deny_rules
from sayso.policy.permissions import Permissions, permissions_in, together
from sayso.rules.deny_rule import DenyRule

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
        if not denies(self._then) and not denies(self._otherwise):
            return None
        policy = await self._chosen(call, context)
        return None if policy is None else await denial_by(policy, call, context)

    async def deny_rules(self, call: ToolCall, context: PolicyContext) -> Sequence[DenyRule]:
        """The deny rules of the policy that is chosen for this call."""
        if not has_deny_rules(self._then) and not has_deny_rules(self._otherwise):
            return ()
        policy = await self._chosen(call, context)
        return () if policy is None else await deny_rules_of(policy, call, context)

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
