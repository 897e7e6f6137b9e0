"""Keys between processes that race, are killed, and come back, over a real Redis."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.chat_double import ChatDouble, working
from support.keyed import ALICE, RUN, approve, question, until_withdrawn, waiters

from sayso import Gate
from sayso.chats.places import Place
from sayso.events import Event
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OPS = Place("slack", "C0OPS")
KEY = "thread-7/call-1"


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as opened:
        yield opened


@asynccontextmanager
async def agent(store_url: str, key: str = KEY) -> AsyncIterator[Process]:
    """A process that checks the call under the key."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "support.keyed_agent",
        key,
        "api",
        stdout=PIPE,
        env={**os.environ, "SAYSO_STORE_URL": store_url, "PYTHONPATH": "tests"},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: Process) -> list[str]:
    """The next thing that the process says."""
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        return (await process.stdout.readline()).decode().split()


async def test_two_processes_that_race_with_one_key_show_one_card(
    backend: Backend, store_url: str
) -> None:
    chat = ChatDouble()
    desk = ApprovalWorker(backend, [chat], Routes([Route((OPS,), approvers=(ALICE,))]))
    async with (
        working(desk),
        agent(store_url) as one,
        agent(store_url) as other,
    ):
        asked = [await said(process) for process in (one, other)]
        assert asked[0] == asked[1] == ["PermissionRequestEvent", asked[0][1]]
        _, card = await chat.card_where()
        assert card.body.title == "deploy"
        await approve(backend)

        for process in (one, other):
            heard = [await said(process), await said(process)]
            assert ["approved", asked[0][1]] in heard
    assert len([verb for verb, _, _ in chat.history if verb == "show"]) == 1
    assert len([one for one in await backend.audit.read(100) if one.kind == "asked"]) == 1


async def test_a_process_that_was_killed_and_starts_again_with_its_key_joins_its_question(
    backend: Backend, store_url: str
) -> None:
    async with agent(store_url) as first:
        asked = await said(first)
        first.kill()
        await first.wait()

    async with agent(store_url) as again:
        assert await said(again) == asked
        assert (await question(backend)).permission_id == asked[1]
        await approve(backend)
        heard = [await said(again), await said(again)]
        assert ["approved", asked[1]] in heard

    # It was killed after the answer, too: the answer is there.
    async with agent(store_url) as once_more:
        heard = [await said(once_more), await said(once_more)]
        assert ["approved", asked[1]] in heard


async def test_a_dead_process_does_not_keep_a_question_open_that_the_last_one_leaves(
    backend: Backend, store_url: str
) -> None:
    told: list[Event] = []
    async with Gate.open(backend, run=RUN, observe=told.append) as gate:
        async with agent(store_url) as other:
            asked = await said(other)
            [check] = await waiters(gate, told, 1, key=KEY)
            check.cancel()
            await asyncio.gather(check, return_exceptions=True)
            await gate.finish()
            # The other one is alive and waits.
            assert (await question(backend)).permission_id == asked[1]
            other.kill()
            await other.wait()

        [check] = await waiters(gate, told, 1, key=KEY)
        check.cancel()
        await asyncio.gather(check, return_exceptions=True)
        await until_withdrawn(backend)
