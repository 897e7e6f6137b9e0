"""Requests, answers and rules with the older form of digest: verified as they were made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from support.records_0_1_0 import digest_of_0_1_0, request_of_0_1_0

from sayso import Gate, Outcome, Rule, RulePolicy, RunRef, ToolCall
from sayso.agent.verdict import verdict_on
from sayso.digests import arguments_digest
from sayso.errors import ArgumentsChangedError, UnreadableEventError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.questions.wire import decode, encode
from sayso.rules.rule import RememberedRule, literal_rule, matching_rules
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend

RUN = RunRef("bank-bot", "s-1")
PAY = ToolCall("pay", {"to": "é", "amount": 1})
OLD = digest_of_0_1_0(PAY.arguments)
# The newest form cannot tell the last of them from the call, the older one can.
OTHERS = [{"to": "é", "amount": 2}, {"to": "e", "amount": 1}, {"to": "é", "amount": 1.0}]


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as backend:
        yield backend


async def asked(backend: Backend) -> PermissionRequestEvent:
    request = request_of_0_1_0(PAY, RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    return request


def approval(request: PermissionRequestEvent) -> PermissionResponseEvent:
    return request.approve(by="slack:U0ALICE", at=datetime.now(UTC))


async def test_an_open_request_is_answered_and_its_run_goes_on(backend: Backend) -> None:
    request = await asked(backend)
    await backend.store.settle(request.permission_id, approval(request))

    async with Gate.open(backend, run=RUN) as gate:
        verdict = await gate.resume(request.permission_id)

    assert (verdict.outcome, verdict.arguments) == (Outcome.APPROVED, PAY.arguments)


async def test_a_call_that_was_asked_about_is_not_asked_about_again(backend: Backend) -> None:
    request = await asked(backend)
    await backend.store.settle(request.permission_id, approval(request))

    async with Gate.open(backend, run=RUN, timeout=0.3) as gate:
        verdicts = await gate.resume_batch([request.permission_id])
        again = await gate.check(PAY)
        other = await gate.check(replace(PAY, arguments=OTHERS[2]))

    assert [again] == verdicts
    assert again.approved
    assert other.outcome is Outcome.EXPIRED


@pytest.mark.parametrize("arguments", OTHERS)
def test_an_approval_holds_for_no_other_arguments(arguments: dict[str, object]) -> None:
    request = request_of_0_1_0(PAY, RUN)

    assert verdict_on(PAY, OLD, approval(request)).approved
    with pytest.raises(ArgumentsChangedError):
        verdict_on(replace(PAY, arguments=arguments), OLD, approval(request))


@pytest.mark.parametrize("digest", [OLD[:-1] + "x", digest_of_0_1_0(OTHERS[2])])
def test_a_request_with_the_digest_of_something_else_cannot_be_read(digest: str) -> None:
    request = request_of_0_1_0(PAY, RUN)

    written = encode(request).decode()

    assert decode(written) == request
    with pytest.raises(UnreadableEventError, match="digest"):
        decode(written.replace(f'"argumentsDigest":"{OLD}"', f'"argumentsDigest":"{digest}"', 1))


def test_changed_arguments_of_an_answer_are_verified_by_their_digest() -> None:
    changed = {"to": "é", "amount": 5}
    answer = request_of_0_1_0(PAY, RUN).approve(
        by="slack:U0ALICE", at=datetime.now(UTC), modified_arguments=changed
    )
    old = encode(answer).decode().replace(arguments_digest(changed), digest_of_0_1_0(changed))

    read = decode(old)

    assert isinstance(read, PermissionResponseEvent)
    assert read.modified_arguments == changed
    assert read.modified_digest == digest_of_0_1_0(changed)
    with pytest.raises(UnreadableEventError, match="digest"):
        decode(old.replace(digest_of_0_1_0(changed), digest_of_0_1_0({})))


def test_arguments_written_otherwise_are_changed_arguments() -> None:
    request = request_of_0_1_0(PAY, RUN)

    def approved(arguments: dict[str, object]) -> PermissionResponseEvent:
        return request.approve(
            by="slack:U0ALICE", at=datetime.now(UTC), modified_arguments=arguments
        )

    assert approved(dict(PAY.arguments)).modified_arguments is None
    for arguments in OTHERS:
        assert approved(arguments).modified_arguments == arguments


@pytest.mark.parametrize(
    "rule",
    [
        literal_rule(PAY, OLD),
        Rule("pay", arguments_digest=OLD),
        Rule("pay", {"amount": "1"}, others_digest=digest_of_0_1_0({"to": "é"})),
    ],
)
def test_a_remembered_rule_is_about_its_call_and_no_other(rule: Rule) -> None:
    others = [call for one in OTHERS[:2] if (call := replace(PAY, arguments=one))]
    rules = [Rule("pay", arguments_digest=arguments_digest({})), rule]

    assert rule.matches(PAY)
    assert list(matching_rules(rules, PAY)) == [1]
    assert not any(rule.matches(other) for other in others)
    assert [list(matching_rules(rules, other)) for other in others] == [[], []]


def test_a_rule_of_the_older_form_tells_apart_what_it_told_apart() -> None:
    same_number = replace(PAY, arguments=OTHERS[2])

    assert not Rule("pay", arguments_digest=OLD).matches(same_number)
    assert Rule("pay", arguments_digest=arguments_digest(PAY.arguments)).matches(same_number)


@pytest.mark.parametrize(("effect", "others"), [("allow", [False] * 3), ("deny", [True] * 3)])
async def test_what_a_session_remembers_counts_for_the_same_call_alone(
    backend: Backend, effect: Literal["allow", "deny"], others: list[bool]
) -> None:
    request = await asked(backend)
    now = datetime.now(UTC)
    rule = RememberedRule(
        rule=request.suggested_rules[0],
        effect=effect,
        stored_by="slack:U0ALICE",
        stored_at=now,
        expires_at=now + timedelta(hours=1),
    )
    await backend.store.settle(request.permission_id, approval(request), remember=rule)

    policy = RulePolicy(default="ask" if effect == "allow" else "allow")
    async with Gate.open(backend, run=RUN, policy=policy, timeout=0.3) as gate:
        calls = [ToolCall("pay", arguments) for arguments in (PAY.arguments, *OTHERS)]
        verdicts = [await gate.check(call) for call in calls]

    assert verdicts[0].line == f"remembered always {effect}"
    assert [verdict.approved for verdict in verdicts] == [effect == "allow", *others]


def test_always_on_an_open_request_stores_a_rule_about_its_call() -> None:
    request = request_of_0_1_0(PAY, RUN)
    (always,) = [choice for choice in request.card().choices if choice.key == "always"]

    answer = request.answer(always, by="slack:U0ALICE", at=datetime.now(UTC))

    assert isinstance(answer, PermissionResponseEvent)
    assert answer.rule is not None
    assert answer.rule.arguments_digest == OLD
    assert answer.rule.matches(PAY)
    assert OLD[:12] in always.stores
