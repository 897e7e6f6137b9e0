"""Policies made of policies: the first that answers, one or the other."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from assent.calls import ToolCall
from assent.policy import Context, Decision, Policy, evaluate, policy_name

Predicate: TypeAlias = Callable[[ToolCall, Context], bool | Awaitable[bool]]


class Chain:
    """The first policy that answers wins; where none does, a person is asked."""

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

    async def decide(self, call: ToolCall, context: Context) -> Decision:
        """The first answer, in the order of the policies. The later ones are not asked."""
        for policy in self._policies:
            decision = await evaluate(policy, call, context)
            if decision is not None:
                return decision
        return Decision.ASK.because("no policy of the chain has an opinion", line="ask")


class When:
    """One policy for the calls that a predicate is true of, another one or none for the others.

    A predicate that fails denies the call.
    """

    def __init__(self, predicate: Predicate, then: Policy, otherwise: Policy | None = None) -> None:
        self._predicate = predicate
        self._then = then
        self._otherwise = otherwise
        self.__qualname__ = f"When({policy_name(predicate)})"

    async def decide(self, call: ToolCall, context: Context) -> Decision | None:
        """What the chosen policy says; None where there is none to choose."""
        true = self._predicate(call, context)
        if inspect.isawaitable(true):
            true = await true
        policy = self._then if true else self._otherwise
        return None if policy is None else await evaluate(policy, call, context)
