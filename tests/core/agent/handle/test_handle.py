"""One handle a process: from any loop, from any thread, and from none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
from support.people import People, silent

import sayso
from sayso import Handle, Outcome, ToolCall

CALL = ToolCall("bash", {"command": "ls"})


@pytest.fixture
def handle(store_url: str) -> Iterator[Handle]:
    with sayso.connect(store_url, agent="deploy-bot", session="s-1", timeout=20) as handle:
        yield handle


def test_one_handle_serves_three_loops_in_turn_and_a_caller_without_one(
    handle: Handle, store_url: str
) -> None:
    with People(store_url):
        said = [asyncio.run(handle.check(CALL)) for _ in range(3)]
        said.append(handle.sync.check(CALL))

    assert [verdict.outcome for verdict in said] == [Outcome.APPROVED] * 4


def test_a_question_expires_in_time_with_and_without_a_loop(handle: Handle) -> None:
    began = time.monotonic()

    assert handle.sync.check(CALL, timeout=0.2).outcome is Outcome.EXPIRED
    assert asyncio.run(handle.check(CALL, timeout=0.2)).outcome is Outcome.EXPIRED
    assert time.monotonic() - began < 5


def test_to_cancel_a_caller_withdraws_its_question(handle: Handle, store_url: str) -> None:
    async def left(people: People) -> None:
        asking = asyncio.create_task(handle.check(CALL))
        await asyncio.to_thread(people.asked.get, timeout=20)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    with People(store_url, silent) as people:
        asyncio.run(left(people))

        assert people.ended.get(timeout=20).outcome is Outcome.CANCELLED
