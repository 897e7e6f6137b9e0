"""One handle a process: for any event loop, any thread, and callers without a loop."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio
from support.people import People, silent

from sayso import CheckResult, Outcome, ToolCall
from sayso.agent.connected.connect import ConnectedGate
from sayso.errors import GateClosedError


def call(number: int) -> ToolCall:
    return ToolCall("bash", {"command": f"run {number}"})


def three_loops_in_turn(handle: ConnectedGate) -> list[CheckResult]:
    return [asyncio.run(handle.check(call(number), timeout=15)) for number in range(3)]


def in_trio(handle: ConnectedGate) -> list[CheckResult]:
    said: list[CheckResult] = []

    async def one(number: int) -> None:
        said.append(await handle.check(call(number), timeout=15))

    async def both() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, 10)
            nursery.start_soon(one, 11)

    trio.run(both)
    return said


def without_a_loop(handle: ConnectedGate) -> list[CheckResult]:
    return [handle.sync.check(call(20), timeout=15)]


def test_one_handle_answers_four_threads_three_loops_trio_and_a_caller_without_a_loop_at_once(
    handle: ConnectedGate, store_url: str
) -> None:
    callers: list[Callable[[ConnectedGate], list[CheckResult]]] = [
        three_loops_in_turn,
        in_trio,
        without_a_loop,
        without_a_loop,
    ]
    with People(store_url), ThreadPoolExecutor(4) as threads:
        under_way = [threads.submit(caller, handle) for caller in callers]
        here = without_a_loop(handle)
        said = [verdict for each in under_way for verdict in each.result(20)] + here

    assert [verdict.outcome for verdict in said] == [Outcome.APPROVED] * 8


def test_in_each_of_them_a_question_expires_in_time(handle: ConnectedGate) -> None:
    ways: list[Callable[[], CheckResult]] = [
        lambda: handle.sync.check(call(1), timeout=0.2),
        lambda: asyncio.run(handle.check(call(1), timeout=0.2)),
        lambda: trio.run(lambda: handle.check(call(1), timeout=0.2)),
    ]
    for way in ways:
        began = time.monotonic()
        assert way().outcome is Outcome.EXPIRED
        assert time.monotonic() - began < 2


async def _left_in_asyncio(handle: ConnectedGate, people: People) -> None:
    asking = asyncio.create_task(handle.check(call(1)))
    await asyncio.to_thread(people.asked.get, timeout=20)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def _left_in_trio(handle: ConnectedGate, people: People) -> None:
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(handle.check, call(1))
            await trio.to_thread.run_sync(lambda: people.asked.get(timeout=20))
            scope.cancel()


def _left_by_a_loop_that_closes(handle: ConnectedGate, people: People) -> None:
    async def begin() -> None:
        left.append(asyncio.ensure_future(handle.check(call(1))))
        await asyncio.to_thread(people.asked.get, timeout=20)

    left: list[object] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # it says that a task is pending, as it should
    loop.run_until_complete(begin())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    left.clear()
    gc.collect()


LEAVING: dict[str, Callable[[ConnectedGate, People], object]] = {
    "asyncio": lambda handle, people: asyncio.run(_left_in_asyncio(handle, people)),
    "trio": lambda handle, people: trio.run(_left_in_trio, handle, people),
    "a loop that closes": _left_by_a_loop_that_closes,
}


@pytest.mark.parametrize("leave", LEAVING)
def test_to_cancel_a_caller_withdraws_its_question(
    leave: str, handle: ConnectedGate, store_url: str
) -> None:
    with People(store_url, silent) as people:
        LEAVING[leave](handle, people)

        assert people.ended.get(timeout=20).outcome is Outcome.CANCELLED


def test_in_a_loop_of_another_kind_it_says_what_to_do(handle: ConnectedGate) -> None:
    with pytest.raises(GateClosedError, match=r"asyncio or trio.* `sync`"):
        handle.check(call(1)).send(None)
