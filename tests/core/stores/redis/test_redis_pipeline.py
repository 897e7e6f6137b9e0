"""Commands that are under way together: whose reply is whose, and what becomes of them."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.fake_redis import fake_redis
from support.held_client import Held, held_client

from sayso.errors import StoreUnreachableError
from sayso.stores.redis.client import Client
from sayso.stores.redis.url import read_url

_HURRIED = 0.3


async def test_a_command_does_not_wait_for_the_reply_to_another() -> None:
    async with held_client() as held:
        first = held.send("FIRST")
        asked = await held.read("FIRST")
        second = held.send("SECOND")
        await held.read("SECOND")

        asked.say(b"+one\r\n+two\r\n")

        assert (await first, await second) == (b"one", b"two")


async def test_each_command_has_its_own_reply_however_they_come(redis_url: str) -> None:
    client = Client(read_url(redis_url))

    async def echo(number: int) -> object:
        for _ in range(number % 7):
            await asyncio.sleep(0)
        return await client.command("ECHO", str(number) * (number % 50 + 1))

    said = await asyncio.gather(*(echo(number) for number in range(5_000)))

    assert said == [(str(number) * (number % 50 + 1)).encode() for number in range(5_000)]
    await client.aclose()


async def test_what_is_asked_in_one_turn_waits_for_what_is_asked_in_the_next() -> None:
    async with held_client() as held:
        connected = held.send("CONNECTED")
        (await held.read("CONNECTED")).say(b"+one\r\n")
        assert await connected == b"one"
        given_up = held.send("GIVEN-UP")
        for _ in range(2):
            await asyncio.sleep(0)

        given_up.cancel()
        kept = held.send("KEPT")

        (await held.read("KEPT")).say(b"+two\r\n")
        assert await kept == b"two"


async def test_who_often_asked_alone_waits_for_nobody() -> None:
    async with held_client() as held:
        await _alone(held, 10)
        given_up = held.send("GIVEN-UP")
        for _ in range(2):
            await asyncio.sleep(0)
        given_up.cancel()

        await held.read("GIVEN-UP")


async def test_whoever_had_company_a_moment_ago_waits_for_others_again() -> None:
    async with held_client() as held:
        await _alone(held, 10)
        together = [held.send(word) for word in ("FIRST", "SECOND", "THIRD")]
        for word in ("FIRST", "SECOND", "THIRD"):
            (await held.read(word)).say(b"+OK\r\n")
        await asyncio.gather(*together)
        await _alone(held, 1)
        given_up = held.send("GIVEN-UP")
        for _ in range(2):
            await asyncio.sleep(0)
        given_up.cancel()

        await _alone(held, 1)


async def _alone(held: Held, times: int) -> None:
    for _ in range(times):
        sent = held.send("ALONE")
        (await held.read("ALONE")).say(b"+OK\r\n")
        assert await sent == b"OK"


async def test_the_reply_to_what_nobody_waits_for_any_more_is_nobody_elses() -> None:
    async with held_client() as held:
        given_up, kept = held.send("GIVEN-UP"), held.send("KEPT")
        await held.read("GIVEN-UP")
        asked = await held.read("KEPT")
        given_up.cancel()

        asked.say(b"+one\r\n+two\r\n")

        assert await kept == b"two"


async def test_a_refusal_is_of_its_own_command_alone() -> None:
    async with held_client() as held:
        sent = [held.send(word) for word in ("A", "B", "C")]
        await held.read("A")
        await held.read("B")
        (await held.read("C")).say(b"+a\r\n-ERR no\r\n+c\r\n")

        done = await asyncio.gather(*sent, return_exceptions=True)

    assert (done[0], done[2]) == (b"a", b"c")
    assert "refuses a command: no" in str(done[1])


async def test_what_may_be_repeated_is_sent_again_in_order_when_the_connection_breaks() -> None:
    async with held_client() as held:
        answered = held.send("ANSWERED")
        (await held.read("ANSWERED")).say(b"+done\r\n")
        assert await answered == b"done"
        sent = [held.send("A"), held.send("ONCE", repeatable=False), held.send("C")]
        await held.read("A")
        await held.read("ONCE")
        (await held.read("C")).hang_up()

        with pytest.raises(StoreUnreachableError):
            await sent[1]
        again = await held.read("A")
        later = held.send("LATER")
        await held.read("C")
        await held.read("LATER")
        again.say(b"+a\r\n+c\r\n+later\r\n")

        assert [await sent[0], await sent[2], await later] == [b"a", b"c", b"later"]
        assert again.connection == 2


async def test_what_breaks_the_connection_twice_is_not_sent_a_third_time() -> None:
    async with held_client() as held:
        sent = held.send("POISON")
        (await held.read("POISON")).hang_up()
        (await held.read("POISON")).hang_up()

        with pytest.raises(StoreUnreachableError):
            await sent
        assert held.unanswered == 0


async def test_what_another_server_has_to_do_is_sent_again_and_the_rest_is_not() -> None:
    async with held_client() as held:
        sent = [held.send("A"), held.send("ONCE", repeatable=False), held.send("C")]
        await held.read("A")
        await held.read("ONCE")
        asked = await held.read("C")
        asked.say(b"+a\r\n-READONLY a replica\r\n")
        assert await sent[0] == b"a"
        later = held.send("LATER")

        # The connection is given up once all that it still owes has come.
        asked.say(b"+c\r\n")

        assert await sent[2] == b"c"
        there = await held.read("ONCE")
        await held.read("LATER")
        there.say(b"+once\r\n+later\r\n")
        assert (await sent[1], await later) == (b"once", b"later")
        assert there.connection == 2


async def test_what_waits_for_another_server_goes_on_when_the_connection_breaks_meanwhile() -> None:
    async with held_client() as held:
        sent = [held.send("ONCE", repeatable=False), held.send("B")]
        await held.read("ONCE")
        asked = await held.read("B")
        asked.say(b"-MOVED 7 elsewhere:1\r\n")
        asked.hang_up()

        await held.read("ONCE")
        (await held.read("B")).say(b"+once\r\n+b\r\n")

        assert [await one for one in sent] == [b"once", b"b"]


async def test_what_is_younger_than_a_command_without_a_reply_is_asked_again() -> None:
    async with held_client(f"?socket_timeout={_HURRIED}") as held:
        loop = asyncio.get_running_loop()
        old = held.send("OLD")
        began = loop.time()
        await held.read("OLD")
        while loop.time() < began + _HURRIED / 2:
            await asyncio.sleep(0)
        young, once = held.send("YOUNG"), held.send("ONCE", repeatable=False)
        await held.read("YOUNG")
        await held.read("ONCE")

        with pytest.raises(StoreUnreachableError, match=f"did not answer within {_HURRIED} s"):
            await old
        with pytest.raises(StoreUnreachableError, match="did not answer"):
            await once
        (await held.read("YOUNG")).say(b"+young\r\n")

        assert await young == b"young"


async def test_what_is_asked_again_has_no_more_time_than_it_had() -> None:
    # Half of its time is over before it is asked again; a busy machine may be late by nearly that.
    seconds = 1.0
    async with held_client(f"?socket_timeout={seconds}") as held:
        began = time.monotonic()
        sent = held.send("A")
        asked = await held.read("A")
        while time.monotonic() < began + seconds / 2:
            await asyncio.sleep(0)
        asked.hang_up()
        await held.read("A")

        with pytest.raises(StoreUnreachableError, match="did not answer"):
            await sent

        assert time.monotonic() - began < 1.45 * seconds


async def test_a_bounded_number_of_commands_is_under_way() -> None:
    async with held_client() as held:
        sent = [held.send("PING", str(number)) for number in range(1_500)]
        asked = [await held.read("PING", str(number)) for number in range(1_000)]
        for _ in range(100):
            await asyncio.sleep(0)
        assert held.unanswered == 0

        asked[0].say(b"+PONG\r\n" * 1_000)
        asked += [await held.read("PING", str(number)) for number in range(1_000, 1_500)]
        asked[0].say(b"+PONG\r\n" * 500)

        assert set(await asyncio.gather(*sent)) == {b"PONG"}


async def test_a_bounded_number_of_bytes_is_under_way() -> None:
    async with held_client() as held:
        sent = [held.send("SET", str(number), "x" * 300_000) for number in range(8)]
        asked = [await held.read("SET", str(number), "x" * 300_000) for number in range(4)]
        for _ in range(100):
            await asyncio.sleep(0)
        assert held.unanswered == 0

        asked[0].say(b"+OK\r\n" * 4)
        asked += [await held.read("SET", str(number), "x" * 300_000) for number in range(4, 8)]
        asked[0].say(b"+OK\r\n" * 4)

        assert await asyncio.gather(*sent) == [b"OK"] * 8


async def test_what_waited_behind_a_full_pipeline_ends_with_it() -> None:
    seconds = 2.0
    async with held_client(f"?socket_timeout={seconds}") as held:
        first = held.send("FIRST")  # so that nothing of what follows waits for a connection
        (await held.read("FIRST")).say(b"+OK\r\n")
        await first
        began = time.monotonic()
        sent = [held.send("PING", str(number)) for number in range(1_500)]

        done = await asyncio.gather(*sent, return_exceptions=True)

        assert all(isinstance(one, StoreUnreachableError) for one in done)
        assert time.monotonic() - began < 1.9 * seconds
        assert held.unanswered == 1_000


async def test_what_waits_behind_many_has_its_turn_as_long_as_the_server_goes_on_answering() -> (
    None
):
    seconds = 2.5
    async with held_client(f"?socket_timeout={seconds}") as held:
        first = held.send("FIRST")
        asked = await held.read("FIRST")
        asked.say(b"+OK\r\n")
        await first
        loop = asyncio.get_running_loop()
        began = loop.time()
        sent = [held.send("PING", str(number)) for number in range(4_000)]

        # Slow, but in time with each thousand that is under way.
        for turn in range(1, 5):
            while loop.time() < began + turn * seconds / 2:
                await asyncio.sleep(0)
            asked.say(b"+PONG\r\n" * 1_000)

        assert set(await asyncio.gather(*sent)) == {b"PONG"}
        assert loop.time() - began > 1.5 * seconds


async def test_a_part_of_the_time_counts_once_however_long_our_own_loop_was_held_up() -> None:
    async with held_client(f"?socket_timeout={_HURRIED}") as held:
        sent = held.send("A")
        asked = await held.read("A")
        again = held.send("B")
        for _ in range(3):
            await asyncio.sleep(0)
        time.sleep(2 * _HURRIED)  # noqa: ASYNC251  as work does that should be in a thread
        await held.read("B")
        asked.say(b"+a\r\n+b\r\n")

        assert (await sent, await again) == (b"a", b"b")


async def test_a_pipeline_that_is_never_empty_times_nothing_out() -> None:
    async with fake_redis(lambda _words: b"+OK\r\n") as port:
        client = Client(read_url(f"redis://127.0.0.1:{port}?socket_timeout={_HURRIED}"))
        until = time.monotonic() + 2 * _HURRIED

        async def keep_asking() -> set[object]:
            said: set[object] = set()
            while time.monotonic() < until:
                said.add(await client.command("PING", repeatable=False))
            return said

        async def begin_later(turns: int) -> set[object]:
            for _ in range(turns):
                await asyncio.sleep(0)
            return await keep_asking()

        assert await asyncio.gather(*(begin_later(turns) for turns in range(5))) == [{b"OK"}] * 5
        await client.aclose()
