"""The rules that an agent was given, whatever policy they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sayso.policy.decision import Policy
from sayso.rules.rule import Rule


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
