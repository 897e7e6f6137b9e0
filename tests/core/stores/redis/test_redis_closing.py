"""Connecting and closing: what becomes of the commands that wait meanwhile."""

from __future__ import annotations

import asyncio

import pytest
from support.held_client import held_client

from sayso.errors import StoreUnreachableError


async def test_who_asks_while_another_connects_in_vain_has_a_try_of_his_own() -> None:
    async with held_client(login="secret") as held:
        first = held.send("FIRST")
        login = await held.read("AUTH", "secret")
        later = held.send("LATER")
        await asyncio.sleep(0)
        login.say(b"-WRONGPASS no\r\n")

        with pytest.raises(StoreUnreachableError, match="refuses the login"):
            await first
        (await held.read("AUTH", "secret")).say(b"+OK\r\n")
        (await held.read("LATER")).say(b"+PONG\r\n")

        assert await later == b"PONG"


async def test_a_server_that_lets_in_and_then_talks_nonsense_is_asked_twice() -> None:
    async with held_client(login="secret") as held:
        sent = held.send("PING")
        for _ in range(2):
            login = await held.read("AUTH", "secret")
            login.say(b"+OK\r\nNo more of it\r\n")

        with pytest.raises(StoreUnreachableError, match="closed the connection"):
            await sent
        assert held.unanswered == 0


async def test_who_waits_while_the_connecting_is_cancelled_is_connected_all_the_same() -> None:
    async with held_client(login="secret") as held:
        others = asyncio.all_tasks()
        sent = held.send("FIRST")
        await held.read("AUTH", "secret")
        connecting = held.connecting(others)
        later = held.send("LATER")
        for _ in range(4):  # until it has seen that another connects
            await asyncio.sleep(0)
        connecting[0].cancel()

        (await held.read("AUTH", "secret")).say(b"+OK\r\n")
        await held.read("FIRST")
        (await held.read("LATER")).say(b"+one\r\n+two\r\n")

        assert (await sent, await later) == (b"one", b"two")


async def test_nobody_connects_for_what_nobody_waits_for_any_more() -> None:
    async with held_client() as held:
        others = asyncio.all_tasks()
        sent = held.send("GIVEN-UP")
        await asyncio.sleep(0)
        sent.cancel()
        for _ in range(3):
            await asyncio.sleep(0)
            assert held.connecting(others | {sent}) == []


async def test_one_that_is_cancelled_before_it_connects_holds_up_nobody() -> None:
    async with held_client() as held:
        others = asyncio.all_tasks()
        first = held.send("FIRST")
        while not (connecting := held.connecting(others)):
            await asyncio.sleep(0)
        connecting[0].cancel()
        await asyncio.wait(connecting)

        second = held.send("SECOND")
        await held.read("FIRST")
        (await held.read("SECOND")).say(b"+one\r\n+two\r\n")

        assert (await first, await second) == (b"one", b"two")


async def test_closing_waits_for_what_is_under_way_and_gives_up_what_has_no_reply() -> None:
    async with held_client() as held:
        sent = [held.send(word) for word in ("A", "B")]
        await held.read("A")
        asked = await held.read("B")
        closing = asyncio.create_task(held.close())
        await asyncio.sleep(0)
        asked.say(b"+a\r\n")

        assert await sent[0] == b"a"
        await closing

        await asyncio.wait(sent)
        assert sent[1].cancelled()


async def test_closing_waits_for_what_another_server_has_to_do() -> None:
    async with held_client() as held:
        sent = [held.send("A"), held.send("ONCE", repeatable=False), held.send("C")]
        await held.read("A")
        await held.read("ONCE")
        asked = await held.read("C")
        asked.say(b"+a\r\n-MOVED 7 elsewhere:1\r\n")
        assert await sent[0] == b"a"
        closing = asyncio.create_task(held.close())
        await asyncio.sleep(0)
        asked.say(b"+c\r\n")
        (await held.read("ONCE")).say(b"+once\r\n")
        await closing

        assert [await one for one in sent] == [b"a", b"once", b"c"]


async def test_who_asks_while_it_is_closed_leaves_nothing_open() -> None:
    async with held_client(login="secret") as held:
        others = asyncio.all_tasks()
        given_up = held.send("GIVEN-UP")
        await held.read("AUTH", "secret")
        given_up.cancel()
        closing = asyncio.create_task(held.close())
        asking: set[asyncio.Task[object]] = set()
        while not closing.done():
            asking.add(held.send("LATER"))
            await asyncio.sleep(0)
        for one in asking:
            one.cancel()
        await asyncio.wait(asking)

        assert held.connecting(others) == []


async def test_closing_that_is_cancelled_closes_at_once() -> None:
    async with held_client() as held:
        sent = held.send("A")
        await held.read("A")
        closing = asyncio.create_task(held.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait({closing})

        await asyncio.wait({sent}, timeout=3)

        assert closing.cancelled()
        assert sent.cancelled()
