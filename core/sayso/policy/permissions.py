"""The rules that an agent was given, and the deny rules that travel with a request."""

from __future__ import annotations

import inspect
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sayso.calls import ToolCall
from sayso.policy.decision import Policy, PolicyContext, policy_name
from sayso.rules.rule import MOST_DENY_RULES, DenyRule, Rule

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Permissions:
    """The rules of one agent; call ids are denied with a reason, or with an empty one.

    ``allow_once`` are those that nobody has used up yet.
    """

    allow: tuple[Rule, ...] = ()
    allow_once: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    denied_call_ids: Mapping[str, str] = field(default_factory=dict)


def permissions_in(policy: Policy) -> Permissions:
    """The rules that the policy was given, by its ``permissions``; none where it has none."""
    said = getattr(policy, "permissions", None)
    return said if isinstance(said, Permissions) else Permissions()


def together(*permissions: Permissions) -> Permissions:
    """All of these rules, in order."""
    return Permissions(
        allow=tuple(rule for one in permissions for rule in one.allow),
        allow_once=tuple(rule for one in permissions for rule in one.allow_once),
        deny=tuple(rule for one in permissions for rule in one.deny),
        denied_call_ids={
            call_id: reason
            for one in permissions
            for call_id, reason in one.denied_call_ids.items()
        },
    )


def besides(rules: Sequence[Rule], others: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules without those that are among the others, each taken away as often as it is there.

    In order: what is left is what came on top.
    """
    left, there = [], list(others)
    for rule in rules:
        if rule in there:
            there.remove(rule)
        else:
            left.append(rule)
    return tuple(left)


# Of all of their patterns together: a request is read whenever it is shown, pressed and ended.
_MOST_CHARACTERS = 16_000


async def deny_rules_of(
    policy: Policy, call: ToolCall, context: PolicyContext
) -> tuple[DenyRule, ...]:
    """The deny rules of the policy for the call's tool, the first of them as far as there is room.

    With them whoever records an answer can see what the policy would deny. What
    it denies otherwise, in code or by rules beyond these, it denies when the call is to run.
    """
    if (named := getattr(policy, "deny_rules", None)) is None:
        return ()
    try:
        rules = named(call, context.only_looking)
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
