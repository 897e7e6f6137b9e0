"""While the store is away every call is told to come back, and nothing is lost or done twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from support.aap_room import AapRoom, aap_room
from support.aap_world import PROVISIONER, Answer, a_call
from support.away import Going, going_away

from sayso.stores.memory import memory_backend
from sayso.testing import StoppedClock

ALL = ("documents", "store", "watch", "uses", "rules", "errands")
OF_REQUESTS = ("store", "watch", "uses", "rules", "errands")
CALLS: list[tuple[str, str, Any]] = [
    ("POST", "/v1/requests", a_call()),
    ("GET", "/v1/requests/{request}", None),
    ("GET", "/v1/requests/{request}?wait=25s", None),
    ("DELETE", "/v1/requests/{request}", None),
    ("POST", "/v1/requests/{request}/consume", None),
    ("POST", "/v1/requests/{request}/outcome", {"status": "succeeded"}),
    ("POST", "/v1/instances", {"instance_name": "another"}),
    ("GET", "/v1/instances/{instance}", None),
    ("PATCH", "/v1/instances/{instance}", {"instance_name": "renamed"}),
    ("DELETE", "/v1/instances/{instance}", None),
]


@asynccontextmanager
async def room(*ports: str) -> AsyncIterator[tuple[AapRoom, Going]]:
    clock = StoppedClock(datetime(2026, 11, 22, 12, tzinfo=UTC))
    async with memory_backend(clock=clock) as kept:
        backend, going = going_away(kept, *ports)
        async with aap_room(backend=backend, clock=clock) as opened:
            yield opened, going


async def made(room: AapRoom, request_id: str, call: tuple[str, str, Any]) -> Answer:
    method, path, body = call
    token = PROVISIONER if "/instances" in path else room.token
    path = path.format(request=request_id, instance=room.instance_id)
    return await room.call(method, path, body, token=token, key="one-key")


@pytest.mark.parametrize("call", CALLS, ids=lambda one: f"{one[0]} {one[1]}")
async def test_while_the_store_is_away_a_call_is_told_when_to_come_back(
    call: tuple[str, str, Any],
) -> None:
    async with room(*ALL) as (opened, going):
        request = await opened.asked()
        going.away = True

        answer = await made(opened, request["id"], call)

    assert answer.error == (503, "store_unreachable")
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("call", CALLS[:6], ids=lambda one: f"{one[0]} {one[1]}")
async def test_so_it_is_where_only_requests_are_out_of_reach(call: tuple[str, str, Any]) -> None:
    async with room(*OF_REQUESTS) as (opened, going):
        request = await opened.asked()
        going.away = True

        answer = await made(opened, request["id"], call)

    assert answer.error == (503, "store_unreachable")
    assert answer.headers["Retry-After"] == "1"


async def test_what_was_asked_in_vain_is_asked_once_when_the_store_is_back() -> None:
    async with room(*OF_REQUESTS) as (opened, going):
        going.away = True
        assert (await opened.ask(key="k")).status == 503
        going.away = False

        first, again = await opened.ask(key="k"), await opened.ask(key="k")

        assert (first.status, again.status) == (201, 200)
        assert first.json == again.json
        assert len(await opened.backend.watch.pending()) == 1


async def test_an_approval_that_was_not_used_in_an_outage_is_used_after_it() -> None:
    async with room(*OF_REQUESTS) as (opened, going):
        request = await opened.asked()
        await opened.settled(request["id"])
        going.away = True
        assert (await opened.consume(request["id"], "k")).status == 503
        going.away = False

        assert (await opened.consume(request["id"], "k")).status == 200
