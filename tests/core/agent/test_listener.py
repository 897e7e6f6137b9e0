"""Hearing other processes: within a bound or with an error, and no agent for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from sayso import Gate, Orchestrator, RequestNotFoundError, RunRef, ToolCall
from sayso.errors import SaysoError, StoreUnreachableError, SubscriptionLostError
from sayso.events import Event, PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Bus, Ring
from sayso.testing import soon
from sayso.testing.builders import PATIENCE_SECONDS

ONE, TWO = RunRef("one", "s-1"), RunRef("two", "s-2")
CALL = ToolCall("bash", {"command": "ls"})


class Progress(Event):
    step: int


class Moody:
    """A bus that cannot be listened to while it has an error, and loses its listeners with one."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.tries = asyncio.Semaphore(0)
        self.error: Exception | None = None
        self.lose: asyncio.Queue[Exception | None] = asyncio.Queue()

    async def publish(self, topic: str, event: Event) -> None:
        await self._bus.publish(topic, event)

    async def subscribers(self, topic: str) -> int:
        return await self._bus.subscribers(topic)

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Ring]]:
        return self._bus.rings(inbox)

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Event]]:
        self.tries.release()
        if self.error is not None:
            raise self.error
        heard: asyncio.Queue[Event] = asyncio.Queue()
        async with self._bus.subscribe(topic) as events:
            tasks = [asyncio.create_task(_pour(events, heard))]
            try:
                yield self._until_lost(heard, tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_lost(
        self, heard: asyncio.Queue[Event], tasks: list[asyncio.Task[None]]
    ) -> AsyncIterator[Event]:
        ends: asyncio.Queue[Event | Exception | None] = asyncio.Queue()
        tasks += [asyncio.create_task(_move(one, ends)) for one in (heard, self.lose)]
        while isinstance(event := await ends.get(), Event):
            yield event
        if event is not None:
            raise event


async def _pour(events: AsyncIterator[Event], into: asyncio.Queue[Event]) -> None:
    async for event in events:
        into.put_nowait(event)


async def _move(one: asyncio.Queue[Any], into: asyncio.Queue[Any]) -> None:
    while True:
        into.put_nowait(await one.get())


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield replace(backend, bus=Moody(backend.bus))


@pytest.fixture
def bus(backend: Backend) -> Moody:
    assert isinstance(backend.bus, Moody)
    return backend.bus


@pytest.fixture
async def orchestrator(backend: Backend) -> AsyncIterator[Orchestrator]:
    async with Orchestrator.open(backend) as orchestrator:
        yield orchestrator


async def test_listening_while_the_bus_is_away_ends_with_an_error_that_says_why(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    bus.error = SubscriptionLostError("Redis does not answer")
    orchestrator.add(ONE)
    orchestrator.add(TWO)

    with pytest.raises(
        SubscriptionLostError, match=r"for 'one', 'two': Redis does not answer; still trying"
    ):
        await orchestrator.listening(timeout=0.05)


async def test_listening_goes_on_by_itself_once_the_bus_is_back(
    orchestrator: Orchestrator, backend: Backend, bus: Moody
) -> None:
    bus.error = SubscriptionLostError("away")
    orchestrator.add(ONE)
    await bus.tries.acquire()
    bus.error = None

    await orchestrator.listening()

    events = orchestrator.events()
    async with Gate.open(backend, run=RunRef("one", "s-1")) as elsewhere:
        await elsewhere.emit(Progress(source_name="x", step=1))
    assert await soon(events) == ("one", Progress(source_name="x", step=1))


async def test_after_a_loss_nothing_is_heard_until_the_bus_is_back(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    orchestrator.add(ONE)
    events = orchestrator.events()
    await orchestrator.listening()
    bus.error = SubscriptionLostError("away")
    bus.lose.put_nowait(SubscriptionLostError("cut off"))

    with pytest.raises(SubscriptionLostError, match="cut off"):
        await soon(events)
    with pytest.raises(SubscriptionLostError, match="not heard"):
        await orchestrator.listening(timeout=0.02)


@pytest.mark.parametrize("ending", [StoreUnreachableError("no answer"), None])
async def test_each_end_of_a_subscription_is_told_as_a_loss(
    orchestrator: Orchestrator, bus: Moody, ending: SaysoError | None
) -> None:
    orchestrator.add(ONE)
    events = orchestrator.events()
    for _ in range(2):
        await orchestrator.listening()
        bus.lose.put_nowait(ending)
        with pytest.raises(SubscriptionLostError, match="'one'"):
            await soon(events)


async def test_an_outage_is_told_once_however_long_it_lasts(
    orchestrator: Orchestrator, backend: Backend, bus: Moody
) -> None:
    bus.error = SubscriptionLostError("away")
    gate = orchestrator.add(ONE)
    events = orchestrator.events()
    for _ in range(3):
        await bus.tries.acquire()
    await gate.submit(CALL)

    with pytest.raises(SubscriptionLostError, match="away"):
        await soon(events)
    _, event = await soon(events)
    assert isinstance(event, PermissionRequestEvent)


async def test_a_listener_that_breaks_ends_the_stream_with_an_error(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    orchestrator.add(ONE)
    events = orchestrator.events()
    await orchestrator.listening()
    bus.lose.put_nowait(KeyError("a bug, with a secret"))

    with pytest.raises(SubscriptionLostError, match=r"agent 'one' .* KeyError.*remove") as caught:
        await soon(events)
    with pytest.raises(StopAsyncIteration):
        await soon(events)
    with pytest.raises(SubscriptionLostError):
        await soon(orchestrator.events())
    with pytest.raises(SubscriptionLostError):
        await orchestrator.listening()

    assert isinstance(caught.value.__cause__, KeyError)
    assert "secret" not in str(caught.value)
    assert caught.value.agent_id == "one"


async def test_a_bus_that_breaks_before_it_is_heard_is_an_error_at_once(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    bus.error = KeyError("a bug")
    orchestrator.add(ONE)

    with pytest.raises(SubscriptionLostError):
        await orchestrator.listening()


async def test_a_removed_agent_is_heard_no_more_and_nobody_answers_for_it_here(
    orchestrator: Orchestrator, backend: Backend
) -> None:
    gone, stays = orchestrator.add(ONE), orchestrator.add(TWO)
    events = orchestrator.events()
    await orchestrator.listening()
    permission_id = str(await gone.submit(CALL))
    await soon(events)

    await orchestrator.remove("one")

    with pytest.raises(RequestNotFoundError):
        await orchestrator.resolve(permission_id, approved=True, by="app:eve")
    with pytest.raises(RequestNotFoundError):
        orchestrator.permissions_of("one")
    with pytest.raises(RequestNotFoundError):
        await orchestrator.remove("one")
    async with Gate.open(backend, run=ONE) as elsewhere:
        await elsewhere.emit(Progress(source_name="x", step=1))
    await gone.submit(CALL)
    await stays.submit(CALL)
    agent_id, _ = await soon(events)
    assert agent_id == "two"
    assert len(await backend.store.list_requests()) == 3


async def test_a_removed_agent_can_be_added_again_and_its_old_gate_is_not_heard(
    orchestrator: Orchestrator,
) -> None:
    old = orchestrator.add(ONE)
    await orchestrator.remove("one")
    new = orchestrator.add(ONE)
    events = orchestrator.events()

    await old.submit(ToolCall("old"))
    await new.submit(ToolCall("new"))

    _, event = await soon(events)
    assert isinstance(event, PermissionRequestEvent)
    assert event.function_name == "new"


async def test_removing_the_agent_whose_listener_broke_makes_new_streams_good_again(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    bus.error = KeyError("a bug")
    orchestrator.add(ONE)
    with pytest.raises(SubscriptionLostError):
        await orchestrator.listening()
    bus.error = None

    await orchestrator.remove("one")
    gate = orchestrator.add(ONE)

    await orchestrator.listening()
    events = orchestrator.events()
    await gate.submit(CALL)
    assert (await soon(events))[0] == "one"


async def test_who_waits_for_an_agent_that_is_removed_waits_no_longer(
    orchestrator: Orchestrator, bus: Moody
) -> None:
    bus.error = SubscriptionLostError("away")
    orchestrator.add(ONE)
    waiting = asyncio.create_task(orchestrator.listening(timeout=30))
    await bus.tries.acquire()

    await orchestrator.remove("one")

    async with asyncio.timeout(PATIENCE_SECONDS):
        await waiting
