"""What a tool suggests for Always: literal, unless it says that it means a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sayso import Rule, ToolCall, escape_glob
from sayso.always.widths import derive
from sayso.rules.rule import PatternRule


@pytest.mark.parametrize("service", ["*", "{a,b}", "[", "!(x)", "shop", "", "a\\b"])
@pytest.mark.parametrize(
    "suggests",
    [
        lambda arguments: {"service": arguments["service"]},
        lambda arguments: [{"service": arguments["service"]}],
    ],
)
def test_what_a_tool_suggests_is_literal(service: str, suggests: Any) -> None:
    call = ToolCall("scale", {"service": service, "copies": 2})
    other = ToolCall("scale", {"service": "other", "copies": 2})

    _, rule, _ = derive(call, declared=suggests)

    assert rule.matches(call)
    assert rule.matches(ToolCall("scale", {"service": service, "copies": 9}))
    assert not rule.matches(other)


def test_a_rule_that_a_tool_suggests_is_literal_unless_it_is_marked_as_a_pattern() -> None:
    call, other = (ToolCall("scale", {"service": one}) for one in ("*", "other"))

    _, literal, _ = derive(call, declared=lambda arguments: Rule("scale", dict(arguments)))
    _, marked, _ = derive(call, declared=lambda arguments: PatternRule("scale", dict(arguments)))

    assert (literal.matches(call), literal.matches(other)) == (True, False)
    assert (marked.matches(call), marked.matches(other)) == (True, True)
    assert type(marked) is Rule


def test_a_pattern_of_a_tool_keeps_what_is_escaped_in_it_literal() -> None:
    def starting(arguments: Mapping[str, Any]) -> Rule:
        return PatternRule("scale", {"service": f"{escape_glob(arguments['service'])}-*"})

    call = ToolCall("scale", {"service": "a*"})
    (rule,) = (one for one in [starting(call.arguments)])

    assert rule.matches(ToolCall("scale", {"service": "a*-1"}))
    assert not rule.matches(ToolCall("scale", {"service": "ab-1"}))


def test_any_value_can_be_suggested_by_its_name() -> None:
    call = ToolCall("scale", {"service": "shop", "copies": 2})

    _, rule, _ = derive(call, declared=lambda arguments: {"copies": arguments["copies"]})

    assert rule == Rule("scale", {"copies": "2"})
