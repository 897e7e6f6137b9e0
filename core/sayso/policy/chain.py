"""Policies made of policies: the first that answers, one or the other."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sayso.calls import ToolCall
from sayso.policy.decision import Context, Decision, Policy, evaluate, policy_name
from sayso.policy.declared import FirstDeclared
from sayso.policy.denials import Denies, denial_by

Predicate: TypeAlias = Callable[[ToolCall, Context], bool | Awaitable[bool]]
"""True or false of a call, async or not. It only looks, and may be asked more than once a call."""


class Chain:
    """The first policy that answers wins; where none does, a person is asked.

    Nothing comes before a denial, wherever in the chain it stands: deny rules,
    denied call ids and *always deny* of all members are looked at before any
    of them decides, and again for arguments that one of them puts in. A
    member that denies by a decision of its own has its turn like any other.
    For exceptions to deny rules, use ``When``.
    """

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies
        self.requirements = FirstDeclared(*policies)

    async def decide(self, call: ToolCall, context: Context) -> Decision:
        """A denial that stands, else the first answer; later policies are not asked."""
        denial = await self.denial(call, context)
        if denial is not None:
            return denial
        for policy in self._policies:
            decision = await evaluate(policy, call, context)
            if decision is not None:
                runs = decision.applied_to(call)
                return (None if runs is call else await self.denial(runs, context)) or decision
        return Decision.ASK.because("no policy of the chain has an opinion", line="ask")

    async def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """The first denial of a member that can say so without side effects."""
        for policy in self._policies:
            denial = await denial_by(policy, call, context)
            if denial is not None:
                return denial
        return None


class When:
    """One policy for the calls that a predicate is true of, another one or none for the others.

    A predicate that fails denies the call. It must only look: it is asked
    again, without a way to spend or ask, when denials of either policy are
    looked at.
    """

    def __init__(self, predicate: Predicate, then: Policy, otherwise: Policy | None = None) -> None:
        self._predicate = predicate
        self._then = then
        self._otherwise = otherwise
        self.requirements = FirstDeclared(*(one for one in (then, otherwise) if one is not None))
        self.__qualname__ = f"When({policy_name(predicate)})"

    async def decide(self, call: ToolCall, context: Context) -> Decision | None:
        """What the chosen policy says; None where there is none to choose."""
        policy = await self._chosen(call, context)
        return None if policy is None else await evaluate(policy, call, context)

    async def denial(self, call: ToolCall, context: Context) -> Decision | None:
        """The denial of the policy that is chosen now; the other one's do not count."""
        if not isinstance(self._then, Denies) and not isinstance(self._otherwise, Denies):
            return None
        policy = await self._chosen(call, context)
        return None if policy is None else await denial_by(policy, call, context)

    async def _chosen(self, call: ToolCall, context: Context) -> Policy | None:
        true = self._predicate(call, context)
        if inspect.isawaitable(true):
            true = await true
        return self._then if true else self._otherwise
