"""The text of an argument is made once for all rules about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso.calls import ToolCall
from sayso.rules.rule import DenyRule, RememberedRule, Rule, matching_rules
from sayso.rules.rule_set import RuleBook, remembered_denial, standing_denial

RULES = [Rule("bash", {"ids": f"*x{number}*"}) for number in range(20)]


class Counted(Mapping[str, Any]):
    """Arguments that count how often one of them is looked up."""

    def __init__(self, **values: Any) -> None:
        self.values_of = values
        self.looked_up = 0

    def __getitem__(self, name: str) -> Any:
        self.looked_up += 1
        return self.values_of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)

    def __contains__(self, name: object) -> bool:
        return name in self.values_of


def remembered(rule: Rule) -> RememberedRule:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return RememberedRule(rule, "deny", "slack:U0ALICE", began, began + timedelta(days=1))


def listed(call: ToolCall, rules: Sequence[Rule]) -> object:
    return next(matching_rules(rules, call), None)


def book(call: ToolCall, rules: Sequence[Rule]) -> object:
    return remembered_denial(call, [remembered(rule) for rule in rules], ())


def travelling(call: ToolCall, rules: Sequence[Rule]) -> object:
    some = [DenyRule(f"deny rule {number}", rule) for number, rule in enumerate(rules)]
    kept = RuleBook(remembered=tuple(map(remembered, rules)))
    return standing_denial([call], some, kept)


@pytest.mark.parametrize("ask", [listed, book, travelling])
def test_many_rules_on_one_parameter_write_it_as_text_once(
    ask: Callable[[ToolCall, Sequence[Rule]], object],
) -> None:
    arguments = Counted(ids=list(range(100)))

    assert ask(ToolCall("bash", arguments), RULES) is None
    assert arguments.looked_up == 1
