"""A line of a shell whose parts several remembered rules allow, each some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sayso import RunRef, ToolCall
from sayso.always.widths import derive
from sayso.calls import Folder
from sayso.clock import utc_now
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import Remembered
from sayso.rules.matchers import ShellMatcher
from sayso.rules.rule import RememberedRule, Rule
from sayso.rules.rule_set import together

RUN = RunRef("claude-code", "s-1")
SHOP = Folder("/work/shop")


def call(line: str, *, folder: Folder | None = SHOP, **more: Any) -> ToolCall:
    return ToolCall("Bash", {"command": line, **more}, folder=folder)


def kept(rule: Rule, rule_id: str, effect: Any = "allow") -> RememberedRule:
    now = utc_now()
    return RememberedRule(rule, effect, "slack:U1", now, now + timedelta(days=1), rule_id=rule_id)


def pressed(*lines: str, folder: Folder | None = SHOP) -> tuple[RememberedRule, ...]:
    """What is stored once a person chose the narrowest width of each of these lines."""
    return tuple(kept(derive(call(one, folder=folder))[1], f"r-{one}") for one in lines)


def ids(rules: Sequence[RememberedRule]) -> list[str]:
    return [one.rule_id for one in rules]


RULES = pressed("git add x", "git commit -m x", "npm test", "cd web && npm run build")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("git add a && git commit -m 'b; c'", ["r-git add x", "r-git commit -m x"]),
        ("git commit -m b && git add a && git commit -m c && git status | head", None),
        ("npm test; git add a", ["r-npm test", "r-git add x"]),
    ],
)
def test_rules_that_allow_each_part_of_a_line_allow_it_together(
    line: str, found: list[str] | None
) -> None:
    assert ids(together(call(line), RULES)) == (found or ["r-git commit -m x", "r-git add x"])


@pytest.mark.parametrize(
    "line",
    [
        *("git add a && git push", "git add a && rm x", "npm test | git commit -m x"),
        *("git add a && git commit -m $(id)", "git add a && git commit -m x > y", "git add a & ls"),
        *("git add a && PATH=. git commit -m x", "cd web && npm test && git add x", "ls", ""),
        *("git add a && git commit --amend -m x", "cd /tmp && git add a && git commit -m x"),
        "npm test && npm run build",
    ],
)
def test_a_part_that_no_rule_allows_is_asked_about(line: str) -> None:
    assert together(call(line), RULES) == ()


@pytest.mark.parametrize(
    "other",
    [
        call("git add a && git commit -m b", run_in_background=True),
        call("git add a && git commit -m b", cwd="/tmp"),
        ToolCall("bash", {"command": "git add a && git commit -m b"}, folder=SHOP),
        ToolCall("Bash", {"cmd": "git add a && git commit -m b"}, folder=SHOP),
        ToolCall("Bash", {}, folder=SHOP),
    ],
)
def test_rules_together_hold_all_that_each_of_them_holds(other: ToolCall) -> None:
    assert together(other, RULES) == ()


def test_rules_of_other_folders_tools_and_kinds_are_not_joined() -> None:
    line = call("git add a && pytest /work/shop/tests")
    add, elsewhere = pressed("git add x")[0], pressed("pytest", folder=Folder("/work/other"))[0]
    fit = {"command": ShellMatcher((("pytest",),), "/work/shop")}

    assert together(line, (add, *pressed("pytest"))) != ()
    assert together(line, (add, elsewhere)) == ()
    assert together(line, (add, kept(Rule("bash", matchers=fit), "r"))) == ()
    assert together(line, (add, replace(pressed("pytest")[0], rule=Rule("Bash")))) == ()
    same = kept(Rule("Bash", matchers={"command": ShellMatcher(same=(("pytest",),))}), "r")
    assert together(line, (add, same)) == ()


async def test_a_decision_by_several_rules_names_each_and_a_denial_comes_before() -> None:
    line = call("git add a && git commit -m b")
    denial = kept(Rule("Bash", {"command": "git add a *"}), "no", "deny")

    allowed = await evaluate(Remembered(), line, PolicyContext(RUN, RULES))
    denied = await evaluate(Remembered(), line, PolicyContext(RUN, (*RULES, denial)))

    assert allowed is not None
    assert allowed.rule_ids == ("r-git add x", "r-git commit -m x")
    assert allowed.reason == (
        "allowed by an Always of slack:U1 (rule r-git add x) "
        "and by an Always of slack:U1 (rule r-git commit -m x)"
    )
    assert denied is not None
    assert (denied.ruling, denied.rule_ids) == (Ruling.DENY, ("no",))


async def test_one_rule_that_allows_the_whole_line_decides_alone() -> None:
    both = pressed("git add a && git commit -m b")
    decision = await evaluate(
        Remembered(), call("git add a && git commit -m b"), PolicyContext(RUN, (*RULES, *both))
    )

    assert decision is not None
    assert decision.rule_ids == ("r-git add a && git commit -m b",)
