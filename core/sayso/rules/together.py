"""Several rules that allow a line of a shell together: each of its parts is allowed by one."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.calls import ToolCall
from sayso.rules.matchers import ShellMatcher, find_needed
from sayso.rules.rule import RememberedRule
from sayso.rules.values import Values


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
