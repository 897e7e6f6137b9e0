"""How long cards and budgets are known in Redis, by its own clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.stores.protocols import KEPT, Copy
from sayso.stores.redis.keys import Keys
from sayso.testing import a_request

DAY = 86_400_000


@pytest.mark.parametrize(
    ("keep", "days"), [(timedelta(hours=1), 1), (timedelta(days=2), 2), (KEPT, 30)], ids=str
)
async def test_a_card_and_its_request_are_known_for_as_long_as_the_bots_say(
    backend: Backend, server: Any, keys: Keys, keep: timedelta, days: int
) -> None:
    request = a_request("q-1")
    await backend.store.open(request, seconds=600, inbox="", book=None)
    before = await server.pexpiretime(keys.record("q-1"))
    deadline = before - DAY

    await backend.copies.issue(Copy("handle", "q-1", Place("slack", "C1")), keep=keep)
    await backend.copies.issue(Copy("other", "q-1", Place("slack", "C1")), keep=timedelta(0))

    assert await server.pexpiretime(keys.record("q-1")) == deadline + days * DAY
    assert await server.pexpiretime(f"{keys.prefix}h:handle") == deadline + days * DAY
    assert await server.pexpiretime(f"{keys.prefix}h:other") == deadline + days * DAY


async def test_a_request_that_nobody_was_shown_is_known_for_a_day(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.store.open(a_request("q-1"), seconds=600, inbox="", book=None)

    left = await server.pttl(keys.record("q-1"))

    assert DAY + 590_000 < left <= DAY + 600_000


async def test_a_key_leads_to_its_request_as_long_as_the_card_is_known(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.store.open(a_request("q-1"), seconds=600, inbox="", book=None, key="k")
    (pointer,) = [one async for one in server.scan_iter(f"{keys.prefix}key:*")]

    await backend.copies.issue(Copy("handle", "q-1", Place("slack", "C1")), keep=KEPT)

    assert await server.pexpiretime(pointer) == await server.pexpiretime(keys.record("q-1"))


async def test_moments_that_are_over_are_dropped_and_budgets_end_by_themselves(
    backend: Backend, server: Any, keys: Keys
) -> None:
    chat = Budget("chat", Rate(1, 0.001))
    for _ in range(20):
        await backend.key_value.reserve_rate([chat])

    key = f"{keys.prefix}budget:chat"
    assert await server.zcard(key) < 20
    assert 0 < await server.pttl(key) <= 3_600_000 + 1_000
