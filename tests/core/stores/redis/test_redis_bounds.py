"""What waits for Redis is bounded, and ends in time however much it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
from support.valkey_server import Valkey

from sayso.errors import StoreUnreachableError
from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey()
    valkey.start()
    yield valkey
    valkey.close()


async def test_more_than_a_process_holds_is_a_clear_error_at_once(server: Valkey) -> None:
    client = Client(read_url(server.url), max_waiting=5)

    done = await asyncio.gather(
        *(client.command("PING") for _ in range(200)), return_exceptions=True
    )

    refused = [one for one in done if isinstance(one, StoreUnreachableError)]
    assert 5 <= len(done) - len(refused) <= 50
    assert "commands wait for Redis at 127.0.0.1" in str(refused[0])
    assert "ask less at once" in str(refused[0])
    # Nothing of it is left: there is room again.
    assert await client.command("PING")
    await client.aclose()


async def test_few_connections_serve_however_many_ask(server: Valkey) -> None:
    client = Client(read_url(server.url))

    await asyncio.gather(*(client.command("PING") for _ in range(2_000)))

    assert len(await client.command("CLIENT", "LIST", read=bytes.splitlines)) <= 8
    await client.aclose()


async def test_who_waits_has_his_turn_as_long_as_the_server_goes_on_answering(
    server: Valkey,
) -> None:
    client = Client(read_url(f"{server.url}?socket_timeout=2"))
    slow = "local n = 0 for i = 1, 3e4 do n = n + 1 end return 1"  # several seconds for all

    assert await asyncio.gather(*(client.command("EVAL", slow, 0) for _ in range(8_000)))

    await client.aclose()


async def test_however_many_commands_wait_a_hanging_server_ends_them_in_twice_the_timeout(
    server: Valkey,
) -> None:
    client = Client(read_url(f"{server.url}?socket_timeout=0.4"))
    await client.command("PING")
    server.stop_answering()
    began = time.monotonic()

    done = await asyncio.gather(
        *(client.command("PING") for _ in range(10_000)), return_exceptions=True
    )

    assert all(isinstance(one, StoreUnreachableError) for one in done)
    # Twice the timeout and what a busy machine adds; one by one it would be over an hour.
    assert time.monotonic() - began < 2 * 0.4 + 10
    server.answer_again()
    await client.aclose()


async def test_what_nobody_waits_for_any_more_is_not_sent(server: Valkey) -> None:
    client = Client(read_url(server.url))
    others = [asyncio.create_task(client.command("PING", read=bool)) for _ in range(100)]
    given_up = asyncio.create_task(client.command("SET", "given-up", "1", "EX", 10, read=bool))
    await asyncio.sleep(0)
    given_up.cancel()

    await asyncio.gather(*others)
    assert await client.command("EXISTS", "given-up") == 0

    await client.aclose()
