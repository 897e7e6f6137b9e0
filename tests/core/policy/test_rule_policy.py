"""The rules of a policy: a fixed order, nothing before a denial, the line that decides is named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError
from sayso.policy.decision import Decision, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.declarations import Requirements, ToolAnnotations
from sayso.rules.glob import escape_glob
from sayso.rules.rule import RememberedRule, Rule, literal_rule

RUN = RunRef("a", "s")
LS = ToolCall("bash", {"command": "ls"})
BASH = Rule("bash")


def remembered(
    rule: Rule, effect: Literal["allow", "deny"] = "allow", rule_id: str = "r1"
) -> RememberedRule:
    now = datetime.now(UTC)
    return RememberedRule(rule, effect, "slack:U0ALICE", now, now + timedelta(1), rule_id)


async def decided(policy: RulePolicy, call: ToolCall, context: PolicyContext) -> Decision:
    decision = await evaluate(policy, call, context)
    assert decision is not None
    return decision


@pytest.mark.parametrize(
    ("policy", "ruling", "line"),
    [
        (RulePolicy(), Ruling.ASK, "ask"),
        (RulePolicy(default="allow"), Ruling.ALLOW, "default"),
        (RulePolicy(allow=[BASH]), Ruling.ALLOW, "allow rule 1"),
        (RulePolicy(allow=[Rule("other"), BASH]), Ruling.ALLOW, "allow rule 2"),
        (RulePolicy(allow_once=[Rule("other"), BASH]), Ruling.ALLOW, "allow-once rule 2"),
        (RulePolicy(allow=[BASH], allow_once=[BASH]), Ruling.ALLOW, "allow rule 1"),
        (RulePolicy(allow=[BASH], deny=[BASH]), Ruling.DENY, "deny rule 1"),
        (RulePolicy(default="allow", deny=[BASH]), Ruling.DENY, "deny rule 1"),
        (RulePolicy(deny=[BASH], denied_call_ids=[LS.call_id]), Ruling.DENY, "denied call id"),
        (RulePolicy(deny=[Rule("bash", {"command": "rm"})]), Ruling.ASK, "ask"),
    ],
)
async def test_each_verdict_says_which_line_decided(
    policy: RulePolicy, ruling: Ruling, line: str
) -> None:
    decision = await decided(policy, LS, PolicyContext(RUN))

    assert decision.ruling is ruling
    assert decision.line == line
    assert decision.reason


async def test_a_call_id_denied_in_advance_is_denied_even_if_approved_in_principle() -> None:
    policy = RulePolicy(default="allow", allow=[BASH], denied_call_ids=["call-1"])
    policy.disable_permission_for("bash")
    policy.deny_call_id("call-2")

    lines = [
        (await decided(policy, ToolCall("bash", {}, call_id), PolicyContext(RUN))).line
        for call_id in ("call-1", "call-2", "call-3")
    ]

    assert lines == ["denied call id", "denied call id", "override disable_permission_for"]


async def test_what_a_person_stored_allows_the_call() -> None:
    context = PolicyContext(RUN, (remembered(literal_rule(LS)),))

    decision = await decided(RulePolicy(), LS, context)

    assert decision.ruling is Ruling.ALLOW
    assert decision.line == "remembered always allow"
    assert decision.rule_id == "r1"
    assert "slack:U0ALICE" in decision.reason


async def test_a_deny_rule_beats_what_a_person_stored() -> None:
    context = PolicyContext(RUN, (remembered(literal_rule(LS)),))

    assert (await decided(RulePolicy(deny=[BASH]), LS, context)).line == "deny rule 1"


async def test_always_deny_beats_always_allow_overrides_and_rules() -> None:
    policy = RulePolicy(default="allow", allow=[BASH], allow_once=[BASH])
    policy.disable_permission_for("bash")
    context = PolicyContext(RUN, (remembered(BASH, "allow"), remembered(BASH, "deny", "r2")))

    decision = await decided(policy, LS, context)

    assert decision.ruling is Ruling.DENY
    assert decision.line == "remembered always deny"
    assert decision.rule_id == "r2"


async def test_an_allow_once_rule_vanishes_with_its_first_match() -> None:
    policy = RulePolicy(allow_once=[BASH])

    lines = [(await decided(policy, LS, PolicyContext(RUN))).line for _ in range(3)]
    elsewhere = await decided(policy, LS, PolicyContext(RunRef("a", "another session")))

    assert lines == ["allow-once rule 1", "ask", "ask"]
    assert elsewhere.line == "allow-once rule 1"


async def test_an_allow_once_rule_is_not_used_up_where_something_else_decides() -> None:
    policy = RulePolicy(allow_once=[BASH], denied_call_ids=["no"])
    policy.disable_permission_for("bash")
    await decided(policy, LS, PolicyContext(RUN))
    await decided(policy, ToolCall("bash", {}, "no"), PolicyContext(RUN))
    await decided(policy, ToolCall("other"), PolicyContext(RUN))
    policy.clear_permission_override("bash")

    assert (await decided(policy, LS, PolicyContext(RUN))).line == "allow-once rule 1"


async def test_the_same_rule_twice_allows_twice() -> None:
    policy = RulePolicy(allow_once=[BASH, BASH])

    lines = [(await decided(policy, LS, PolicyContext(RUN))).line for _ in range(3)]

    assert lines == ["allow-once rule 1", "allow-once rule 2", "ask"]


async def test_only_one_of_many_racing_calls_gets_an_allow_once_rule() -> None:
    policies = [RulePolicy(allow_once=[BASH]) for _ in range(20)]  # as in 20 processes
    taken: set[str] = set()

    async def spend(key: str) -> bool:
        await asyncio.sleep(0)
        first = key not in taken
        taken.add(key)
        return first

    context = PolicyContext(RUN, spend=spend)
    decisions = await asyncio.gather(*(decided(policy, LS, context) for policy in policies))

    assert [d.ruling for d in decisions].count(Ruling.ALLOW) == 1
    assert len(taken) == 1


async def test_another_rule_put_before_does_not_bring_back_a_spent_one() -> None:
    taken: list[str] = []

    async def spend(key: str) -> bool:
        taken.append(key)
        return taken.count(key) == 1

    context = PolicyContext(RUN, spend=spend)
    await decided(RulePolicy(allow_once=[BASH]), LS, context)
    later = await decided(RulePolicy(allow_once=[Rule("new"), BASH]), LS, context)

    assert later.line == "ask"


async def test_a_denial_that_comes_while_a_rule_is_spent_counts() -> None:
    policy = RulePolicy(allow_once=[BASH])

    async def spend(key: str) -> bool:
        policy.deny_call_id(LS.call_id)
        return True

    assert (await decided(policy, LS, PolicyContext(RUN, spend=spend))).line == "denied call id"


async def test_a_store_that_cannot_spend_denies() -> None:
    async def spend(key: str) -> bool:
        raise ConnectionError

    decision = await decided(RulePolicy(allow_once=[BASH]), LS, PolicyContext(RUN, spend=spend))

    assert decision.ruling is Ruling.DENY
    assert "RulePolicy raised ConnectionError" in decision.reason


@pytest.mark.parametrize(
    "arguments", [{"default": "deny"}, {"default": ""}, {"denied_call_ids": "abc"}]
)
def test_settings_of_a_policy_that_make_no_sense_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        RulePolicy(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"command": "ls "}, {"command": "LS"}, {"command": "ls", "more": 1}, {"command": ["ls"]}],
)
def test_a_literal_rule_is_about_its_own_arguments_only(arguments: dict[str, Any]) -> None:
    rule = literal_rule(LS)

    assert rule.matches(ToolCall("bash", {"command": "ls"}))
    assert not rule.matches(ToolCall("bash", arguments))
    assert not rule.matches(ToolCall("bash2", {"command": "ls"}))


@pytest.mark.parametrize("value", ["*", "a\\*b", "[x]", "{a,b}", "!(x)", "a|b", "?", "@(a)", "\\"])
def test_glob_characters_from_arguments_are_only_characters(value: str) -> None:
    rule = Rule("bash", {"command": escape_glob(value)})

    assert rule.matches(ToolCall("bash", {"command": value}))
    assert not rule.matches(ToolCall("bash", {"command": "anything"}))


@pytest.mark.parametrize("pattern", ["(", "x" * 70_000])
def test_a_pattern_that_is_refused_names_its_parameter(pattern: str) -> None:
    with pytest.raises(ConfigError, match="'command'"):
        Rule("bash", {"command": pattern})


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"command": "git status --short"}, True),
        ({"command": "git push"}, False),
        ({"command": "git status", "depth": 3}, True),
        ({}, False),
    ],
)
def test_every_pattern_must_fit(arguments: dict[str, Any], fits: bool) -> None:
    assert Rule("bash", {"command": "git status*"}).matches(ToolCall("bash", arguments)) is fits


@pytest.mark.parametrize(
    ("value", "pattern"), [(True, "true"), (3, "[0-9]"), (None, "null"), ([1, 2], "1,*")]
)
def test_patterns_see_values_as_javascript_writes_them(value: Any, pattern: str) -> None:
    assert Rule("t", {"x": pattern}).matches(ToolCall("t", {"x": value}))


def test_a_missing_parameter_does_not_match() -> None:
    assert not Rule("bash", {"path": "x"}).matches(LS)


# The order of evaluation once more, as plainly as design.md puts it.


@dataclass
class Oracle:
    default: str
    allow: Sequence[Rule]
    allow_once: Sequence[Rule]
    deny: Sequence[Rule]
    denied_call_ids: set[str]
    declared: dict[str, bool]
    overrides: dict[str, bool]
    spent: set[int]

    def decide(self, call: ToolCall, book: Sequence[RememberedRule]) -> Ruling:
        if call.call_id in self.denied_call_ids:
            return Ruling.DENY
        if any(rule.matches(call) for rule in self.deny):
            return Ruling.DENY
        if any(r.effect == "deny" and r.rule.matches(call) for r in book):
            return Ruling.DENY
        needed = self.default == "ask"
        needed = self.declared.get(call.name, needed)
        needed = self.overrides.get(call.name, needed)
        if not needed or any(rule.matches(call) for rule in self.allow):
            return Ruling.ALLOW
        for number, rule in enumerate(self.allow_once):
            if number not in self.spent and rule.matches(call):
                self.spent.add(number)
                return Ruling.ALLOW
        if any(r.effect == "allow" and r.rule.matches(call) for r in book):
            return Ruling.ALLOW
        return Ruling.ASK


TOOLS = st.sampled_from(["bash", "read"])
VALUES = st.sampled_from(["ls", "ls -l", "rm x", "", "src/a", 3, None])
CALLS = st.builds(
    ToolCall,
    TOOLS,
    st.dictionaries(st.sampled_from(["command", "path"]), VALUES, max_size=2),
    st.sampled_from(["c1", "c2", "c3"]),
)
EMPTY = '""""'
PATTERNS = st.sampled_from(["ls", "ls*", "*", "rm *", "[a-z]*", "!(ls)", "{ls,3}", "src/**", EMPTY])
RULES = st.builds(
    Rule, TOOLS, st.dictionaries(st.sampled_from(["command", "path"]), PATTERNS, max_size=2)
) | CALLS.map(literal_rule)
SOME_RULES = st.lists(RULES, max_size=3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("call"), CALLS),
        st.tuples(st.just("require"), TOOLS),
        st.tuples(st.just("disable"), TOOLS),
        st.tuples(st.just("clear"), TOOLS),
        st.tuples(st.just("deny id"), st.sampled_from(["c1", "c2", "c3"])),
        st.tuples(st.just("always"), st.tuples(RULES, st.sampled_from(["allow", "deny"]))),
        st.tuples(st.just("revoke"), st.integers(0, 3)),
    ),
    max_size=14,
)


