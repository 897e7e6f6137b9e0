"""What holding approvals against rules costs, and that nobody else tells what the store tells."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from support.counted import Counted
from support.denials import always_deny

from sayso import Gate, ToolCall
from sayso.errors import StoreUnreachableError
from sayso.events import PermissionRequestEvent
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.protocols import Ring
from sayso.stores.redis.connection import Client
from sayso.stores.redis.request_store import RedisRequestStore
from sayso.stores.redis.rule_store import KnownFloor
from sayso.stores.redis.url import read_url
from sayso.stores.topics import branch_topic
from sayso.testing import a_request, a_response, soon


@pytest.fixture
def scripts(backend: Backend) -> Counted:
    """The scripts that the store runs, each a round trip when it runs alone."""
    assert isinstance(backend.store, RedisRequestStore)
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


async def test_an_outcome_that_somebody_only_published_is_not_heard(
    backend: Backend, store_url: str
) -> None:
    keys, request = read_url(store_url).keys, a_request()
    made_up = a_response(request).observed
    async with (
        Gate.open(backend, run=request.run) as gate,
        gate.events() as events,
        Redis.from_url(store_url.partition("?")[0]) as server,
    ):
        await server.publish(keys.channel(branch_topic(request.run)), encode(made_up))
        await backend.store.open(request, seconds=30, inbox="", book=None)

        assert (await soon(events)) == request


async def test_an_ending_that_was_rung_without_a_version_says_none(
    backend: Backend, store_url: str
) -> None:
    keys, response = read_url(store_url).keys, a_response()
    async with (
        backend.bus.rings("mine") as rings,
        Redis.from_url(store_url.partition("?")[0]) as server,
    ):
        await server.publish(keys.channel("inbox:mine"), encode(response))

        assert await soon(rings) == Ring(response)


class Restless:
    """A client in whose session somebody stores a rule before every step."""

    def __init__(self, client: Client, backend: Backend, request: PermissionRequestEvent) -> None:
        self._client = client
        self._backend = replace(backend, store=RedisRequestStore(client, KnownFloor()))
        self._request = request
        self.token = client.token
        self.steps = 0
        self.read = client.read

    async def run(self, *arguments: Any, **read: Any) -> Any:
        self.steps += 1
        await always_deny(self._backend, ToolCall("other"), self._request.run)
        return await self._client.run(*arguments, **read)


async def test_where_rules_never_come_to_rest_nothing_is_decided_and_nobody_waits_for_ever(
    backend: Backend,
) -> None:
    request = await opened(backend)
    assert isinstance(backend.store, RedisRequestStore)
    restless = Restless(backend.store._client, backend, request)

    with pytest.raises(StoreUnreachableError, match="nothing was decided"):
        await RedisRequestStore(cast("Client", restless), KnownFloor()).settle(
            request.question_id, a_response(request)
        )

    assert restless.steps == 20
    record = await backend.store.get(request.question_id)
    assert record is not None
    assert record.ending is None
