"""The policy of a server: the first section that is about a call decides, in the fixed order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.policy.decision import ASK_LINE, PolicyContext, Ruling, evaluate
from sayso.policy.policy_file import PRESETS, PlacedRule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.rule import RememberedRule, Rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRef("deploy-bot", "s-1")


def placed(tool: str, **params: str) -> PlacedRule:
    return PlacedRule(Rule(tool, params))


async def said(
    policy: ServerPolicy, tool: str, *, agent: str = "deploy-bot", **arguments: str
) -> tuple[Ruling, str]:
    call = ToolCall(tool, arguments)
    decision = await evaluate(policy, call, PolicyContext(RunRef(agent, "s-1")))
    assert decision is not None
    return decision.ruling, decision.line


async def test_the_first_section_that_matches_agent_and_tool_decides() -> None:
    policy = ServerPolicy(
        [
            Section(agent="deploy-*", tool="git_*", default="allow", called="policy 1"),
            Section(agent="deploy-*", deny=(placed("git_push"),), called="policy 2"),
            Section(allow=(placed("git_push"), placed("read")), called="policy 3"),
        ]
    )

    assert await said(policy, "git_push") == (Ruling.ALLOW, "default of policy 1")
    assert await said(policy, "read") == (Ruling.ASK, ASK_LINE)
    assert await said(policy, "read", agent="other") == (Ruling.ALLOW, "allow rule 2 of policy 3")


async def test_where_no_section_is_about_a_call_a_person_is_asked() -> None:
    policy = ServerPolicy([Section(agent="deploy-*", default="allow")])

    assert await said(policy, "read", agent="other") == (Ruling.ASK, ASK_LINE)
    assert await said(ServerPolicy(), "read") == (Ruling.ASK, ASK_LINE)


async def test_in_a_section_nothing_comes_before_a_denial() -> None:
    rule = placed("bash", command="ls")
    section = Section(
        default="allow", allow=(rule,), allow_once=(rule,), deny=(rule,), called="policy 1"
    )

    assert await said(ServerPolicy([section]), "bash", command="ls") == (
        Ruling.DENY,
        "deny rule 1 of policy 1",
    )
    assert await said(ServerPolicy([replace(section, deny=())]), "bash", command="ls") == (
        Ruling.ALLOW,
        "default of policy 1",
    )


async def test_a_rule_that_allows_once_allows_one_call_of_a_session() -> None:
    policy = ServerPolicy([Section(allow_once=(placed("deploy"),), called="policy 1")])

    assert await said(policy, "deploy") == (Ruling.ALLOW, "allow-once rule 1 of policy 1")
    assert await said(policy, "deploy") == (Ruling.ASK, ASK_LINE)


@pytest.mark.parametrize("effect", ["allow", "deny"])
async def test_what_a_session_remembers_counts_in_and_outside_of_sections(
    effect: Literal["allow", "deny"],
) -> None:
    kept = RememberedRule(
        rule=Rule("bash"),
        effect=effect,
        stored_by="slack:U1",
        stored_at=NOW,
        expires_at=NOW + timedelta(days=1),
    )
    for policy in (ServerPolicy(), ServerPolicy([Section(allow=(placed("read"),))])):
        decision = await evaluate(policy, ToolCall("bash", {}), PolicyContext(RUN, (kept,)))

        assert decision is not None
        assert decision.ruling.value == effect
        assert decision.rule_id == kept.rule_id


async def test_the_preset_allows_tools_that_look_and_the_rest_asks() -> None:
    looking = tuple(PlacedRule(one.rule, "preset coding") for one in PRESETS["coding"])
    policy = ServerPolicy([Section(looking=looking, called="policy 1")])

    assert await said(policy, "Read", file_path="/etc/passwd") == (Ruling.ALLOW, "preset coding")
    for tool in (
        "Write",
        "Edit",
        "WebFetch",
        "shell",
        "exec_command",
        "write_file",
    ):
        assert await said(policy, tool, command="ls") == (Ruling.ASK, ASK_LINE)


async def test_sections_can_be_replaced_and_count_from_the_next_call_on() -> None:
    policy = ServerPolicy([Section(default="allow")])
    assert (await said(policy, "read"))[0] is Ruling.ALLOW

    policy.replace([Section(deny=(placed("read"),))])

    assert (await said(policy, "read"))[0] is Ruling.DENY


def test_what_is_audited_is_said_by_the_section_of_the_call() -> None:
    policy = ServerPolicy([Section(agent="deploy-*", audit=True), Section()])

    assert policy.audits("deploy-bot", "read")
    assert not policy.audits("other", "read")
    assert not ServerPolicy().audits("other", "read")


def test_the_deny_rules_that_travel_are_those_of_the_section_of_the_call() -> None:
    policy = ServerPolicy(
        [
            Section(agent="deploy-*", deny=(placed("bash", command="rm*"),), called="policy 1"),
            Section(deny=(placed("bash"), placed("read")), called="policy 2"),
        ]
    )

    def travel(agent: str) -> list[str]:
        rules = policy.deny_rules(ToolCall("bash", {}), PolicyContext(RunRef(agent, "s")))
        return [one.line for one in rules]

    assert travel("deploy-bot") == ["deny rule 1 of policy 1"]
    assert travel("other") == ["deny rule 1 of policy 2"]
