"""What the Redis store does besides its contracts: batches, lives, namespaces, memory."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from redis.asyncio import Redis

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.chats.places import Place
from sayso.errors import UnreadableEventError
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import find_chat, note_chat_move
from sayso.stores.redis import redis_backend
from sayso.stores.redis.keys import Keys
from sayso.stores.session_state import SessionState, session_key
from sayso.testing import a_copy, a_request, a_response, a_rule, soon, until


async def _asked(gate: Gate, number: int) -> tuple[int, str | None]:
    verdict = await gate.check(ToolCall("tool", {"number": number}), timeout=30)
    return number, verdict.decided_by


async def test_fifty_runs_each_get_their_own_answer(store_url: str) -> None:
    async with (
        redis_backend(store_url) as agents,
        redis_backend(store_url) as bots,
        bots.outbox.jobs("desk") as jobs,
    ):
        gates = [Gate(agents, GateOptions(RunRef("bot", f"s-{number}"))) for number in range(50)]
        runs = [asyncio.create_task(_asked(gate, number)) for number, gate in enumerate(gates)]
        opened = [(await soon(jobs)).question_id for _ in gates]
        random.shuffle(opened)

        for question_id in opened:
            record = await bots.store.get(question_id)
            assert record is not None
            request = record.request
            answer = a_response(request, by=f"slack:U{request.arguments['number']}")  # type: ignore[arg-type,attr-defined]  # they are permissions
            assert (await bots.store.settle(question_id, answer)).heard == 1
        verdicts = await asyncio.gather(*runs)

        assert verdicts == [(number, f"slack:U{number}") for number in range(50)]


async def test_of_many_processes_exactly_one_settles_first(store_url: str) -> None:
    request = a_request()
    async with (
        redis_backend(store_url) as one,
        redis_backend(store_url) as two,
        redis_backend(store_url) as three,
        redis_backend(store_url) as four,
    ):
        await one.store.open(request, seconds=30, inbox="", book=None)

        results = await asyncio.gather(
            *(
                backend.store.settle(request.question_id, a_response(request, by=f"slack:U{n}"))
                for n in range(5)
                for backend in (one, two, three, four)
            )
        )

    assert sum(result.first for result in results) == 1
    assert all(result.ending == results[0].ending for result in results)


async def _reads(server: Any) -> int:
    return int((await server.info("stats"))["total_reads_processed"])


async def test_one_call_is_one_round_trip(backend: Backend, server: Any) -> None:
    known, request = a_request(), a_request()
    copy = a_copy(request.question_id)
    await backend.store.open(known, seconds=30, inbox="", book="")
    await backend.store.settle(known.question_id, a_response(known))
    await backend.copies.issue(a_copy(known.question_id))
    await backend.copies.find("nobody")
    before = await _reads(server)

    await backend.store.open(request, seconds=30, inbox="mine", book="")
    await backend.copies.issue(copy)
    await backend.copies.find(copy.handle, delivery="slack:1")
    await backend.store.settle(request.question_id, a_response(request), remember=a_rule())

    # One of the five is the question itself.
    assert await _reads(server) - before == 5


async def test_a_server_that_forgot_the_scripts_is_told_again(
    backend: Backend, server: Any
) -> None:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await server.script_flush()

    settled = await backend.store.settle(request.question_id, a_response(request))

    assert settled.first


async def test_one_wrong_command_does_not_disturb_the_others(
    backend: Backend, keys: Keys, server: Any
) -> None:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await server.set(keys.record("spoiled"), "a string", ex=60)

    spoiled, found = await asyncio.gather(
        backend.store.get("spoiled"), backend.store.get(request.question_id), return_exceptions=True
    )

    assert "WRONGTYPE" in str(spoiled)
    assert not isinstance(found, BaseException | None)
    assert found.request.question_id == request.question_id


async def test_every_key_has_an_end(backend: Backend, keys: Keys, server: Any) -> None:
    answered, waiting, overdue = a_request(), a_request(), a_request()
    for request, seconds in ((answered, 30), (waiting, 30), (overdue, 0)):
        await backend.store.open(request, seconds=seconds, inbox="mine", book=None)
        await backend.copies.issue(a_copy(request.question_id))
    await backend.copies.find("nobody", delivery="slack:1")
    rule, run = a_rule(), answered.run
    await backend.store.settle(answered.question_id, a_response(answered), remember=rule)
    await backend.rules.use(run, rule.rule_id)
    await SessionState(backend.key_value).spend(run, "key")
    await SessionState(backend.key_value).spend(run, "key")
    await backend.rules.revoke(rule.rule_id, by="cli:me")
    await backend.store.expire_due()
    await backend.store.shorten_deadline(waiting.question_id, 10)
    await backend.key_value.acquire_lease("poll", "me", seconds=30)
    await note_chat_move(backend.key_value, Place("telegram", "-1"), Place("telegram", "-1001"))
    await find_chat(backend.key_value, Place("telegram", "-1"))
    async with backend.outbox.jobs("desk") as jobs:
        await backend.outbox.done(await soon(jobs))

    lives = {key: await server.ttl(key) async for key in server.scan_iter(f"{keys.prefix}*")}

    kinds = {key.decode().removeprefix(keys.prefix).partition(":")[0] for key in lives}
    memory = {"book", "books", "rule", "once", "audit", "audited", "activity", "agents"}
    assert kinds == {"r", "h", "due", "open", "jobs", "seen", "asked", "lease", "moved"} | memory
    assert min(lives.values()) > 0
    assert {key for key, life in lives.items() if life > 366 * 86_400} == set()


async def test_an_empty_outbox_of_a_desk_has_an_end(
    backend: Backend, keys: Keys, server: Any
) -> None:
    async with backend.outbox.jobs("desk") as jobs:
        waiting = asyncio.ensure_future(anext(jobs))
        await until(lambda: server.exists(keys.jobs))

        assert await server.ttl(keys.jobs) > 0
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_the_outbox_outlives_the_longest_request(
    backend: Backend, keys: Keys, server: Any
) -> None:
    month = 30 * 86_400
    await backend.store.open(a_request(), seconds=month, inbox="", book=None)
    await backend.store.open(a_request(), seconds=30, inbox="", book=None)

    lives = [await server.ttl(key) for key in (keys.jobs, keys.due)]

    assert min(lives) > month


async def test_expired_rules_are_removed_when_another_is_stored(
    backend: Backend, keys: Keys, server: Any
) -> None:
    for rule in (a_rule("old", lives=timedelta(seconds=-1)), a_rule("new")):
        request = a_request()
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request), remember=rule)

    [book] = [key async for key in server.scan_iter(f"{keys.prefix}book:*")]

    assert await server.hlen(book) == 2  # the version and the new rule


async def test_only_open_requests_are_due(backend: Backend, keys: Keys, server: Any) -> None:
    ended, gone = a_request(), a_request()
    for request in (ended, gone):
        await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle(ended.question_id, a_response(ended))
    await backend.store.shorten_deadline(ended.question_id, 10)
    assert await server.zrange(keys.due, 0, -1) == [gone.question_id.encode()]
    await backend.store.shorten_deadline(gone.question_id, 0)
    await server.delete(keys.record(gone.question_id))

    assert await backend.store.expire_due() is None

    assert await server.zrange(keys.due, 0, -1) == []


async def test_what_the_version_before_numbered_was_asked_before_what_is_asked_now(
    backend: Backend, keys: Keys, server: Any
) -> None:
    run = a_request().run
    for name in ("q-2", "q-1"):
        await backend.store.open(a_request(name), seconds=30, inbox="", book=None)
    await server.zadd(f"{keys.prefix}asked:{session_key(run)}", {"q-1": 1, "q-2": 2})
    await backend.store.open(a_request("q-3"), seconds=30, inbox="", book=None)

    asked = await backend.store.list_recent(run)

    assert [request.question_id for request in asked] == ["q-3", "q-2", "q-1"]


async def test_an_open_request_is_small(backend: Backend, keys: Keys, server: Any) -> None:
    requests = [a_request() for _ in range(500)]
    for request in requests[:100]:
        await backend.store.open(request, seconds=600, inbox="x" * 22, book=None)
    before = (await server.info("memory"))["used_memory_dataset"]
    for request in requests[100:]:
        await backend.store.open(request, seconds=600, inbox="x" * 22, book=None)
        await backend.copies.issue(a_copy(request.question_id))
    after = (await server.info("memory"))["used_memory_dataset"]

    over = (after - before) / 400 - len(requests[0].model_dump_json(by_alias=True))

    print(f"Redis memory of an open request, over its own JSON: {over:.0f} bytes")
    assert over < 2_000


async def test_namespaces_do_not_see_each_other(redis_url: str, store_url: str) -> None:
    request = a_request("q-1")
    async with redis_backend(store_url) as mine, redis_backend(store_url + "-other") as other:
        await mine.store.open(request, seconds=30, inbox="", book=None)

        assert await other.store.get("q-1") is None
        assert await other.store.list_requests() == []
        assert (await other.store.open(request, seconds=30, inbox="", book=None)) is not None


async def test_the_eight_newest_inboxes_are_rung(backend: Backend) -> None:
    request = a_request()
    await backend.store.open(request, seconds=30, inbox="inbox-0", book=None)
    for number in range(1, 9):
        await backend.store.poll([request.question_id], inbox=f"inbox-{number}")

    async with (
        backend.bus.subscribe("inbox:inbox-0"),
        backend.bus.subscribe("inbox:inbox-1"),
        backend.bus.subscribe("inbox:inbox-8"),
    ):
        settled = await backend.store.settle(request.question_id, a_response(request))

    assert settled.heard == 2


async def test_a_request_of_a_kind_unknown_here_expires(
    backend: Backend, keys: Keys, server: Any
) -> None:
    class PollEvent(UserInputRequest):
        type: Literal["POLL"] = "POLL"
        poll_id: str

        @property
        def question_id(self) -> str:
            return self.poll_id

    poll = PollEvent(
        source_name="poller", run=RunRef("a", "s"), expires_at=datetime.now(UTC), poll_id="p-1"
    )
    await backend.store.open(poll, seconds=0, inbox="", book=None)
    stored = json.loads(await server.hget(keys.record("p-1"), "q"))
    await server.hset(keys.record("p-1"), "q", json.dumps(stored | {"type": "NEWER_THAN_THIS"}))

    left = await backend.store.expire_due()
    ending = (await backend.store.poll(["p-1"], inbox=""))["p-1"]

    assert left is None
    assert isinstance(ending, Resolution)
    assert (ending.outcome, ending.source_name) == (Outcome.EXPIRED, "poller")


async def test_an_ending_of_an_unknown_kind_hides_no_other(
    backend: Backend, server: Redis, keys: Keys
) -> None:
    for name in ("p-1", "p-2"):
        request = a_request(name)
        await backend.store.open(request, seconds=60, inbox="", book=None)
        await backend.store.settle(name, a_response(request))
    await server.hset(keys.record("p-1"), "e", json.dumps({"type": "NEWER_THAN_THIS"}))

    seen = await backend.store.poll(["p-1", "p-2"], inbox="")

    assert isinstance(seen["p-1"], UnreadableEventError)
    assert isinstance(seen["p-2"], Resolution)
