"""The deny rules of a policy that travel with a question, as data."""

from __future__ import annotations

import inspect
import logging
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import Protocol, TypeGuard

from sayso.calls import ToolCall
from sayso.policy.decision import Policy, PolicyContext, policy_name
from sayso.rules.deny_rule import MOST_DENY_RULES, DenyRule
from sayso.rules.rule import Rule

_log = logging.getLogger(__name__)

# Of all of their patterns together: a request is read whenever it is shown, pressed and ended.
_MOST_CHARACTERS = 16_000


class HasDenyRules(Protocol):
    """A policy that can name rules by which it denies calls of a tool, whatever comes before."""

    def deny_rules(
        self, call: ToolCall, context: PolicyContext
    ) -> Sequence[DenyRule] | Awaitable[Sequence[DenyRule]]:
        """Its deny rules for the call's tool."""
        ...


def has_deny_rules(policy: object) -> TypeGuard[HasDenyRules]:
    """Whether the policy can name its deny rules."""
    return getattr(policy, "deny_rules", None) is not None


async def deny_rules_of(
    policy: Policy, call: ToolCall, context: PolicyContext
) -> tuple[DenyRule, ...]:
    """The deny rules of the policy for the call's tool, the first of them as far as there is room.

    With them whoever records an answer can see what the policy would deny. What
    it denies otherwise, in code or by rules beyond these, it denies when the call is to run.
    """
    if not has_deny_rules(policy):
        return ()
    try:
        rules = policy.deny_rules(call, context.only_looking)
        if inspect.isawaitable(rules):
            rules = await rules
        return tuple(_with_room(rules))
    except Exception as error:  # a predicate may fail: then the policy denies when it is asked
        kind = type(error).__name__
        _log.error("policy %s raised %s from deny_rules()", policy_name(policy), kind)
        return ()


def numbered(rules: Iterable[Rule], kind: str) -> tuple[DenyRule, ...]:
    """The rules with the lines that they are named by: ``deny rule 1`` and so on."""
    return tuple(DenyRule(f"{kind} {number}", rule) for number, rule in enumerate(rules, 1))


def left_behind(rules: Iterable[Rule]) -> Rule | None:
    """The first of a policy's deny rules that has no room on a question about its tool."""
    by_tool: defaultdict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_tool[rule.tool].append(rule)
    for of_tool in by_tool.values():
        travel = len(list(_with_room(numbered(of_tool, "deny rule"))))
        if travel < len(of_tool):
            return of_tool[travel]
    return None


def _with_room(rules: Sequence[DenyRule]) -> Iterator[DenyRule]:
    room = _MOST_CHARACTERS
    for one in rules[:MOST_DENY_RULES]:
        if one.rule is not None:
            room -= sum(len(name) + len(pattern) for name, pattern in one.rule.params.items())
            room -= sum(map(len, one.rule.talk))
        if room < 0:
            return
        yield one
