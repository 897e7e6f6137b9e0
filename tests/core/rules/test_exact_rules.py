"""Rules mean what is written and no more, whatever the values and the process."""

from __future__ import annotations

import hashlib
from collections import deque
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sayso.calls import RunRef, ToolCall
from sayso.digests import arguments_digest
from sayso.errors import ConfigError
from sayso.policy.decision import Decision, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import Rule

RUN = RunRef("a", "s")
LS = ToolCall("bash", {"command": "ls"})


async def decided(policy: RulePolicy, call: ToolCall, context: PolicyContext) -> Decision:
    decision = await evaluate(policy, call, context)
    assert decision is not None
    return decision


@pytest.mark.parametrize("wrong", ["parms", "param", "argumentsDigests", "arguments_digests"])
def test_a_mistyped_rule_is_an_error_and_not_every_call_of_the_tool(wrong: str) -> None:
    given: Any = {wrong: {"command": "ls"}}

    with pytest.raises(ValidationError, match=wrong):
        Rule("bash", **given)


@pytest.mark.parametrize("name", ["arguments_digest", "others_digest"])
def test_a_digest_of_an_unknown_form_is_an_error_and_not_a_rule_about_nothing(name: str) -> None:
    given: Any = {name: f"sha9:{'0' * 64}"}

    with pytest.raises(ConfigError, match="sha9:000"):
        Rule("bash", **given)


async def test_allow_once_rules_that_differ_in_the_other_arguments_are_told_apart() -> None:
    rules = [
        Rule("bash", {"command": "ls*"}, others_digest=arguments_digest({"cwd": cwd}))
        for cwd in ("a", "b")
    ]
    taken: set[str] = set()

    async def spend(key: str) -> bool:
        first = key not in taken
        taken.add(key)
        return first

    context = PolicyContext(RUN, spend=spend)
    call = ToolCall("bash", {"command": "ls", "cwd": "a"})
    # Another process has the same rules in another order.
    one, other = RulePolicy(allow_once=rules), RulePolicy(allow_once=rules[::-1])

    lines = [(await decided(policy, call, context)).line for policy in (one, other)]

    assert lines == ["allow-once rule 1", "ask"]


async def test_what_was_spent_of_a_rule_stays_spent_with_a_newer_sayso() -> None:
    keys: list[str] = []

    async def spend(key: str) -> bool:
        keys.append(key)
        return True

    rule = Rule("bash", {"command": "ls*"})
    await decided(RulePolicy(allow_once=[rule]), LS, PolicyContext(RUN, spend=spend))

    written = '1 ["bash", [["command", "ls*"]], null]'
    assert keys == [hashlib.sha256(written.encode()).hexdigest()[:32]]


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (b"rm -rf x", "rm*"),
        (bytearray(b"rm -rf x"), "rm*"),
        (Path("/etc/passwd"), "/etc/*"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (deque(["rm", "x"]), "rm,*"),
        ([b"rm", None], "rm,"),
        (Decimal("1.50"), "1.50"),
    ],
)
async def test_a_value_that_is_no_json_is_matched_as_a_card_shows_it(
    value: Any, pattern: str
) -> None:
    policy = RulePolicy(default="allow", deny=[Rule("bash", {"command": pattern})])

    assert (
        await decided(policy, ToolCall("bash", {"command": value}), PolicyContext(RUN))
    ).line == ("deny rule 1")


@pytest.mark.parametrize(
    "value", [{"rm -rf x", "ls"}, frozenset(), object(), iter(["rm"]), b"\xff"]
)
async def test_a_value_without_one_text_is_denied_where_a_rule_looks_at_it(value: Any) -> None:
    call = ToolCall("bash", {"command": value})
    policy = RulePolicy(default="allow", deny=[Rule("bash", {"command": "rm*"})])

    decision = await decided(policy, call, PolicyContext(RUN))

    assert decision.ruling is Ruling.DENY
    assert "InvalidCallError" in decision.reason
    assert (await decided(RulePolicy(default="allow"), call, PolicyContext(RUN))).line == "default"
