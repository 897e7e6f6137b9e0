"""A call that is checked under a key is asked about once, however often it is checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sayso import (
    Gate,
    Outcome,
    PermissionRequestEvent,
    RunRef,
    ToolCall,
)
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import until

RUN = RunRef("deploy-bot", "s-42")
DEPLOY = ToolCall("deploy", {"service": "api"}, "call-1")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as opened:
        yield opened


async def _open(backend: Backend, count: int = 1) -> list[PermissionRequestEvent]:
    """The open questions, once there are so many."""

    async def asked() -> bool:
        return len(await backend.watch.pending()) >= count

    await until(asked)
    found = [record.request for record in await backend.watch.pending()]
    assert all(isinstance(one, PermissionRequestEvent) for one in found)
    return [one for one in found if isinstance(one, PermissionRequestEvent)]


async def _approve(backend: Backend, **changes: Any) -> None:
    [request] = await _open(backend)
    answer = request.approve(by="slack:U0ALICE", **changes)
    await backend.store.settle(request.permission_id, answer)


async def _deny(backend: Backend) -> None:
    [request] = await _open(backend)
    await backend.store.settle(request.permission_id, request.deny(by="slack:U0ALICE"))


async def test_asked_once_fifty_callers_of_one_key_are_one_question(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        async with asyncio.TaskGroup() as group:
            checks = [group.create_task(gate.check(DEPLOY, key="k")) for _ in range(50)]
            await _approve(backend)

        verdicts = [check.result() for check in checks]
        assert {one.permission_id for one in verdicts} == {verdicts[0].permission_id}
        assert all(one.approved for one in verdicts)
        assert await backend.watch.pending() == []


async def test_a_recorded_verdict_comes_back_under_its_key(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        first = asyncio.create_task(gate.check(DEPLOY, key="k"))
        await _deny(backend)

        assert (await first).outcome is Outcome.DENIED
        # In another process: another gate, another run of the session, another call id.
        async with Gate.open(backend, run=RunRef("deploy-bot", "s-42")) as other:
            again = await other.check(ToolCall("deploy", {"service": "api"}), key="k")

        assert again == await first
        assert await backend.watch.pending() == []
