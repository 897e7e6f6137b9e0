"""The floor in Redis: what it costs, how long it lives, and what is there when all is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from store_contracts.floor import RUN, a_floor
from support.counted import Counted

from sayso import ToolCall
from sayso.errors import ConfigError
from sayso.rules.floor import MOST_FLOOR_BYTES, UNREADABLE, FloorSection, floor_of
from sayso.rules.rule import DenyRule, Rule
from sayso.stores.backend import Backend
from sayso.stores.protocols import Opened
from sayso.stores.redis import redis_backend
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import Keys
from sayso.stores.redis.request_store import RedisRequestStore
from sayso.stores.redis.rule_store import RedisRuleStore
from sayso.testing import a_request, a_response

CALL = ToolCall("run_command", {"command": "terraform apply"})


async def test_with_a_floor_an_approval_of_what_was_asked_on_it_is_one_round_trip(
    backend: Backend,
) -> None:
    await backend.rules.set_guardrails(a_floor("another_tool"))
    request = a_request(run=RUN)
    book = (await backend.rules.book(RUN)).version
    assert isinstance(await backend.store.open(request, seconds=30, inbox="", book=book), Opened)
    assert isinstance(backend.store, RedisRequestStore)
    counted = Counted(backend.store._client, "run")
    backend.store._client = cast("Client", counted)

    assert (await backend.store.settle(request.question_id, a_response(request))).first

    assert counted.looks == 1


async def test_a_floor_is_carried_to_a_process_once(backend: Backend) -> None:
    await backend.rules.set_guardrails(a_floor())
    assert isinstance(backend.rules, RedisRuleStore)
    replies: list[Any] = []
    run = backend.rules._client.run

    class Listening:
        async def run(self, *arguments: Any, read: Callable[[Any], Any]) -> Any:
            replies.append(await run(*arguments))
            return read(replies[-1])

    backend.rules._client = cast("Client", Listening())
    for _ in range(2):
        assert (await backend.rules.book(RUN)).floor.denial(CALL) is not None

    assert [bool(reply[2]) for reply in replies] == [True, False]


async def test_a_store_that_lost_everything_does_not_lift_the_floor_of_a_process_that_saw_it(
    backend: Backend, store_url: str, server: Any, keys: Keys
) -> None:
    await backend.rules.set_guardrails(a_floor())
    await backend.rules.book(RUN)
    lost = [key async for key in server.scan_iter(f"{keys.prefix}*")]
    await server.delete(*lost)

    assert (await backend.rules.book(RUN)).floor.denial(CALL) is not None
    async with redis_backend(store_url) as fresh:
        assert (await fresh.rules.book(RUN)).floor.denial(CALL) is None

        await fresh.rules.set_guardrails(
            floor_of([FloorSection(deny={}), *(a_floor("x").sections or ())])
        )
        assert (await backend.rules.book(RUN)).floor.denial(CALL) is None


async def test_a_floor_that_cannot_be_read_here_denies_every_call(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.rules.set_guardrails(a_floor("another_tool"))
    written = b'{"sections":[{"agent":"*","tool":"*","unless":"weekday"}]}'
    await server.hset(f"{keys.prefix}floor", mapping={"v": "of-the-future", "w": written})

    denial = (await backend.rules.book(RUN)).floor.denial(CALL)
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    settled = await backend.store.settle(request.question_id, a_response(request))

    assert denial is not None
    assert denial.line == UNREADABLE
    assert settled.forbidden


async def test_the_floor_stays_for_half_a_year_without_any_server(
    backend: Backend, server: Any, keys: Keys
) -> None:
    await backend.rules.set_guardrails(a_floor())

    days = await server.pttl(f"{keys.prefix}floor") / 86_400_000
    assert 180 <= days < 181


async def test_a_floor_that_is_too_large_is_refused(backend: Backend) -> None:
    with pytest.raises(ConfigError, match="all deny rules together"):
        await backend.rules.set_guardrails(floor_of([*map(_large, range(5))]))


def _large(number: int) -> FloorSection:
    rule = Rule("bash", {"command": f"{number}" + "x" * (MOST_FLOOR_BYTES // 5)})
    return FloorSection(deny={"bash": (DenyRule("deny rule 1", rule),)})
