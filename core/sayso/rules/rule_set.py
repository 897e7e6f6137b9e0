"""The rules of one session, the denials that stand, and rules that allow a line together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sayso.calls import ToolCall
from sayso.rules.floor import NO_FLOOR, AgentFloor
from sayso.rules.matchers import ShellMatcher, find_needed
from sayso.rules.rule import DenyRule, RememberedRule, StandingDenial, Values


@dataclass(frozen=True, slots=True)
class RuleBook:
    """What counts for one session, the agent's own rules among it; the version it was read at.

    ``unreadable`` are the rules that cannot be read here and may be denials of
    anything: while there are any, every call is denied. ``floor`` is what the
    server denies this agent, whatever the agent's own policy says; the version
    is one of all of it.
    """

    version: str = ""
    remembered: tuple[RememberedRule, ...] = ()
    unreadable: tuple[str, ...] = ()
    floor: AgentFloor = NO_FLOOR

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The ids of all of them."""
        return (*(kept.rule_id for kept in self.remembered), *self.unreadable)


REMEMBERED_DENIAL = "remembered always deny"
"""The line that a remembered *always deny* is named by."""


def standing_denial(
    calls: Iterable[ToolCall], rules: Sequence[DenyRule], book: RuleBook
) -> StandingDenial | None:
    """Find the denial of any of the calls: by a deny rule, the floor, or a stored rule."""
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


def together(call: ToolCall, remembered: Sequence[RememberedRule]) -> tuple[RememberedRule, ...]:
    """The remembered rules of which each allows a part of the call's line, all of them together.

    They differ in nothing but the beginnings that they hold: one rule with those of all would
    be about the call. None where a part has no beginning that is held.
    """
    values = Values(call.arguments, call.folder)
    lines: dict[tuple[str, str], list[tuple[ShellMatcher, RememberedRule]]] = {}
    for kept in remembered:
        for name, fit in kept.rule.matchers.items():
            if isinstance(fit, ShellMatcher) and fit.begins and kept.effect == "allow":
                lines.setdefault((name, fit.root), []).append((fit, kept))
    for (name, root), rules in lines.items():
        needed = find_needed(values.plain(name), root)
        # What needs one beginning is allowed by one rule.
        if needed is None or len(needed) < 2:
            continue
        found = [_holding(words, name, rules, call, values) for words in needed]
        if all(found):
            return tuple({kept.rule_id: kept for kept in found if kept is not None}.values())
    return ()


def _holding(
    words: tuple[str, ...],
    name: str,
    rules: Sequence[tuple[ShellMatcher, RememberedRule]],
    call: ToolCall,
    values: Values,
) -> RememberedRule | None:
    for fit, kept in rules:
        if words in fit.begins and kept.rule.matches(call, values, but=name):
            return kept
    return None
