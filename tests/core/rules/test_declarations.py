"""Which tools need a permission: override, declaration, default, in this order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError
from sayso.policy.decision import Decision, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.declarations import (
    Requirements,
    ToolAnnotations,
    declared_by,
    multi_agent_tool,
    requires_permission,
    sub_agent_tool,
    tool_name,
)
from sayso.rules.rule import Rule

CALL = ToolCall("deploy")
RUN = RunRef("a", "s")


async def decided(policy: RulePolicy, context: PolicyContext | None = None) -> Decision:
    decision = await evaluate(policy, CALL, context or PolicyContext(RUN))
    assert decision is not None
    return decision


@requires_permission
def deploy() -> str:
    return "done"


async def test_a_function_declares_that_it_requires_permission() -> None:
    policy = RulePolicy(default="allow", requirements=Requirements([deploy]))

    decision = await decided(policy)

    assert decision.ruling is Ruling.ASK
    assert "declared" in decision.reason
    assert deploy() == "done"


async def test_an_override_by_name_counts_whatever_the_tool_declares() -> None:
    policy = RulePolicy(requirements=Requirements([deploy]))
    policy.disable_permission_for("deploy")
    free = RulePolicy()
    free.requirements.declare("deploy", requires=False)
    free.require_permission_for("deploy")

    assert (await decided(policy)).line == "override disable_permission_for"
    assert (await decided(free)).ruling is Ruling.ASK


def test_an_async_function_declares_it_too_with_rules_of_its_own() -> None:
    def suggest(arguments: object) -> Rule:
        return Rule("deploy")

    @requires_permission(derive_permission=suggest)
    async def deploy() -> None: ...

    assert declared_by(deploy) == ToolAnnotations(derive=suggest)


@pytest.mark.parametrize("declare", [sub_agent_tool, multi_agent_tool])
async def test_sub_agent_and_multi_agent_tools_require_permission_by_default(
    declare: Callable[[Callable[[], None]], Callable[[], None]],
) -> None:
    def deploy() -> None: ...

    policy = RulePolicy(default="allow", requirements=Requirements([declare(deploy)]))

    assert (await decided(policy)).ruling is Ruling.ASK


async def test_sub_agents_one_does_not_own_are_declared_by_name() -> None:
    known = Requirements()
    known.declare("deploy", kind="sub-agent")

    decision = await decided(RulePolicy(default="allow", requirements=known))

    assert decision.ruling is Ruling.ASK
    assert "sub-agent" in decision.reason


async def test_what_a_tool_declares_reaches_the_policy_through_the_context() -> None:
    context = PolicyContext(RUN, declaration=ToolAnnotations())

    assert (await decided(RulePolicy(default="allow"), context)).ruling is Ruling.ASK


async def test_a_declaration_beats_the_default() -> None:
    known = Requirements()
    known.declare("deploy", requires=False)

    decision = await decided(RulePolicy(default="ask", requirements=known))

    assert decision.ruling is Ruling.ALLOW
    assert decision.line == "declaration requires=False"


async def test_require_permission_for_beats_a_declaration() -> None:
    known = Requirements()
    known.declare("deploy", requires=False)
    policy = RulePolicy(default="allow", requirements=known)
    policy.require_permission_for("deploy")

    decision = await decided(policy)

    assert decision.ruling is Ruling.ASK
    assert "override" in decision.reason


async def test_disable_permission_for_beats_a_declaration() -> None:
    policy = RulePolicy(requirements=Requirements([deploy]))
    policy.disable_permission_for("deploy")

    decision = await decided(policy)

    assert decision.ruling is Ruling.ALLOW
    assert decision.line == "override disable_permission_for"


async def test_disable_permission_for_does_not_beat_a_deny_rule() -> None:
    policy = RulePolicy(deny=[Rule("deploy")])
    policy.disable_permission_for("deploy")

    assert (await decided(policy)).line == "deny rule 1"


async def test_clear_permission_override_takes_either_back() -> None:
    policy = RulePolicy()
    policy.disable_permission_for("deploy")
    policy.clear_permission_override("deploy")
    policy.clear_permission_override("never overridden")
    cleared = await decided(policy)
    lax = RulePolicy(default="allow")
    lax.require_permission_for("deploy")
    lax.clear_permission_override("deploy")

    assert cleared.line == "ask"
    assert (await decided(lax)).line == "default"


async def test_declarations_are_not_shared_between_policies() -> None:
    RulePolicy(default="allow", requirements=Requirements([deploy]))

    assert (await decided(RulePolicy(default="allow"))).line == "default"


def test_a_tool_needs_a_name() -> None:
    with pytest.raises(ConfigError, match="pass its name"):
        tool_name(lambda: None)
