"""Whatever holds the handle's thread up: each caller's time is its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trio

import sayso
from sayso import Decision, Outcome, PolicyContext, ToolCall, WaitTimeoutError
from sayso.agent.connected.connect import ConnectedGate
from sayso.errors import GateClosedError

CALL = ToolCall("bash", {"command": "ls"})


class Blocking:
    """A policy that blocks the thread it decides in, until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.calls: list[str] = []

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        self.calls.append(call.name)
        self.released.wait(30)
        return Decision.ALLOW


@pytest.fixture
def policy() -> Iterator[Blocking]:
    policy = Blocking()
    yield policy
    policy.released.set()


@pytest.fixture
def handle(policy: Blocking) -> Iterator[ConnectedGate]:
    with sayso.connect("memory://", policy=policy) as handle:
        yield handle
        policy.released.set()


WAYS: dict[str, Callable[[ConnectedGate], Any]] = {
    "a thread": lambda handle: handle.sync.check(CALL, timeout=0.1),
    "asyncio": lambda handle: asyncio.run(handle.check(CALL, timeout=0.1)),
    "trio": lambda handle: trio.run(lambda: handle.check(CALL, timeout=0.1)),
    "a batch": lambda handle: handle.sync.check_batch([CALL], timeout=0.1)[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_call_expires_in_time_although_the_thread_is_held_up(
    way: str, handle: ConnectedGate
) -> None:
    began = time.monotonic()

    assert WAYS[way](handle).outcome is Outcome.EXPIRED
    assert time.monotonic() - began < 5


def test_what_is_not_a_call_says_that_its_time_is_over(handle: ConnectedGate) -> None:
    assert handle.sync.check(CALL, timeout=0.1).outcome is Outcome.EXPIRED

    with pytest.raises(WaitTimeoutError, match="thread is held up"):
        handle.sync.clarify("Which?", timeout=0.1)
    with pytest.raises(WaitTimeoutError, match="thread is held up"):
        handle.sync.resume("q-1", timeout=0.1)


def test_a_call_that_nobody_waits_for_any_more_is_not_decided(
    handle: ConnectedGate, policy: Blocking
) -> None:
    handle.sync.check(CALL, timeout=0.1)
    handle.sync.check(ToolCall("late"), timeout=0.1)
    policy.released.set()

    assert handle.sync.check(ToolCall("after")).approved
    assert policy.calls == ["bash", "after"]


class Turning:
    """A policy that asks the handle it belongs to."""

    def __init__(self) -> None:
        self.handle: ConnectedGate | None = None
        self.said: list[str] = []

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        assert self.handle is not None
        if call.name == "inner":
            return Decision.DENY
        inner = await self.handle.check(ToolCall("inner"))
        self.said.append(inner.outcome.value)
        try:
            self.handle.sync.check(ToolCall("inner"))
        except GateClosedError as error:
            self.said.append(str(error))
        return Decision.ALLOW


def test_in_its_own_thread_a_handle_can_be_awaited_and_blocking_is_an_error() -> None:
    policy = Turning()
    with sayso.connect("memory://", policy=policy) as policy.handle:
        assert policy.handle.sync.check(CALL, timeout=5).approved

    awaited, blocked = policy.said
    assert awaited == "denied"
    assert "the gate's own thread" in blocked
