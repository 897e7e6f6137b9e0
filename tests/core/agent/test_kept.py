"""What a waiting run keeps of its call: little, and enough to run what was shown."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import CoroutineType
from typing import Any, cast

import pytest
from support.outbox import next_request

from sayso import Gate, RunRef, ToolCall
from sayso.agent.copies import taken
from sayso.agent.kept import Whole, kept, restored
from sayso.agent.verdict import OpenCheck
from sayso.calls import Folder
from sayso.digests import arguments_digest
from sayso.errors import ArgumentsChangedError
from sayso.policy.decision import Decision, PolicyContext
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import until

RUN = RunRef("deploy-bot", "s-1")
FLAT = {"b": "ls", "a": 1, "c": 1.0, "d": True, "e": None, "f": -0.0, "": 2**70}


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


def opened(call: ToolCall) -> OpenCheck:
    return OpenCheck(call, "q", arguments_digest(call.arguments))


@pytest.mark.parametrize("arguments", [{}, FLAT, {"text": "x" * 10_000}])
def test_a_flat_call_is_rebuilt_exactly_in_its_folder(arguments: dict[str, Any]) -> None:
    handed = ToolCall("bash", arguments, "call-1")
    call = ToolCall("bash", dict(arguments), "call-1", Folder("/srv", "/srv/app", seen=True))

    there = kept(opened(call), call)
    again = restored(there, handed, "q")

    assert not isinstance(there, Whole)
    assert again == Whole(opened(call), call)
    assert repr(again.call) == repr(call)
    assert again.opened.call is again.call


def test_what_is_kept_of_a_flat_call_cannot_be_changed_by_anybody() -> None:
    handed = ToolCall("bash", dict(FLAT), "call-1")
    call = taken(handed)

    there = kept(opened(call), call)
    for held in (handed, call):
        held.arguments["b"] = "rm -rf /"  # type: ignore[index]  # what the test is about

    assert restored(there, handed, "q").call.arguments == FLAT


@pytest.mark.parametrize("value", [["a"], {"a": 1}, ("a",), {"a"}, bytearray(b"a"), object()])
def test_a_call_with_anything_else_is_kept_as_it_is(value: Any) -> None:
    call = ToolCall("edit", {"mode": "w", "files": value})
    check = OpenCheck(call, "q", "digest")

    assert kept(check, call) == Whole(check, call)
    assert restored(kept(check, call), call, "q").call is call


def test_a_call_that_a_policy_put_another_in_the_place_of_is_kept_as_it_is() -> None:
    call, shown = ToolCall("bash", {"command": "ls"}), ToolCall("bash", {"command": "ls -l"})

    again = restored(kept(opened(shown), call), call, "q")

    assert again.opened.call is shown
    assert again.call is call


class Hoarder:
    """A policy that keeps what it was asked about."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        del context
        self.kept.append(call.arguments)
        return Decision.ASK


async def test_what_a_policy_makes_of_a_flat_call_meanwhile_is_nothing_to_what_runs(
    backend: Backend,
) -> None:
    policy = Hoarder()
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        waiting = asyncio.create_task(gate.check(ToolCall("bash", {"command": "ls"})))
        request = await next_request(backend)
        await all_wait(waiting)
        for arguments in policy.kept:
            arguments["command"] = "rm -rf /"
        await answer(backend, request)
        verdict = await waiting

    assert verdict.approved
    assert verdict.arguments == request.arguments == {"command": "ls"}


async def test_what_a_caller_makes_of_a_flat_call_meanwhile_is_another_call(
    backend: Backend,
) -> None:
    arguments: dict[str, Any] = {"count": 1}
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(ToolCall("bash", arguments)))
        request = await next_request(backend)
        await all_wait(waiting)
        arguments["count"] = 1.0  # which has the same digest
        await answer(backend, request)

        with pytest.raises(ArgumentsChangedError):
            await waiting


async def test_of_many_that_wait_no_call_is_kept_twice(backend: Backend) -> None:
    before = calls_there()
    async with Gate.open(backend, run=RUN) as gate:
        handed = [ToolCall("bash", {"number": number}) for number in range(20)]
        checks = [asyncio.create_task(gate.check(call)) for call in handed]
        await all_wait(*checks)
        more = calls_there() - before
        for check in checks:
            check.cancel()
        await asyncio.wait(checks)

    assert more == len(handed)


def calls_there() -> int:
    gc.collect()
    return sum(type(one) is ToolCall for one in gc.get_objects())


async def all_wait(*checks: asyncio.Task[Any]) -> None:
    """Return when the questions of all of them are open, and they do nothing but wait."""
    awaits = [cast("CoroutineType[Any, Any, Any]", check.get_coro()) for check in checks]

    async def do_nothing() -> bool:
        return not any(one.cr_await is None or asyncio.iscoroutine(one.cr_await) for one in awaits)

    await until(do_nothing)


async def answer(backend: Backend, request: Any) -> None:
    response = request.approve(by="slack:U0ALICE", at=datetime.now(UTC))
    await backend.store.settle(request.permission_id, response)
