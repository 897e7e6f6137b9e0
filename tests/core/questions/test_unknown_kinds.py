"""Kinds of question that the bots do not know end at once, with a reason that says what to do."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from redis.asyncio import Redis
from support.chat_double import ChatDouble, working

from sayso.calls import RunRef
from sayso.chats.places import Place
from sayso.events import Outcome, Resolution
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url
from sayso.testing import a_request, a_response, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker


async def test_a_kind_the_bots_do_not_know_is_undeliverable_at_once(
    store_url: str, redis_url: str
) -> None:
    keys = read_url(store_url).keys
    request = a_request(run=RunRef("a", "s"), source_name="poller")
    async with redis_backend(store_url) as backend, Redis.from_url(redis_url) as server:
        await backend.store.open(request, seconds=600, inbox="", book=None)
        record = keys.record(request.question_id)
        stored = json.loads(await server.hget(record, "q") or "")
        await server.hset(record, "q", json.dumps(stored | {"type": "NEWER_THAN_THIS"}))
        desk = ApprovalWorker(backend, [ChatDouble()], Routes([Route((Place("slack", "C1"),))]))

        async def ending() -> Resolution | None:
            seen = await backend.store.poll([request.question_id], inbox="")
            found = seen[request.question_id]
            return found if isinstance(found, Resolution) else None

        async with working(desk):
            await until(ending)
        ended = await ending()

    assert ended is not None
    assert (ended.outcome, ended.source_name) == (Outcome.UNDELIVERABLE, "poller")
    assert "NEWER_THAN_THIS" in ended.reason
    assert "[questions] types" in ended.reason


async def test_an_answer_of_an_unknown_kind_does_not_hold_up_the_desk(
    store_url: str, redis_url: str
) -> None:
    keys = read_url(store_url).keys
    odd, plain = a_request(run=RunRef("a", "s")), a_request(run=RunRef("a", "s"))
    slack = ChatDouble()
    async with redis_backend(store_url) as backend, Redis.from_url(redis_url) as server:
        await backend.store.open(odd, seconds=600, inbox="", book=None)
        await backend.store.settle(
            odd.question_id, odd.approve(by="slack:U0ALICE", at=datetime.now(UTC))
        )
        await server.hset(keys.record(odd.question_id), "e", json.dumps({"type": "NEWER"}))
        await backend.store.open(plain, seconds=600, inbox="", book=None)
        await backend.store.settle(plain.question_id, a_response(plain))
        third = a_request(tool="third", run=RunRef("a", "s"))
        await backend.store.open(third, seconds=600, inbox="", book=None)
        desk = ApprovalWorker(backend, [slack], Routes([Route((Place("slack", "C1"),))]))
        async with working(desk):
            _, card = await slack.card_where()

    assert card.body.title == "third"


async def test_a_request_of_an_unknown_kind_hides_no_other_from_a_list(
    store_url: str, redis_url: str
) -> None:
    keys = read_url(store_url).keys
    odd, plain = a_request(), a_request()
    async with redis_backend(store_url) as backend, Redis.from_url(redis_url) as server:
        for request in (odd, plain):
            await backend.store.open(request, seconds=600, inbox="", book=None)
        await server.hset(keys.record(odd.question_id), "q", json.dumps({"type": "NEWER"}))

        listed = await backend.store.list_requests()

    assert [record.request.question_id for record in listed] == [plain.question_id]
