"""Cards whose store or platform is away for a while, or for good."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from support.chat_double import ChatDouble, working
from support.timer import QuickTimer

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.cards.card import Ended
from sayso.chats.places import Place
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OPS = Place("slack", "C0OPS")
CALL = ToolCall("bash", {"command": "ls"})


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
def slack() -> ChatDouble:
    return ChatDouble("slack")


@asynccontextmanager
async def gate_on(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=20) as gate:
        yield gate


class Faltering:
    """A port whose method fails the first times it is used."""

    def __init__(self, inner: Any, method: str, times: int = 1) -> None:
        self._inner = inner
        self._method = method
        self._times = times

    def __getattr__(self, name: str) -> Any:
        if name == self._method and self._times:
            self._times -= 1
            return self._fail
        return getattr(self._inner, name)

    async def _fail(self, *_: object, **__: object) -> None:
        raise StoreUnreachableError("away for a moment")


async def test_a_job_outlives_an_outage_of_the_store(backend: Backend, slack: ChatDouble) -> None:
    faltering = replace(backend, store=Faltering(backend.store, "get"))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(ApprovalWorker(faltering, [slack], routes)):
        await gate.submit(CALL)

        assert (await slack.card_where())[1].body.title == "bash"


async def test_an_outage_of_the_store_is_one_line_however_many_jobs_wait(
    backend: Backend, slack: ChatDouble, caplog: pytest.LogCaptureFixture
) -> None:
    faltering = replace(backend, store=Faltering(backend.store, "get", times=12))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])

    async def are_shown() -> bool:
        return len(slack.cards) == 4

    async with gate_on(backend) as gate:
        for number in range(4):
            await gate.submit(ToolCall("bash", {"command": f"ls {number}"}))
        async with working(ApprovalWorker(faltering, [slack], routes, timer=QuickTimer())):
            await until(are_shown)

    said = [line for line in caplog.messages if "the desk waits for the store" in line]
    assert said == ["the desk waits for the store: away for a moment"]


async def test_the_sweep_outlives_an_outage_of_the_store(
    backend: Backend, slack: ChatDouble
) -> None:
    faltering = replace(backend, store=Faltering(backend.store, "expire_due"))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(ApprovalWorker(faltering, [slack], routes)):
        await gate.submit(CALL, timeout=0.2)

        assert isinstance((await slack.ended_card()).state, Ended)


async def test_a_platform_that_stays_down_makes_it_undeliverable_before_it_expires(
    backend: Backend, slack: ChatDouble
) -> None:
    slack.fail("show", *(DeliveryError("slack", "internal_error") for _ in range(100)))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(ApprovalWorker(backend, [slack], routes)):
        verdict = await gate.check(CALL, timeout=3)

    assert verdict.outcome is Outcome.UNDELIVERABLE
    assert "internal_error" in verdict.reason
