"""A call id that is denied is denied as soon as `deny_call` returns, in whichever thread."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.people import People

import sayso
from sayso import (
    ConfigError,
    Decision,
    Gate,
    Outcome,
    PolicyContext,
    RunRef,
    ToolCall,
)
from sayso.agent.connected.connect import ConnectedGate
from sayso.errors import GateClosedError
from sayso.events import Event
from sayso.questions.permission_answer import PermissionApprovedEvent

CALL = ToolCall("bash", {"command": "ls"}, "call-1")
RUN = RunRef("deploy-bot", "s-1")


async def allow(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW


class Stopped:
    """A policy that stops its thread in the middle of a decision, until it is released."""

    def __init__(self) -> None:
        self.is_deciding = threading.Event()
        self.released = threading.Event()

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        self.is_deciding.set()
        self.released.wait(30)
        return Decision.ALLOW


@pytest.fixture
def policy() -> Iterator[Stopped]:
    policy = Stopped()
    yield policy
    policy.released.set()


def test_a_check_under_way_is_denied_once_deny_call_has_returned(policy: Stopped) -> None:
    with (
        sayso.connect("memory://", session="s-1", policy=policy) as handle,
        ThreadPoolExecutor(1) as threads,
    ):
        checking = threads.submit(handle.sync.check, CALL)
        policy.is_deciding.wait(30)
        handle.sync.deny_call("call-1", reason="stop")
        policy.released.set()

        assert (checking.result(30).outcome, checking.result().reason) == (Outcome.DENIED, "stop")
        assert handle.sync.check(CALL).outcome is Outcome.DENIED


DENYING: dict[str, Callable[[ConnectedGate], None]] = {
    "the handle": lambda handle: handle.deny_call("call-1"),
    "its sync": lambda handle: handle.sync.deny_call("call-1"),
    "that of a sub-agent": lambda handle: handle.child("deploy", "researcher").deny_call("call-1"),
}


@pytest.mark.parametrize("way", DENYING)
def test_a_policy_denies_in_the_handles_own_thread_what_it_allows_then(way: str) -> None:
    async def deny(call: ToolCall, context: PolicyContext) -> Decision:
        DENYING[way](handle)
        return Decision.ALLOW

    with sayso.connect("memory://", session="s-1", policy=deny) as handle:
        assert handle.sync.check(CALL).line == "denied call id"


CHECKS: dict[str, Callable[[ConnectedGate], Any]] = {
    "a call": lambda handle: handle.sync.check(CALL),
    "a batch": lambda handle: handle.sync.check_batch([CALL, ToolCall("pwd")])[0],
}


@pytest.mark.parametrize("way", CHECKS)
def test_a_call_is_denied_that_an_observer_of_its_approval_denies(way: str, store_url: str) -> None:
    def deny(event: Event) -> None:
        if isinstance(event, PermissionApprovedEvent):
            handle.deny_call("call-1", reason="stop")

    with (
        People(store_url),
        sayso.connect(store_url, session="s-1", timeout=20, observe=deny) as handle,
    ):
        said = CHECKS[way](handle)
        assert (said.outcome, said.reason) == (Outcome.DENIED, "stop")


async def test_a_call_is_denied_that_is_denied_when_its_approval_has_left_the_thread() -> None:
    with sayso.connect("memory://", session="s-1", policy=allow) as handle:
        check = asyncio.create_task(handle.check(CALL))
        batch = asyncio.create_task(handle.check_batch([ToolCall("pwd"), CALL]))
        await asyncio.sleep(0)  # both have begun
        assert handle.sync.check_batch([ToolCall("id")] * 5)[0].approved  # this loop stands still
        handle.deny_call("call-1", reason="stop")

        other, last = await batch
        assert ((await check).reason, last.reason) == ("stop", "stop")
        assert other.approved


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_denial_outlives_a_fork() -> None:
    with sayso.connect("memory://", session="s-1", policy=allow) as handle:
        handle.deny_call("call-1")
        assert handle.sync.check(ToolCall("pwd")).approved
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if handle.sync.check(CALL).outcome is Outcome.DENIED else 2)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


WRONG: dict[str, tuple[Any, Any]] = {
    "ids in a list": (["call-1"], ""),
    "no id": (None, ""),
    "no reason": ("call-1", None),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_what_is_no_call_id_is_refused_where_it_is_denied(wrong: str) -> None:
    call_id, reason = WRONG[wrong]
    with (
        sayso.connect("memory://", session="s-1") as handle,
        pytest.raises(ConfigError, match="pass both as text"),
    ):
        handle.deny_call(call_id, reason=reason)
    async with Gate.open("memory://", run=RUN) as gate:
        with pytest.raises(ConfigError, match="pass both as text"):
            gate.deny_call(call_id, reason=reason)


def test_a_handle_that_is_closed_says_so_where_a_call_is_denied() -> None:
    handle = sayso.connect("memory://", session="s-1")
    handle.close()

    with pytest.raises(GateClosedError):
        handle.deny_call("call-1")


async def test_a_denial_outlives_the_gate_of_the_session_that_nobody_holds() -> None:
    async with Gate.open("memory://", run=RUN, policy=allow) as gate:
        gate.for_session("s-2").deny_call("call-1", reason="stop")
        gc.collect()

        assert (await gate.for_session("s-2").check(CALL)).reason == "stop"
        assert (await gate.check(CALL)).approved


async def test_a_call_is_denied_that_is_denied_while_what_allowed_it_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Denying(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            gate.deny_call("call-1", reason="stop")

    log = logging.getLogger("sayso.agent.unasked")
    denying = Denying()
    log.addHandler(denying)
    try:
        async with Gate.open("memory://", run=RUN, policy=allow) as gate:
            with caplog.at_level(logging.INFO, log.name):
                assert (await gate.check(CALL)).reason == "stop"
    finally:
        log.removeHandler(denying)
