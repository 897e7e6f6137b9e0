"""Rules on top of an agent's policy: for the call as it was made and as it would run."""

from __future__ import annotations

from sayso.calls import RunRef, ToolCall
from sayso.policy.chain import AdjustablePolicy
from sayso.policy.decision import Decision, PolicyContext, Ruling
from sayso.rules.rule import Rule

CALL = ToolCall("bash", {"command": "ls"})
CONTEXT = PolicyContext(RunRef("a", "s"))


def puts_in_rm(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW.with_arguments({"command": "rm x"})


async def test_an_updated_deny_counts_for_the_arguments_that_the_policy_made() -> None:
    policy = AdjustablePolicy(puts_in_rm)
    policy.update(allow=None, deny=[Rule("bash", {"command": "rm*"})], denied_call_ids=None)

    decision = await policy.decide(CALL, CONTEXT)

    assert (decision.ruling, decision.line) == (Ruling.DENY, "updated deny rule 1")


async def test_an_updated_deny_that_comes_while_the_policy_thinks_counts() -> None:
    async def thinks(call: ToolCall, context: PolicyContext) -> Decision:
        rules = [Rule("bash", {"command": "ls"})]
        policy.update(allow=None, deny=rules, denied_call_ids=None)
        return puts_in_rm(call, context)

    policy = AdjustablePolicy(thinks)

    assert (await policy.decide(CALL, CONTEXT)).line == "updated deny rule 1"


async def test_an_updated_allow_counts_for_the_arguments_that_would_run_and_no_others() -> None:
    async def asks(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ASK.with_arguments({"command": "rm x"})

    rulings = []
    for command in ("ls", "rm x"):
        policy = AdjustablePolicy(asks)
        rules = [Rule("bash", {"command": command})]
        policy.update(allow=rules, deny=None, denied_call_ids=None)
        rulings.append((await policy.decide(CALL, CONTEXT)).ruling)

    assert rulings == [Ruling.ASK, Ruling.ALLOW]


async def test_an_updated_allow_overrides_no_denial_of_the_policy() -> None:
    def denies(call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.DENY.because("not on Fridays")

    policy = AdjustablePolicy(denies)
    policy.update(allow=[Rule("bash")], allow_once=[Rule("bash")])

    assert (await policy.decide(CALL, CONTEXT)).reason == "not on Fridays"
