"""How long things live in Redis and how many are kept: both sides of each bound."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso.chats.places import Place
from sayso.errors import ReplayedCallbackError
from sayso.stores.audit import KEPT_DECISIONS
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import note_chat_move
from sayso.stores.redis.keys import Keys
from sayso.stores.session_state import SessionState
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
    await backend.store.settle("q-1", a_response(request), remember=rule)
    await backend.copies.find("nobody", delivery="slack:1")
    await SessionState(backend.key_value).spend(request.run, "key")
    await backend.key_value.acquire_lease("poll", "me", seconds=30)
    await note_chat_move(backend.key_value, place, Place("telegram", "-1001"))
    await backend.key_value.set("draft:form", "text", seconds=77)

    lives = {
        key.decode().removeprefix(keys.prefix).partition(":")[0]: await server.ttl(key)
        async for key in server.scan_iter(f"{keys.prefix}*")
    }

    least = {
        "jobs": 1_000 + 7 * _DAY,
        "audit": 365 * _DAY,
        "audited": 365 * _DAY,
        "activity": 90 * _DAY,
        "agents": 90 * _DAY,
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
    audit = ("audit", "audited", "activity", "agents")
    spare: dict[str, int] = dict.fromkeys(("jobs", *audit, "book", "books", "rule"), _HOUR)
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


async def test_decisions_are_kept_by_their_time_and_not_by_their_number(
    backend: Backend, keys: Keys, server: Any
) -> None:
    facts = {"a": "{}", "w": '{"kind":"approved","by":"slack:U0ALICE"}'}
    seconds, _ = await server.time()
    async with server.pipeline(transaction=False) as pipeline:
        for days in (366, 364):
            for number in range(10_150):
                pipeline.xadd(keys.audit, facts, id=f"{(seconds - days * _DAY) * 1_000}-{number}")
        await pipeline.execute()
    request = a_request("q-1")
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle("q-1", a_response(request))
    assert await server.xlen(keys.audit) == 20_301

    await backend.audit.trim(KEPT_DECISIONS)

    assert await server.xlen(keys.audit) == 10_151
    assert await server.ttl(keys.audit) > 365 * _DAY - _SLACK


async def test_the_audit_lives_as_long_as_a_worker_is_told_to_keep_it(
    backend: Backend, keys: Keys, server: Any
) -> None:
    request = a_request("q-1")
    await backend.store.open(request, seconds=30, inbox="", book=None)
    await backend.store.settle("q-1", a_response(request))

    await backend.audit.trim(timedelta(days=3_650))

    assert await server.ttl(keys.audit) > 3_650 * _DAY - _SLACK


async def test_agents_whose_activity_is_gone_are_forgotten(
    backend: Backend, keys: Keys, server: Any
) -> None:
    seconds, _ = await server.time()
    await server.zadd(keys.agents, {"old": (seconds - 91 * _DAY) * 1_000, "newer": seconds * 1_000})

    await backend.store.open(a_request("q-1"), seconds=30, inbox="", book=None)

    agents = await server.zrange(keys.agents, 0, -1)
    assert b"old" not in agents
    assert len(agents) == 2
