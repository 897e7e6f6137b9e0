"""A middleware of one's own: it says what is called and by whom, and nothing else."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.outbox import next_request

from sayso import Decision, Gate, Outcome, PolicyContext, RunRef, ToolCall
from sayso.digests import arguments_digest
from sayso.events import ClarificationRequestEvent, PermissionRequestEvent, PermissionResponseEvent
from sayso.stores.backend import Backend

RUN = RunRef("deploy-bot", "s-1", "experiment", "run-1")


def a_call(**more: Any) -> PermissionRequestEvent:
    return PermissionRequestEvent(
        permission_id="an-id-of-mine",
        source_name="my-middleware",
        function_name="bash",
        call_id="call-1",
        arguments={"command": "ls", "limits": (1, 2)},
        **more,
    )


async def test_a_middleware_fills_in_id_source_name_call_id_and_arguments_and_nothing_else(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN, timeout=20, requested_by="chat:alice") as gate:
        before = datetime.now(UTC)
        await gate.child("research").emit(a_call())
        request = await next_request(backend)
        waiting = asyncio.create_task(
            gate.wait_for_response(PermissionResponseEvent, "an-id-of-mine", 20)
        )
        await backend.store.settle(request.permission_id, request.approve(by="app:eve"))
        response = await waiting

    assert request.run == RUN
    assert request.path == ("research",)
    assert request.requested_by == "chat:alice"
    assert request.arguments == {"command": "ls", "limits": [1, 2]}
    assert request.arguments_digest == arguments_digest({"command": "ls", "limits": [1, 2]})
    assert timedelta(seconds=15) < request.expires_at - before < timedelta(seconds=25)
    assert "always" in [choice.key for choice in request.card().choices]
    assert response.approved
    assert response.arguments_digest == request.arguments_digest


async def test_what_a_middleware_says_itself_stays_as_it_is(backend: Backend) -> None:
    until = datetime.now(UTC) + timedelta(seconds=5)
    async with Gate.open(backend, run=RUN, timeout=20, requested_by="chat:alice") as gate:
        await gate.child("research").emit(
            a_call(
                expires_at=until,
                path=("mine",),
                requested_by="chat:bob",
                suggested_rules=(),
            )
        )
        request = await next_request(backend)

    assert abs(request.expires_at - until) < timedelta(seconds=1)
    assert request.path == ("mine",)
    assert request.requested_by == "chat:bob"
    assert request.suggested_rules == ()


async def test_a_digest_that_is_given_must_be_that_of_the_arguments() -> None:
    with pytest.raises(ValueError, match="digest"):
        a_call(arguments_digest="abc")


async def test_a_policys_own_question_needs_no_run_and_no_expiry(backend: Backend) -> None:
    async def asks(call: ToolCall, context: PolicyContext) -> Decision:
        assert context.ask is not None
        ending = await context.ask(
            ClarificationRequestEvent(request_id="mine", source_name="policy", question="sure?")
        )
        return Decision.DENY.because(ending.outcome.value)

    async with Gate.open(backend, run=RUN, policy=asks, timeout=0.3) as gate:
        verdict = await gate.check(ToolCall("bash"))

    assert verdict.reason == Outcome.EXPIRED.value
    record = await backend.store.get("mine")
    assert record is not None
    assert record.request.run == RUN


async def test_no_store_takes_a_request_of_no_session(backend: Backend) -> None:
    with pytest.raises(ValueError, match=r"Gate\.emit"):
        await backend.store.open(a_call(), seconds=20, inbox="", book=None)


def test_approve_and_deny_need_no_clock() -> None:
    before = datetime.now(UTC)

    for response in (a_call().approve(by="app:eve"), a_call().deny(by="app:eve", reason="no")):
        assert before <= response.decided_at <= datetime.now(UTC)
