"""Where no workers run, a question ends once the gate's patience is over, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.chat_double import ChatDouble, press_on, working
from support.room import OPS

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.errors import StoreUnreachableError, WaitTimeoutError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.memory import memory_backend
from sayso.testing import a_request, a_response, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})
WHY = "no workers run on this store"
PATIENCE, LONGER = 0.3, 1.5


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with open_store(store_url) as backend:
        yield backend


@pytest.fixture
async def gate(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, timeout=600, patience=PATIENCE) as gate:
        yield gate


class FailsOnce:
    """A part of a store that does not answer one of its calls, the first time."""

    def __init__(self, inner: object, method: str) -> None:
        self._inner = inner
        self._method = method
        self.has_failed = False

    def __getattr__(self, name: str) -> object:
        if name == self._method and not self.has_failed:
            self.has_failed = True
            return self._fail
        return getattr(self._inner, name)

    async def _fail(self, *_: object) -> None:
        raise StoreUnreachableError("away")


def a_desk(backend: Backend, chat: ChatDouble) -> ApprovalWorker:
    return ApprovalWorker(backend, [chat], Routes([Route((OPS,), approvers=("slack:U0ALICE",))]))


async def checked(gate: Gate) -> tuple[Outcome, str]:
    verdict = await gate.check(CALL)
    return verdict.outcome, verdict.as_tool_result()


async def checked_under_a_key(gate: Gate) -> tuple[Outcome, str]:
    verdict = await gate.check(CALL, key="k")
    return verdict.outcome, verdict.as_tool_result()


async def submitted(gate: Gate) -> tuple[Outcome, str]:
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)
    verdict = await gate.resume(permission_id)
    return verdict.outcome, verdict.as_tool_result()


async def clarified(gate: Gate) -> tuple[Outcome, str]:
    said = await gate.clarify("Which environment?")
    return said.outcome, said.reason


@pytest.mark.parametrize("ask", [checked, checked_under_a_key, submitted, clarified])
async def test_a_question_that_nobody_can_see_ends_undeliverable(
    gate: Gate, backend: Backend, ask: Callable[[Gate], Awaitable[tuple[Outcome, str]]]
) -> None:
    outcome, text = await ask(gate)

    assert outcome is Outcome.UNDELIVERABLE
    assert f"nobody could be asked: {WHY}" in text
    assert await backend.store.list_requests() == []


async def test_a_worker_that_starts_meanwhile_still_posts_the_card(backend: Backend) -> None:
    chat = ChatDouble()
    async with Gate.open(backend, run=RUN, timeout=600, patience=30) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        await until(backend.store.list_requests)
        async with working(a_desk(backend, chat)) as desk:
            ref, card = await chat.card_where()
            await desk.press(press_on(ref, card, "allow"))

            assert (await waiting).approved


async def test_a_worker_that_died_just_before_does_not_keep_the_question_open(
    gate: Gate, backend: Backend
) -> None:
    await backend.outbox.heartbeat("dead", seconds=1.2 * PATIENCE)

    assert (await gate.check(CALL, timeout=5 * LONGER)).outcome is Outcome.UNDELIVERABLE


@pytest.mark.parametrize(("part", "method"), [("outbox", "count_workers"), ("bus", "subscribers")])
async def test_a_store_that_is_away_at_the_look_is_asked_again(
    backend: Backend, part: str, method: str
) -> None:
    flaky = FailsOnce(getattr(backend, part), method)
    seen: dict[str, Any] = {part: flaky}
    async with Gate.open(replace(backend, **seen), run=RUN, patience=PATIENCE) as gate:
        verdicts = await asyncio.gather(*(gate.check(CALL, timeout=5 * LONGER) for _ in range(3)))

    assert flaky.has_failed
    assert {verdict.outcome for verdict in verdicts} == {Outcome.UNDELIVERABLE}


async def test_what_is_shown_is_not_ended_because_the_workers_stop(
    gate: Gate, backend: Backend
) -> None:
    chat = ChatDouble()
    async with working(a_desk(backend, chat)):
        waiting = asyncio.create_task(gate.check(CALL, timeout=LONGER))
        await chat.card_where()

    assert (await waiting).outcome is Outcome.EXPIRED


async def test_who_follows_the_run_can_answer_without_any_worker(
    gate: Gate, backend: Backend
) -> None:
    async with gate.events():
        verdict = await gate.check(CALL, timeout=LONGER)
        waiting = asyncio.create_task(gate.check(CALL, timeout=LONGER))
        await until(backend.store.list_requests)
        (record,) = await backend.store.list_requests()
        assert isinstance(record.request, PermissionRequestEvent)
        await backend.store.settle(record.request.permission_id, a_response(record.request))

    assert verdict.outcome is Outcome.EXPIRED
    assert (await waiting).approved


async def test_what_a_middleware_emits_waits_for_whoever_answers_it(gate: Gate) -> None:
    request = a_request(run=RUN).model_copy(
        update={"expires_at": datetime.now(UTC) + timedelta(minutes=1)}
    )
    await gate.emit(request)

    with pytest.raises(WaitTimeoutError):
        await gate.wait_for_response(PermissionResponseEvent, request.permission_id, timeout=LONGER)


async def test_in_the_memory_of_one_process_no_question_ends_early() -> None:
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, patience=PATIENCE) as gate,
    ):
        verdict = await gate.check(CALL, timeout=LONGER)

    assert verdict.outcome is Outcome.EXPIRED
