"""Batches, memories and continuations of one session in two processes, over a real Redis."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import CheckResult, Gate, Orchestrator, Outcome, RulePolicy, RunRef, ToolCall
from sayso.chats.places import Place
from sayso.events import ContinuationRequestEvent, PermissionRequestEvent
from sayso.questions.permission_answer import PermissionDeniedEvent
from sayso.rules.rule import literal_rule
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule, soon, until
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1")
ONE, TWO, THREE = (ToolCall("bash", {"command": c}, c) for c in ("one", "two", "three"))
OPS = Place("slack", "C0OPS")


@pytest.fixture
async def here(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as backend:
        yield backend


@pytest.fixture
async def there(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as backend:
        yield backend


async def answer(backend: Backend, permission_id: object, *, approved: bool) -> None:
    assert isinstance(permission_id, str)
    record = await backend.store.get(permission_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    response = a_response(record.request, approved=approved)
    await backend.store.settle(permission_id, response)


async def test_a_batch_suspended_in_one_process_is_resumed_in_part_in_another(
    here: Backend, there: Backend
) -> None:
    async with Gate.open(here, run=RUN, timeout=60) as gate:
        submitted = await gate.submit_batch([ONE, TWO, THREE])
    await answer(here, submitted[0].permission_id, approved=True)
    await answer(here, submitted[1].permission_id, approved=False)

    async with Gate.open(there, run=replace(RUN, run_id="later")) as gate:
        so_far = await gate.resume_batch(submitted, wait=False)
        waiting = asyncio.create_task(gate.resume_batch(submitted))
        await answer(here, submitted[2].permission_id, approved=True)
        whole = await waiting
        reused = await gate.before_function(THREE)

    assert [type(one).__name__ for one in so_far] == ["CheckResult", "CheckResult", "PendingResult"]
    assert [one.approved for one in whole] == [True, False, True]
    assert isinstance(whole[0], CheckResult)
    assert whole[0].arguments == {"command": "one"}
    assert reused == whole[2]


async def test_an_always_deny_of_another_process_is_seen_before_a_rule_allows(
    here: Backend, there: Backend
) -> None:
    async with Gate.open(there, run=RUN, policy=RulePolicy(default="allow")) as gate:
        before = await gate.check(ONE)
        request = a_request(run=RUN)
        await here.store.open(request, seconds=30, inbox="", book=None)
        await here.store.settle(
            request.permission_id,
            a_response(request, approved=False),
            remember=replace(a_rule(effect="deny"), rule=literal_rule(ONE)),
        )
        after = await gate.check(ONE)
        other = await gate.check(TWO)

    assert before.approved
    assert after.line == "remembered always deny"
    assert other.approved


async def test_a_revoked_always_asks_again_at_once_in_a_running_session(
    here: Backend, there: Backend
) -> None:
    rule = replace(a_rule(), rule=literal_rule(ONE))
    request = a_request(run=RUN)
    await here.store.open(request, seconds=30, inbox="", book=None)
    await here.store.settle(request.permission_id, a_response(request), remember=rule)

    async with Gate.open(there, run=RUN) as gate:
        remembered = await gate.check(ONE)
        used = {kept.remembered.rule_id: kept.remembered.uses for kept in await here.rules.all()}
        await here.rules.revoke(rule.rule_id, by="cli:eve")
        asked = await gate.submit(ONE)

    assert remembered.line == "remembered always allow"
    assert used == {rule.rule_id: 1}
    assert isinstance(asked, str)


async def test_a_continuation_is_answered_in_the_process_of_the_bots(
    here: Backend, there: Backend
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(there, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))
    async with Gate.open(here, run=RUN, timeout=30) as gate, working(desk):
        waiting = asyncio.create_task(gate.may_continue(10, 10, amounts=(3, 30)))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "continue-30"))
        more = await waiting

    assert (more.approved, more.extra, more.decided_by) == (True, 30, "slack:U0ALICE")


async def test_a_stream_tells_each_event_once_when_the_bots_are_elsewhere(
    here: Backend, there: Backend
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(there, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))
    async with Orchestrator.open(here) as orchestrator, working(desk):
        gate = orchestrator.add(RUN, timeout=30)
        events = orchestrator.events()
        waiting = asyncio.create_task(gate.check(ONE))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "deny"))
        verdict = await waiting
        await chat.ended_card()
        # Whatever the bots tell once more is told before this.
        async with Gate.open(there, run=RUN) as elsewhere:
            await elsewhere.emit(a_request("last", run=RUN))
        heard = [(await soon(events))[1] for _ in range(3)]

    assert verdict.outcome is Outcome.DENIED
    asked, denied, last = heard
    assert isinstance(asked, PermissionRequestEvent)
    assert isinstance(denied, PermissionDeniedEvent)
    assert isinstance(last, PermissionRequestEvent)
    assert (denied.permission_id, last.permission_id) == (asked.permission_id, "last")


async def test_a_stream_tells_what_the_same_agent_asks_in_another_process(
    here: Backend, there: Backend
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(there, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))
    async with Orchestrator.open(here) as orchestrator:
        orchestrator.add(RUN)
        events = orchestrator.events()
        listening = orchestrator.listening()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await listening
        async with Gate.open(there, run=replace(RUN, run_id="x")) as gate, working(desk):
            waiting = asyncio.create_task(gate.may_continue(1, 1, timeout=20))
            agent_id, event = await soon(events)
            assert isinstance(event, ContinuationRequestEvent)
            await orchestrator.choose(event.continuation_id, "stop", by="app:eve")
            more = await waiting

        async def settled() -> bool:
            return not await here.store.list_requests()

        await until(settled)

    assert agent_id == "deploy-bot"
    assert not more.approved
