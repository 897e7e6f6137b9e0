"""Which deny rules travel with a question, and how many."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from sayso import Chain, Decision, Policy, PolicyContext, Rule, RulePolicy, RunRef, ToolCall, When
from sayso.policy.permissions import deny_rules_of
from sayso.rules.rule import MOST_DENY_RULES, DenyRule

CALL = ToolCall("bash", {"command": "ls"})
CONTEXT = PolicyContext(RunRef("deploy-bot", "s-1"))


def denying(*commands: str) -> RulePolicy:
    return RulePolicy(deny=[Rule("bash", {"command": command}) for command in commands])


async def lines(policy: Policy) -> list[str]:
    return [rule.line for rule in await deny_rules_of(policy, CALL, CONTEXT)]


async def test_only_rules_for_the_tool_travel_with_the_lines_that_they_are() -> None:
    policy = RulePolicy(deny=[Rule("write"), Rule("bash"), Rule("read"), Rule("bash")])

    assert await lines(policy) == ["deny rule 2", "deny rule 4"]


async def test_the_rules_of_all_members_of_a_chain_travel() -> None:
    assert await lines(Chain(denying("a"), Chain(denying("b", "c")))) == [
        "deny rule 1",
        "deny rule 1",
        "deny rule 2",
    ]


@pytest.mark.parametrize(("chosen", "count"), [(True, 1), (False, 2)])
async def test_of_two_policies_the_rules_of_the_chosen_one_travel(chosen: bool, count: int) -> None:
    async def predicate(call: ToolCall, context: PolicyContext) -> bool:
        assert (context.spend, context.ask) == (None, None)
        return chosen

    assert len(await lines(When(predicate, denying("a"), denying("b", "c")))) == count


async def test_a_function_has_no_rules_that_travel() -> None:
    def deny_all(call: ToolCall, context: PolicyContext) -> Decision:
        del call, context
        return Decision.DENY

    assert await lines(deny_all) == []
    assert await lines(When(lambda call, context: True, deny_all)) == []


async def test_no_more_than_a_hundred_rules_travel_and_the_first_of_them() -> None:
    found = await lines(denying(*(f"rm {number}" for number in range(150))))

    assert len(found) == MOST_DENY_RULES == 100
    assert (found[0], found[-1]) == ("deny rule 1", "deny rule 100")


@pytest.mark.parametrize(("length", "count"), [(7_993, 2), (7_994, 1), (16_000, 0)])
async def test_long_patterns_travel_as_far_as_there_is_room(length: int, count: int) -> None:
    # Of each rule its pattern counts, and the name of its parameter.
    assert len(await lines(denying("x" * length, "y" * length))) == count


async def test_a_policy_that_cannot_say_its_rules_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(call: ToolCall, context: PolicyContext) -> bool:
        raise ValueError("s3cr3t")

    with caplog.at_level(logging.ERROR):
        assert await lines(When(broken, denying("a"))) == []

    assert "ValueError" in caplog.text
    assert "s3cr3t" not in caplog.text


@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        (Rule("bash", {"command": "rm *"}), "rm x", True),
        (Rule("bash", {"command": "rm *"}), "ls x", False),
        (Rule("write"), "rm x", False),
        (None, "ls x", True),
    ],
)
def test_a_deny_rule_denies_what_it_is_about_and_everything_where_it_cannot_be_read(
    rule: Rule | None, command: str, denied: bool
) -> None:
    from sayso.rules.rule import Values

    arguments: dict[str, Any] = {"command": command}

    assert DenyRule("line", rule).denies(ToolCall("bash", arguments), Values(arguments)) is denied
