"""A server's deny cannot be overruled: not by an agent's policy, a rule, a press or an edit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

import pytest
from store_contracts.floor import a_floor
from support.counted import Counted
from support.outbox import next_request

from sayso import Decision, Gate, Outcome, Rule, RulePolicy, RunRef
from sayso.agent.options import GateOptions
from sayso.calls import ToolCall
from sayso.policy.chain import Chain
from sayso.policy.decision import Policy, PolicyContext
from sayso.policy.server_policy import ServerPolicy
from sayso.rules.floor import floor_of
from sayso.stores.backend import Backend
from sayso.stores.protocols import RuleStore
from sayso.testing import a_request, a_response

RUN = RunRef("deploy-bot", "s-1")
RM = ToolCall("bash", {"command": "rm"})
LS = ToolCall("bash", {"command": "ls"})
LINE = "deny rule 1 on the server"
NO_RM = a_floor("bash", command="rm")


def gate_on(backend: Backend, policy: Policy | None = None) -> Gate:
    return Gate(backend, GateOptions(RUN, policy=policy, timeout=30))


def allow(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW


def to_rm(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW.with_arguments(dict(RM.arguments))


@pytest.mark.parametrize(
    "policy",
    [
        allow,
        RulePolicy(default="allow"),
        RulePolicy(allow=[Rule("bash")]),
        RulePolicy(allow_once=[Rule("bash")]),
        Chain(RulePolicy(allow=[Rule("bash")])),
        ServerPolicy(),
    ],
    ids=["function", "default", "allow rule", "allow-once rule", "chain", "server"],
)
async def test_what_the_server_denies_is_denied_whatever_the_agents_policy_says(
    backend: Backend, policy: Policy
) -> None:
    gate = gate_on(backend, policy)
    await backend.rules.set_guardrails(NO_RM)

    verdict = await gate.check(RM)

    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, LINE)
    await gate.finish()


async def test_other_arguments_that_a_policy_puts_in_are_held_against_the_floor(
    backend: Backend,
) -> None:
    gate = gate_on(backend, to_rm)
    await backend.rules.set_guardrails(NO_RM)

    assert (await gate.check(LS)).line == LINE
    await gate.finish()


async def test_a_floor_that_comes_later_counts_from_the_next_call_on_and_so_does_its_end(
    backend: Backend,
) -> None:
    gate = gate_on(backend, allow)

    assert (await gate.check(RM)).approved
    await backend.rules.set_guardrails(NO_RM)
    assert (await gate.check(RM)).line == LINE
    assert (await gate.check(LS)).approved
    await backend.rules.set_guardrails(floor_of(()))
    assert (await gate.check(RM)).approved
    await gate.finish()


async def test_a_rule_that_allows_once_is_not_used_up_by_what_the_server_denies(
    backend: Backend,
) -> None:
    gate = gate_on(backend, RulePolicy(allow_once=[Rule("bash")]))
    await backend.rules.set_guardrails(NO_RM)
    assert (await gate.check(RM)).line == LINE

    await backend.rules.set_guardrails(floor_of(()))

    assert (await gate.check(RM)).line == "allow-once rule 1"
    await gate.finish()


async def test_an_always_of_a_person_does_not_overrule_the_server(backend: Backend) -> None:
    gate = gate_on(backend)
    waiting = asyncio.create_task(gate.check(RM))
    request = await next_request(backend)
    always = next(one for one in request.card().choices if one.stores)
    response = request.answer(always, by="slack:U0ALICE", at=request.expires_at)
    rule = request.to_remember(
        always, by="slack:U0ALICE", at=request.expires_at, until=request.expires_at
    )
    await backend.store.settle(request.question_id, response, remember=rule)
    assert (await waiting).approved
    assert (await gate.check(RM)).approved

    await backend.rules.set_guardrails(NO_RM)

    assert (await gate.check(RM)).line == LINE
    await gate.finish()


async def test_a_floor_laid_while_a_question_is_open_denies_the_press(backend: Backend) -> None:
    gate = gate_on(backend)
    waiting = asyncio.create_task(gate.check(RM))
    request = await next_request(backend)

    await backend.rules.set_guardrails(NO_RM)
    settled = await backend.store.settle(request.question_id, a_response(request))

    assert settled.forbidden
    verdict = await waiting
    assert (verdict.outcome, verdict.line) == (Outcome.DENIED, LINE)
    await gate.finish()


async def test_a_floor_laid_after_the_press_denies_a_call_that_is_resumed_later(
    backend: Backend,
) -> None:
    gate = gate_on(backend)
    submitted = await gate.submit(RM)
    assert isinstance(submitted, str)
    request = await next_request(backend)
    await backend.store.settle(request.question_id, a_response(request))

    await backend.rules.set_guardrails(NO_RM)

    assert (await gate.resume(submitted)).line == LINE
    await gate.finish()


async def test_a_call_that_is_emitted_is_denied_without_a_card(backend: Backend) -> None:
    gate = gate_on(backend, allow)
    await backend.rules.set_guardrails(NO_RM)
    request = a_request(tool="bash", arguments=RM.arguments, run=RUN)

    await gate.emit(request)

    record = await backend.store.get(request.question_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.DENIED
    await gate.finish()


async def test_what_the_policy_denies_needs_no_look_at_a_floor_about_other_tools(
    backend: Backend,
) -> None:
    rules = Counted(backend.rules, "book")
    counted = replace(backend, rules=cast("RuleStore", rules))
    gate = gate_on(counted, RulePolicy(deny=[Rule("drop")]))
    await backend.rules.set_guardrails(NO_RM)
    await gate.check(RM)
    before = rules.looks

    assert (await gate.check(ToolCall("drop"))).line == "deny rule 1"

    assert rules.looks == before
    await gate.finish()
