"""What a policy denies in any case, whatever comes before it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeGuard

from sayso.calls import ToolCall
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate, policy_name


class Denies(Protocol):
    """A policy that can say without side effects what it denies in any case."""

    def denial(
        self, call: ToolCall, context: PolicyContext
    ) -> Decision | Awaitable[Decision | None] | None:
        """The denial of this call, if nothing can come before it."""
        ...


def denies(policy: object) -> TypeGuard[Denies]:
    """Whether the policy can say what it denies in any case."""
    return getattr(policy, "denial", None) is not None


async def denial_by(policy: Policy, call: ToolCall, context: PolicyContext) -> Decision | None:
    """The denial that nothing can come before; None where there is none, or none can be said.

    The policy is asked with a context that can neither spend nor ask. One
    that fails at it, or says anything but a denial, denies.
    """
    if not denies(policy):
        return None
    name = policy_name(policy)
    decision = await evaluate(policy.denial, call, context.only_looking, name=name)
    if decision is None or decision.ruling is Ruling.DENY:
        return decision
    text = f"policy {name} returned {decision.ruling.value} from denial(), which can only deny"
    return Decision.DENY.because(text, line=f"policy {name}")
