"""Commands whose replies are lost on the way: what is repeated counts once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from sayso.errors import BusLostError
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url
from sayso.testing import a_copy, a_request, a_response, a_rule, soon


class Wire:
    """A wire to the server that can lose the replies of one round trip, connection and all.

    While ``lets_large_through`` is not set, it holds back replies of some size.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._lose = False
        self._server: asyncio.Server | None = None
        self.holds = asyncio.Event()
        self.lets_large_through = asyncio.Event()
        self.lets_large_through.set()

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def lose_next_replies(self) -> None:
        self._lose = True

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server, from_server = None, None
        try:
            from_server, to_server = await asyncio.open_connection(*self._target)
            there = asyncio.create_task(self._carry(reader, to_server, replies=False))
            back = asyncio.create_task(self._carry(from_server, writer, replies=True))
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
        finally:
            writer.close()
            if to_server is not None:
                to_server.close()

    async def _carry(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, replies: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if replies and self._lose:
                    self._lose = False
                    return
                if replies and len(data) > 10_000 and not self.lets_large_through.is_set():
                    self.holds.set()
                    await self.lets_large_through.wait()
                sink.write(data)
                await sink.drain()


@pytest.fixture
async def wire(redis_url: str) -> AsyncIterator[Wire]:
    url = read_url(redis_url)
    if url.kind != "server" or not url.hosts:
        pytest.skip("needs a server on TCP")
    between = Wire(*url.hosts[0])
    yield between
    await between.close()


@pytest.fixture
async def backend(wire: Wire, store_url: str) -> AsyncIterator[Backend]:
    url = read_url(store_url)
    host, port = url.hosts[0]
    through = store_url.replace(f"{host}:{port}", f"127.0.0.1:{await wire.open()}")
    async with redis_backend(through) as opened:
        await opened.leases.ping()
        yield opened


async def test_the_first_to_settle_stays_the_first(backend: Backend, wire: Wire) -> None:
    request, rule = a_request(), a_rule()
    await backend.store.open(request, seconds=30, inbox="mine", book=None)
    async with backend.bus.subscribe("inbox:mine") as rings:
        wire.lose_next_replies()

        settled = await backend.store.settle(
            request.question_id, a_response(request), remember=rule
        )
        later = await backend.store.settle(request.question_id, a_response(request))

        assert await soon(rings) == settled.ending
    assert settled.first
    assert settled.heard == 1
    assert not later.first
    assert (await backend.rules.book(request.run)).remembered == (rule,)


async def test_an_approval_that_is_repeated_over_a_foreseen_denial_rings_nobody_with_it(
    backend: Backend, wire: Wire
) -> None:
    request = a_request()
    denial = a_response(request, approved=False)
    await backend.store.open(request, seconds=30, inbox="mine", book=None)
    await backend.store.settle_later(request.question_id, denial, seconds=20)
    async with backend.bus.rings("mine") as rings:
        wire.lose_next_replies()

        settled = await backend.store.settle(request.question_id, a_response(request))
        await backend.store.open(request, seconds=30, inbox="mine", book=None)

        heard = [(await soon(rings)).ending for _ in range(2)]
    assert (settled.ending, settled.first) == (denial, False)
    assert heard == [denial, denial]


async def test_a_request_is_opened_once(backend: Backend, wire: Wire) -> None:
    wire.lose_next_replies()

    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book="")
    await backend.store.open(a_request("q-2"), seconds=30, inbox="", book="")

    async with backend.outbox.jobs("desk") as jobs:
        assert [(await soon(jobs)).question_id for _ in range(2)] == ["q-1", "q-2"]


async def test_a_repeated_look_for_a_handle_is_not_a_replay(backend: Backend, wire: Wire) -> None:
    request = a_request()
    copy = a_copy(request.question_id)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.copies.issue(copy)
    wire.lose_next_replies()

    found = await backend.copies.find(copy.handle, delivery="slack:1")

    assert found is not None
    assert found.copy == copy


async def test_what_was_published_is_not_published_again(
    backend: Backend, wire: Wire, store_url: str
) -> None:
    first, second = a_request("first"), a_request("second")
    async with redis_backend(store_url) as other, other.bus.subscribe("runs:1") as events:
        wire.lose_next_replies()

        with pytest.raises(BusLostError, match="may not have been told"):
            await backend.bus.publish("runs:1", first)
        await backend.bus.publish("runs:1", second)

        assert [await soon(events) for _ in range(2)] == [first, second]


async def test_what_may_be_had_once_was_had_by_the_caller_who_lost_the_reply(
    backend: Backend, wire: Wire
) -> None:
    run = a_request().run
    wire.lose_next_replies()

    assert await backend.rules.spend(run, "key")
    assert not await backend.rules.spend(run, "key")


async def test_a_use_and_a_revocation_count_once(backend: Backend, wire: Wire) -> None:
    request, rule = a_request(), a_rule()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(request.question_id, a_response(request), remember=rule)

    wire.lose_next_replies()
    used = await backend.rules.use(request.run, rule.rule_id)
    [kept] = await backend.rules.all()
    wire.lose_next_replies()
    revoked = await backend.rules.revoke(rule.rule_id, by="cli:me")

    assert (used, revoked, kept.remembered.uses) == (True, True, 1)
    kinds = [entry.kind for entry in await backend.audit.read(9)]
    assert kinds == ["asked", "approved", "rule_stored", "rule_used", "rule_revoked"]


async def test_presses_do_not_wait_behind_pages_of_a_log(wire: Wire, backend: Backend) -> None:
    large = a_request("q-large").model_copy(update={"description": "x" * 100_000})
    await backend.store.open(large, seconds=30, inbox="", book=None)
    await backend.log.append(large.run, "q-large", "request", large)
    small = a_request("q-small")
    await backend.store.open(small, seconds=30, inbox="", book=None)
    wire.lets_large_through.clear()

    reading = asyncio.create_task(backend.log.after(large.run, BEGINNING, count=9))
    await wire.holds.wait()
    settled = await backend.store.settle("q-small", a_response(small))
    wire.lets_large_through.set()

    assert settled.first
    assert len(await reading) == 1
