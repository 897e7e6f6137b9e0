"""A new iteration of an agent: what belongs to the last one stays there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from sayso import CheckResult, Gate, RunRef, ToolCall
from sayso.events import Event, PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_response, soon

RUN = RunRef("bot", "s-1")
ONE = ToolCall("bash", {"command": "one"}, "one")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


class Heard:
    """The requests of a gate, one after the other."""

    def __init__(self) -> None:
        self._requests: asyncio.Queue[PermissionRequestEvent] = asyncio.Queue()

    def __call__(self, event: Event) -> None:
        if isinstance(event, PermissionRequestEvent):
            self._requests.put_nowait(event)

    def __aiter__(self) -> AsyncIterator[PermissionRequestEvent]:
        return self

    async def __anext__(self) -> PermissionRequestEvent:
        return await self._requests.get()


async def answer(backend: Backend, request: PermissionRequestEvent, *, approved: bool) -> None:
    response = a_response(request, approved=approved)
    await backend.store.settle(request.permission_id, response)


async def test_an_answer_to_the_last_iteration_is_not_that_of_the_next(backend: Backend) -> None:
    heard = Heard()
    async with Gate.open(backend, run=RUN, observe=heard) as gate:
        last = asyncio.create_task(gate.before_function(ONE))
        first = await soon(heard)
        gate.before_iteration()
        await answer(backend, first, approved=True)
        assert (await last).approved

        now = asyncio.create_task(gate.before_function(ONE))
        await answer(backend, await soon(heard), approved=False)
        verdict: CheckResult = await now

    assert not verdict.approved


async def test_a_new_iteration_asks_without_waiting_for_the_question_of_the_last(
    backend: Backend,
) -> None:
    heard = Heard()
    async with Gate.open(backend, run=RUN, observe=heard) as gate:
        last = asyncio.create_task(gate.before_function(ONE))
        first = await soon(heard)
        gate.before_iteration()
        now = asyncio.create_task(gate.before_function(ONE))
        second = await soon(heard)
        await answer(backend, second, approved=True)
        approved = await now
        await answer(backend, first, approved=False)
        late = await last
        reused = await gate.check(ONE)

    assert (approved.approved, late.approved) == (True, False)
    assert reused == approved
