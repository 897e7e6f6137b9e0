"""Denials that stand: the rules that nothing can come before, wherever a call is decided on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from sayso.calls import ToolCall
from sayso.rules.book import RuleBook
from sayso.rules.deny_rule import DenyRule, StandingDenial
from sayso.rules.rule import RememberedRule
from sayso.rules.values import Values

REMEMBERED_DENIAL = "remembered always deny"
"""The line that a remembered *always deny* is named by."""


def standing_denial(
    calls: Iterable[ToolCall], rules: Sequence[DenyRule], book: RuleBook
) -> StandingDenial | None:
    """What stands against any of the calls: a deny rule, the floor, or what is remembered."""
    for call in calls:
        values = Values(call.arguments, call.folder)
        for rule in rules:
            if rule.denies(call, values):
                return StandingDenial(f"denied by {rule.line}", rule.line)
        denial = book.floor.denial(call, values)
        denial = denial or remembered_denial(call, book.remembered, book.unreadable, values)
        if denial is not None:
            return denial
    return None


def remembered_denial(
    call: ToolCall,
    remembered: Sequence[RememberedRule],
    unreadable: Sequence[str],
    values: Values | None = None,
) -> StandingDenial | None:
    """The denial by the first remembered rule that denies the call.

    A rule that cannot be read denies: it may be about the call.
    """
    if unreadable:
        reason = (
            f"a remembered rule cannot be read by this version of Sayso (rule {unreadable[0]}): "
            f"update it, or take the rule back with: sayso revoke {unreadable[0]}"
        )
        return StandingDenial(reason, REMEMBERED_DENIAL, unreadable[0])
    found = next(about(call, remembered, "deny", values), None)
    if found is None:
        return None
    reason = f"denied by an Always of {found.stored_by} (rule {found.rule_id})"
    return StandingDenial(reason, REMEMBERED_DENIAL, found.rule_id)


def about(
    call: ToolCall,
    remembered: Sequence[RememberedRule],
    effect: Literal["allow", "deny"],
    values: Values | None = None,
) -> Iterator[RememberedRule]:
    """The remembered rules of this effect that are about the call."""
    values = values or Values(call.arguments, call.folder)
    for kept in remembered:
        if kept.effect == effect and kept.rule.matches(call, values):
            yield kept