@settings(max_examples=examples(300))
@given(
    default=st.sampled_from(["ask", "allow"]),
    allow=SOME_RULES,
    allow_once=SOME_RULES,
    deny=st.lists(RULES, max_size=2),
    declared=st.dictionaries(TOOLS, st.booleans()),
    by_context=st.booleans(),
    steps=STEPS,
)
def test_no_sequence_of_rules_overrides_and_choices_allows_what_the_order_does_not(
    default: Literal["ask", "allow"],
    allow: list[Rule],
    allow_once: list[Rule],
    deny: list[Rule],
    declared: dict[str, bool],
    by_context: bool,
    steps: list[tuple[str, Any]],
) -> None:
    known = Requirements()
    for name, requires in declared.items():
        if not by_context:
            known.declare(name, requires=requires)
    policy = RulePolicy(
        default=default, allow=allow, allow_once=allow_once, deny=deny, requirements=known
    )
    oracle = Oracle(default, allow, allow_once, deny, set(), declared, {}, set())
    book: list[RememberedRule] = []

    async def play() -> None:
        for step, what in steps:
            if step == "require":
                policy.require_permission_for(what)
                oracle.overrides[what] = True
            elif step == "disable":
                policy.disable_permission_for(what)
                oracle.overrides[what] = False
            elif step == "clear":
                policy.clear_permission_override(what)
                oracle.overrides.pop(what, None)
            elif step == "deny id":
                policy.deny_call_id(what)
                oracle.denied_call_ids.add(what)
            elif step == "always":
                book.append(remembered(*what))
            elif step == "revoke":
                del book[what : what + 1]
            else:
                says = declared.get(what.name) if by_context else None
                declaration = None if says is None else ToolAnnotations(requires=says)
                context = PolicyContext(RUN, tuple(book), declaration=declaration)
                decision = await decided(policy, what, context)
                assert decision.ruling is oracle.decide(what, book), decision

    asyncio.run(play())


@pytest.mark.parametrize(
    "rule",
    [Rule("bash", {"command": EMPTY}), literal_rule(ToolCall("bash", {"command": ""}))],
    ids=["by pattern", "literal"],
)
async def test_a_rule_for_an_empty_value_counts_wherever_a_rule_can_stand(rule: Rule) -> None:
    empty, other = ToolCall("bash", {"command": ""}), ToolCall("bash", {"command": "ls"})

    async def rulings(policy: RulePolicy, *book: RememberedRule) -> list[Ruling]:
        context = PolicyContext(RUN, book)
        return [(await decided(policy, call, context)).ruling for call in (empty, other, empty)]

    deny, allow, ask = Ruling.DENY, Ruling.ALLOW, Ruling.ASK
    assert await rulings(RulePolicy(default="allow", deny=[rule])) == [deny, allow, deny]
    assert await rulings(RulePolicy(allow=[rule])) == [allow, ask, allow]
    assert await rulings(RulePolicy(allow_once=[rule])) == [allow, ask, ask]
    assert await rulings(RulePolicy(), remembered(rule)) == [allow, ask, allow]
    never = remembered(rule, "deny")
    assert await rulings(RulePolicy(default="allow"), never) == [deny, allow, deny]
