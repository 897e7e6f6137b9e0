"""Observers hear what is asked and decided, each once, in any process and without any bots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, Orchestrator, Outcome, RunRef, ToolCall
from sayso.chats.places import Place
from sayso.events import Event, PermissionRequestEvent
from sayso.questions.permission_answer import PermissionApprovedEvent
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.memory import memory_backend
from sayso.testing import soon
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})
OPS = Place("slack", "C0OPS")


@dataclass
class Two:
    """Two processes on one store: the same one where it is in memory."""

    here: Backend
    there: Backend


@pytest.fixture
async def two(store: str) -> AsyncIterator[Two]:
    async with AsyncExitStack() as stack:
        if store == "memory://":
            backend = await stack.enter_async_context(memory_backend())
            yield Two(backend, backend)
        else:
            backends = [await stack.enter_async_context(open_store(store)) for _ in range(2)]
            yield Two(*backends)


class Last(Event):
    """Told after everything else."""

    type: Literal["LAST"] = "LAST"


async def until_now(events: AsyncIterator[Event], gate: Gate) -> list[str]:
    """The kinds of event that were told before now."""
    await gate.emit(Last(source_name="test"))
    kinds: list[str] = []
    while (kind := type(await soon(events)).__name__) != "Last":
        kinds.append(kind)
    return kinds


async def ended(backend: Backend, question_id: str, *, approved: bool = True) -> None:
    record = await backend.store.get(question_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    says = record.request.approve if approved else record.request.deny
    await backend.store.settle(question_id, says(by="app:eve", at=datetime.now(UTC)))


async def asked(gate: Gate) -> str:
    question_id = await gate.submit(CALL)
    assert isinstance(question_id, str)
    return question_id


async def test_observers_of_another_process_hear_of_a_question_where_no_bots_run(two: Two) -> None:
    async with (
        Gate.open(two.here, run=RUN) as gate,
        Gate.open(two.there, run=RunRef("deploy-bot", "s-1")) as elsewhere,
        elsewhere.events() as events,
    ):
        question_id = await asked(gate)
        request = await soon(events)
        await ended(two.here, question_id)
        outcome = await soon(events)

        assert isinstance(request, PermissionRequestEvent)
        assert request.permission_id == question_id
        assert isinstance(outcome, PermissionApprovedEvent)
        assert (outcome.permission_id, outcome.decided_by) == (question_id, "app:eve")
        assert await until_now(events, gate) == []


async def test_an_orchestrator_hears_what_other_processes_ask_and_decide_without_any_bots(
    two: Two,
) -> None:
    async with Gate.open(two.here, run=RUN) as gate, Orchestrator.open(two.there) as orchestrator:
        orchestrator.add(RunRef("deploy-bot", "s-1"))
        events = orchestrator.events()
        await orchestrator.listening()

        question_id = await asked(gate)
        await ended(two.here, question_id, approved=False)

        told = [type((await soon(events))[1]).__name__ for _ in range(2)]
        assert told == ["PermissionRequestEvent", "PermissionDeniedEvent"]


async def test_observers_hear_each_event_once_although_bots_run_and_much_is_repeated(
    two: Two,
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(two.there, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))
    async with Gate.open(two.here, run=RUN) as gate, gate.events() as events, working(desk):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "allow"))
        verdict = await waiting
        await desk.press(press_on(ref, card, "deny"))
        await chat.ended_card()
        assert verdict.permission_id is not None
        record = await two.here.store.get(verdict.permission_id)
        assert record is not None
        assert record.ending is not None
        await two.here.store.settle(verdict.permission_id, record.ending)

        assert await until_now(events, gate) == [
            "PermissionRequestEvent",
            "PermissionApprovedEvent",
        ]


async def test_observers_hear_how_the_store_ended_it_and_not_what_somebody_offered(
    two: Two,
) -> None:
    async with Gate.open(two.here, run=RUN) as gate, gate.events() as events:
        question_id = await asked(gate)
        record = await two.here.store.get(question_id)
        assert record is not None
        refusal = record.request.cancelled(at=datetime.now(UTC), reason="no longer needed")
        await two.here.store.settle_later(question_id, refusal, seconds=60)
        await ended(two.here, question_id)

        assert await until_now(events, gate) == ["PermissionRequestEvent", "RequestCancelledEvent"]


async def test_observers_hear_that_nobody_answered_in_time_where_no_bots_run(two: Two) -> None:
    async with (
        Gate.open(two.here, run=RUN, timeout=0.3) as gate,
        Gate.open(two.there, run=RunRef("deploy-bot", "s-1")) as elsewhere,
        elsewhere.events() as events,
    ):
        verdict = await gate.check(CALL)

        assert verdict.outcome is Outcome.EXPIRED
        assert await until_now(events, gate) == ["PermissionRequestEvent", "RequestExpiredEvent"]


async def test_observers_of_another_branch_hear_nothing_of_it(two: Two) -> None:
    async with (
        Gate.open(two.here, run=RUN) as gate,
        Gate.open(two.there, run=RunRef("deploy-bot", "s-1", "other")) as elsewhere,
        elsewhere.events() as events,
    ):
        await ended(two.here, await asked(gate))

        assert await until_now(events, elsewhere) == []
