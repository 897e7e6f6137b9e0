"""What it costs to hold an approval against the rules: nothing where a session remembers none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import cast

import pytest
from support.counted import Counted
from support.denials import always_deny

from sayso import PermissionRequestEvent, ToolCall
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.stores.redis.client import Client
from sayso.stores.redis.store import RedisStore
from sayso.testing import a_request, a_response


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with redis_backend(store_url) as opened:
        yield opened


@pytest.fixture
def scripts(backend: Backend) -> Counted:
    """The scripts that the store runs, each a round trip when it runs alone."""
    assert isinstance(backend.store, RedisStore)
    counted = Counted(backend.store._client, "run")
    backend.store._client = cast("Client", counted)
    return counted


async def opened(backend: Backend) -> PermissionRequestEvent:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    return request


async def test_an_approval_is_one_round_trip_where_the_session_remembers_nothing(
    backend: Backend, scripts: Counted
) -> None:
    request = await opened(backend)
    before = scripts.looks

    assert (await backend.store.settle(request.question_id, a_response(request))).first

    assert scripts.looks - before == 1


async def test_a_refusal_is_one_round_trip_whatever_the_session_remembers(
    backend: Backend, scripts: Counted
) -> None:
    request = await opened(backend)
    await always_deny(backend, ToolCall("other"), request.run)
    before = scripts.looks

    refusal = a_response(request, approved=False)
    assert (await backend.store.settle(request.question_id, refusal)).first

    assert scripts.looks - before == 1


async def test_an_approval_is_two_round_trips_where_there_is_something_to_look_at(
    backend: Backend, scripts: Counted
) -> None:
    edited, plain = await opened(backend), await opened(backend)
    now, before = datetime.now(UTC), scripts.looks
    changed = edited.approve(by="slack:U0ALICE", at=now, modified_arguments={"command": "ls"})
    await backend.store.settle(edited.question_id, changed)
    of_edited = scripts.looks - before
    await always_deny(backend, ToolCall("other"), plain.run)
    before = scripts.looks

    assert (await backend.store.settle(plain.question_id, a_response(plain))).first

    assert (of_edited, scripts.looks - before) == (2, 2)
