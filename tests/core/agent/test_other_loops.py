"""A gate that is used in another event loop than its own says so at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from sayso import Clarify, Gate, Orchestrator, RulePolicy, RunRef, ToolCall
from sayso.agent.responding import Responder
from sayso.clock import utc_now
from sayso.errors import GateClosedError
from sayso.events import PermissionResponseEvent, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})
SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}}


def elsewhere(work: Callable[[], Awaitable[Any]]) -> Any:
    """What the work comes to in an event loop of its own, in this thread."""

    async def limited() -> Any:
        async with asyncio.timeout(5):
            return await work()

    return asyncio.run(limited())


async def _events(gate: Gate) -> None:
    async with gate.events() as events:
        await anext(events)


async def _guarded(gate: Gate) -> Any:
    return await gate.guard(lambda: "ran")()


class _Nobody:
    """An authority that is never asked."""

    async def standing(self, actor: str, request: UserInputRequest) -> Any:
        raise AssertionError(f"{actor} was looked up for {request.question_id}")


def _responder(gate: Gate) -> Responder:
    return Responder(gate.backend, _Nobody())


def _request() -> Any:
    return a_request(run=RUN)


DOORS: dict[str, Callable[[Gate], Awaitable[Any]]] = {
    "check": lambda gate: gate.check(CALL),
    "before_function": lambda gate: gate.before_function(CALL),
    "check_batch": lambda gate: gate.check_batch([CALL]),
    "run_batch": lambda gate: gate.run_batch([CALL], {"bash": str}),
    "submit": lambda gate: gate.submit(CALL),
    "submit_batch": lambda gate: gate.submit_batch([CALL]),
    "resume": lambda gate: gate.resume("q-1"),
    "resume_batch": lambda gate: gate.resume_batch(["q-1"]),
    "ask": lambda gate: gate.ask(Clarify("Which?")),
    "clarify": lambda gate: gate.clarify("Which?"),
    "approve_text": lambda gate: gate.approve_text("Dear all"),
    "collect": lambda gate: gate.collect(SCHEMA, text="How large?"),
    "may_continue": lambda gate: gate.may_continue(10, 10),
    "before_batch": lambda gate: gate.before_batch([CALL]),
    "resume by key": lambda gate: gate.resume(key="key-1"),
    "respond": lambda gate: _responder(gate).respond(_request().deny(by="slack:U0ALICE")),
    "choose": lambda gate: _responder(gate).choose("q-1", "deny", by="slack:U0ALICE"),
    "cancel": lambda gate: gate.cancel("q-1"),
    "emit": lambda gate: gate.emit(_request()),
    "wait_for_response": lambda gate: gate.wait_for_response(PermissionResponseEvent, "q-1"),
    "events": _events,
    "guard": _guarded,
    "another gate on its backend": lambda gate: Gate.open(gate.backend, run=RUN).__aenter__(),
}

PORTS: dict[str, Callable[[Backend], Awaitable[Any]]] = {
    "store.get": lambda backend: backend.store.get("q-1"),
    "store.open": lambda backend: backend.store.open(_request(), seconds=9, inbox="", book=None),
    "store.settle": lambda backend: backend.store.settle(
        "q-1", _request().deny(by="slack:U0ALICE", at=utc_now())
    ),
    "watch.pending": lambda backend: backend.store.list_requests(),
    "bus.publish": lambda backend: backend.bus.publish("topic", _request()),
    "bus.subscribe": lambda backend: backend.bus.subscribe("topic").__aenter__(),
    "bus.rings": lambda backend: backend.bus.rings("inbox").__aenter__(),
    "outbox.jobs": lambda backend: backend.outbox.jobs("desk").__aenter__(),
    "inbox": lambda backend: backend.inbox.listening(),
}


@pytest.fixture
def home() -> Any:
    """An event loop that stands still, as one does that has nothing to do."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.mark.parametrize("door", DOORS)
def test_a_gate_of_another_loop_raises_at_once_on_every_door(
    door: str, store: str, home: asyncio.AbstractEventLoop
) -> None:
    opened = Gate.open(store, run=RUN)
    gate = home.run_until_complete(opened.__aenter__())

    with pytest.raises(GateClosedError, match=r"sayso\.connect"):
        elsewhere(lambda: DOORS[door](gate))
    with pytest.raises(GateClosedError, match=r"sayso\.connect"):
        trio.run(DOORS[door], gate)

    home.run_until_complete(opened.__aexit__(None, None, None))


@pytest.mark.parametrize("port", PORTS)
def test_a_backend_of_another_loop_raises_at_once(
    port: str, store: str, home: asyncio.AbstractEventLoop
) -> None:
    opened = open_store(store)
    backend = home.run_until_complete(opened.__aenter__())
    home.run_until_complete(backend.store.get("q-1"))
    home.run_until_complete(_used(backend))

    with pytest.raises(GateClosedError):
        elsewhere(lambda: PORTS[port](backend))

    home.run_until_complete(opened.__aexit__(None, None, None))


async def _used(backend: Backend) -> None:
    async with backend.bus.subscribe("topic"), backend.outbox.jobs("desk"):
        pass


def test_also_where_the_policy_needs_no_store(home: asyncio.AbstractEventLoop) -> None:
    opened = Gate.open("memory://", run=RUN, policy=RulePolicy(denied_call_ids=["c-1"]))
    gate = home.run_until_complete(opened.__aenter__())

    with pytest.raises(GateClosedError):
        elsewhere(lambda: gate.check(ToolCall("bash", {}, "c-1")))


def test_an_orchestrator_of_another_loop_raises_at_once(home: asyncio.AbstractEventLoop) -> None:
    opened = Orchestrator.open("memory://")
    orchestrator = home.run_until_complete(opened.__aenter__())

    async def add() -> None:
        orchestrator.add(RUN)

    events = orchestrator.events()
    ways: list[Callable[[], Awaitable[Any]]] = [
        add,
        orchestrator.listening,
        lambda: orchestrator.resolve("q-1", approved=True, by="app:me"),
        lambda: orchestrator.choose("q-1", "deny", by="app:me"),
        lambda: orchestrator.remove("deploy-bot"),
        lambda: anext(aiter(events)),
        lambda: Orchestrator.open(orchestrator.backend).__aenter__(),
    ]
    for way in ways:
        with pytest.raises(GateClosedError):
            elsewhere(way)

    home.run_until_complete(opened.__aexit__(None, None, None))


def test_a_gate_can_be_called_from_elsewhere_in_its_own_loop() -> None:
    async def main() -> Any:
        async with Gate.open("memory://", run=RUN, policy=RulePolicy(default="allow")) as gate:
            loop = asyncio.get_running_loop()

            def in_a_thread() -> Any:
                return asyncio.run_coroutine_threadsafe(gate.check(CALL), loop).result(5)

            return await asyncio.to_thread(in_a_thread)

    assert asyncio.run(main()).approved
