"""Each script, killed off from its caller after the server ran it: what it does, it does once."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import pytest
from redis.asyncio import Redis
from store_contracts.floor import a_floor
from support.wire import wired

from sayso import RunRef
from sayso.calls import new_id
from sayso.chats.budgets import Budget, Rate
from sayso.stores import audit
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING
from sayso.stores.protocols import Hold, Job
from sayso.stores.redis import redis_backend
from sayso.stores.redis.keys import Keys
from sayso.stores.redis.script import Script
from sayso.stores.redis.url import read_url
from sayso.testing import a_copy, a_request, a_response, a_rule, soon

RUN = RunRef("bot", "s-1")
REQUEST = a_request("q-1", run=RUN)
COPY = a_copy("q-1")
RULE = a_rule()
Step = Callable[[Backend], Awaitable[object]]


async def _open(backend: Backend, *, key: str = "", ending: bool = False) -> None:
    await backend.store.open(REQUEST, seconds=60, inbox="mine", book=None, key=key)
    if ending:
        await backend.store.settle("q-1", a_response(REQUEST), remember=RULE)


async def _taken(backend: Backend) -> Job:
    async with backend.outbox.jobs("desk") as jobs:
        return await soon(jobs)


async def _opened(backend: Backend) -> None:
    await _open(backend)


async def _ended(backend: Backend) -> None:
    await _open(backend, ending=True)


async def _under_a_key(backend: Backend) -> None:
    await _open(backend, key="k")
    await backend.store.get_by_key(RUN, "k", hold=Hold("w", "mine"))


async def _issued(backend: Backend) -> None:
    await _open(backend)
    await backend.copies.issue(COPY)


async def _used(backend: Backend) -> None:
    await _ended(backend)
    await backend.store.consume_approval("q-1", "k", until=_in_an_hour())


async def _nothing(_backend: Backend) -> None:
    pass


async def _errand(backend: Backend) -> None:
    await backend.outbox.schedule("queue", "name")


async def _leave(backend: Backend) -> object:
    withdrawn = REQUEST.expired(at=datetime(2026, 1, 1, tzinfo=UTC))
    return await backend.store.release_hold("q-1", "w", ending=withdrawn)


async def _through_the_outbox(backend: Backend) -> None:
    """Take a job and finish it; then take another one and leave it undone."""
    async with backend.outbox.jobs("desk") as jobs:
        await backend.outbox.done(await soon(jobs))
    await backend.store.open(a_request("q-2"), seconds=60, inbox="", book=None)
    await _taken(backend)


async def _keep(backend: Backend) -> None:
    async with backend.outbox.jobs("desk") as jobs:
        await soon(jobs)
        await asyncio.sleep(0.5)  # longer than a desk goes without a sign of life


def _in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


# What has to be there before, and what runs the script.
STEPS: dict[str, tuple[Step, Step]] = {
    "list_recent_requests": (_opened, lambda one: one.store.list_recent(RUN)),
    "load_rules": (_ended, lambda one: one.rules.book(RUN)),
    "try_commands": (_nothing, lambda one: one.diagnose()),
    "compare_and_set": (
        _nothing,
        lambda one: one.key_value.compare_and_set("document:d", None, "text", seconds=60),
    ),
    "complete_jobs": (_opened, _through_the_outbox),
    "discard_intent": (_issued, lambda one: one.copies.drop(COPY)),
    "list_due_requests": (_opened, lambda one: one.store.expire_due()),
    "schedule_job": (_nothing, _errand),
    "claim_scheduled_jobs": (
        _errand,
        lambda one: one.outbox.claim_scheduled("queue", most=9, hold=60),
    ),
    "find_card": (_issued, lambda one: one.copies.find(COPY.handle, delivery="slack:1")),
    "set_guardrails": (_nothing, lambda one: one.rules.set_guardrails(a_floor())),
    "get_request": (_ended, lambda one: one.store.get("q-1")),
    "return_jobs": (_opened, _through_the_outbox),
    "record_intent": (_opened, lambda one: one.copies.issue(COPY)),
    "heartbeat": (_nothing, lambda one: one.outbox.heartbeat("desk", seconds=60)),
    "extend_job_lease": (_opened, _keep),
    "get_request_by_key": (
        _under_a_key,
        lambda one: one.store.get_by_key(RUN, "k", hold=Hold("v", "other")),
    ),
    "release_hold": (_under_a_key, _leave),
    "append_event": (_opened, lambda one: one.log.append(RUN, "q-1", "request", REQUEST)),
    "read_events": (_opened, lambda one: one.log.after(RUN, BEGINNING, count=9)),
    "poll_requests": (_opened, lambda one: one.store.poll(["q-1"], inbox="other")),
    "record_message": (_issued, lambda one: one.copies.mark(COPY)),
    "record_decision": (
        _nothing,
        lambda one: one.audit.note(audit.ruled(RUN, "tool", "abc", "rule 1", allowed=True)),
    ),
    "list_session_requests": (_opened, lambda one: one.store.list_requests(RUN)),
    "open_request": (_nothing, _opened),
    "revoke_approval": (
        _ended,
        lambda one: one.store.overrule("q-1", a_response(REQUEST, approved=False)),
    ),
    "record_refusal": (
        _opened,
        lambda one: one.audit.refuse("q-1", "not_approver", by="slack:U1", place="x", choice="y"),
    ),
    "report_outcome": (_used, lambda one: one.store.report_outcome("q-1", "succeeded")),
    "reserve_rate": (
        _nothing,
        lambda one: one.key_value.reserve_rate([Budget("ops", Rate(1, 10))]),
    ),
    "revoke_rule": (_ended, lambda one: one.rules.revoke(RULE.rule_id, by="cli:me")),
    "count_workers": (_nothing, lambda one: one.outbox.count_workers()),
    "list_rules": (_ended, lambda one: one.rules.all()),
    "resolve_request": (
        _opened,
        lambda one: one.store.settle("q-1", a_response(REQUEST), remember=RULE),
    ),
    "schedule_resolution": (
        _opened,
        lambda one: one.store.settle_later("q-1", REQUEST.expired(at=_in_an_hour()), seconds=20),
    ),
    "shorten_deadline": (_opened, lambda one: one.store.shorten_deadline("q-1", 30)),
    "claim_stale_jobs": (_opened, _taken),
    "consume_approval": (
        _ended,
        lambda one: one.store.consume_approval("q-1", "k", until=_in_an_hour()),
    ),
    "trim_audit": (_ended, lambda one: one.audit.trim(timedelta(days=1))),
    "record_use": (_ended, lambda one: one.rules.use(RUN, RULE.rule_id)),
}


def test_no_script_is_left_out() -> None:
    folder = files("sayso.stores.redis") / "scripts"
    names = {path.name.removesuffix(".lua") for path in folder.iterdir()}

    assert names - {"common"} == STEPS.keys()


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Any]:
    url = read_url(redis_url)
    if url.kind != "server" or not url.hosts:
        pytest.skip("needs a server on TCP")
    async with Redis.from_url(redis_url) as client:
        for name in STEPS:
            # Otherwise the reply that is lost is that the script has to be sent first.
            await client.script_load(Script(name).text)
        yield client


@pytest.mark.parametrize("name", STEPS)
async def test_a_script_that_ran_before_its_connection_broke_counts_once(
    name: str, server: Any, redis_url: str
) -> None:
    expected = await _effects(name, server, redis_url, loses=False)

    assert await _effects(name, server, redis_url, loses=True) == expected


async def _effects(name: str, server: Any, redis_url: str, *, loses: bool) -> object:
    """The keys that there are and what each holds, and what was published."""
    mark = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{mark}namespace=test-{new_id()}"
    keys = read_url(url).keys
    before, step = STEPS[name]
    async with (
        wired(url) as (wire, through),
        redis_backend(through, takeover_after=0.3) as backend,
        server.pubsub() as published,
    ):
        await before(backend)
        await published.psubscribe(keys.channel("*"))
        await published.get_message(timeout=None)
        if loses:
            wire.lose_reply(to=Script(name).sha)
        await step(backend)
        assert wire.lost == int(loses)
        return await _kept(server, keys), await _published(server, published, keys)


async def _kept(server: Any, keys: Keys) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    async for key in server.scan_iter(f"{keys.prefix}*"):
        kind = (await server.type(key)).decode()
        size = {
            "hash": server.hlen,
            "stream": server.xlen,
            "zset": server.zcard,
            "string": server.strlen,
        }[kind]
        group: tuple[str, ...] = ()
        if key.decode() == keys.jobs:
            group = tuple(str(one["pending"]) for one in await server.xinfo_groups(key))
        name = re.sub(r":.*", "", key.decode().removeprefix(keys.prefix))
        found[name, kind, str(await size(key)), *group] += 1
    return found


async def _published(server: Any, published: Any, keys: Keys) -> Counter[str]:
    await server.publish(keys.channel("end"), "")
    found: Counter[str] = Counter()
    while (message := await published.get_message(timeout=5)) is not None:
        channel = message["channel"].decode()
        if channel == keys.channel("end"):
            # A process may be woken twice: it looks, and finds the same.
            return Counter({**found, "inbox": min(1, found["inbox"])})
        found[re.sub(r":.*", "", channel.removeprefix(keys.channel("")))] += 1
    raise TimeoutError
