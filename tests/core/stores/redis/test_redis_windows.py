"""How long things live in Redis and how many are kept: both sides of each bound."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.chats.places import Place
from sayso.errors import ReplayedCallbackError
from sayso.stores.backend import Backend
from sayso.stores.redis.keys import Keys
from sayso.testing import a_request, a_response, a_rule

_DAY = 86_400
_HOUR = 3_600
# What a busy machine may need between a command and the look at what it did.
_SLACK = 20


async def test_each_kind_of_key_lives_as_long_as_is_written(
    backend: Backend, keys: Keys, server: Any
) -> None:
    request, rule = a_request("q-1"), a_rule()
    place = Place("telegram", "-1")
    await backend.store.open(request, seconds=1_000, inbox="", book=None)
    await backend.store.settle("q-1", a_response(request), remember=rule, delivery="slack:1")
    await backend.rules.spend(request.run, "key")
    await backend.leases.hold("poll", "me", seconds=30)
    await backend.leases.move(place, Place("telegram", "-1001"))
    await backend.drafts.keep("draft", "text", seconds=77)

    lives = {
        key.decode().removeprefix(keys.prefix).partition(":")[0]: await server.ttl(key)
        async for key in server.scan_iter(f"{keys.prefix}*")
    }

    least = {
        "jobs": 1_000 + 7 * _DAY,
        "audit": 90 * _DAY,
        "book": _HOUR + _DAY,
        "books": _HOUR + _DAY,
        "rule": _HOUR + _DAY,
        "once": 180 * _DAY,
        "seen": 600,
        "lease": 30,
        "moved": 180 * _DAY,
        "draft": 77,
    }
    # Some live an hour longer, so that this is not done with every command.
    spare: dict[str, int] = dict.fromkeys(("jobs", "audit", "book", "books", "rule"), _HOUR)
    wrong = {
        name: lives[name]
        for name, life in least.items()
        if not life - _SLACK <= lives[name] <= life + spare.get(name, 0) + 1
    }
    assert wrong == {}


async def test_a_callback_is_known_for_ten_minutes_and_not_longer(
    backend: Backend, keys: Keys, server: Any
) -> None:
    await backend.copies.find("nobody", delivery="slack:1")
    seen = f"{keys.prefix}seen:slack:1"
    assert 599 - _SLACK <= await server.ttl(seen) <= 600
    # One second of the ten minutes is left.
    await server.pexpire(seen, 1_000)
    with pytest.raises(ReplayedCallbackError):
        await backend.copies.find("nobody", delivery="slack:1")

    await server.pexpire(seen, 0)

    assert await backend.copies.find("nobody", delivery="slack:1") is None


async def test_the_audit_keeps_its_newest_ten_thousand_entries_or_so(
    backend: Backend, keys: Keys, server: Any
) -> None:
    facts = {"a": "{}", "w": '{"kind":"asked"}'}
    async with server.pipeline(transaction=False) as pipeline:
        for _ in range(10_150):
            pipeline.xadd(keys.audit, facts)
        await pipeline.execute()

    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

    # Redis removes whole nodes of a hundred entries.
    assert 10_000 <= await server.xlen(keys.audit) <= 10_110
    [last] = await backend.audit.read(1)
    assert (last.kind, last.question_id) == ("asked", "q-1")


async def test_the_audit_loses_nothing_before(backend: Backend, keys: Keys, server: Any) -> None:
    facts = {"a": "{}", "w": '{"kind":"asked"}'}
    async with server.pipeline(transaction=False) as pipeline:
        for _ in range(9_999):
            pipeline.xadd(keys.audit, facts)
        await pipeline.execute()

    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

    assert await server.xlen(keys.audit) == 10_000
