"""What waits for Redis is bounded, and ends in time however much it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
from support.valkey_server import Valkey

from sayso.errors import StoreUnreachableError
from sayso.stores.redis.client import Client
from sayso.stores.redis.url import read_url


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey()
    valkey.start()
    yield valkey
    valkey.close()


@pytest.mark.parametrize("bounds", [{"most": 5}, {"most_bytes": 5 * 40}])
async def test_more_than_a_process_holds_is_a_clear_error_at_once(
    server: Valkey, bounds: dict[str, int]
) -> None:
    client = Client(read_url(server.url), **bounds)
    command = ("SET", "key", "x" * 8, "EX", 10)  # about 40 bytes on the wire

    done = await asyncio.gather(
        *(client.command(*command) for _ in range(20)), return_exceptions=True
    )

    refused = [one for one in done if isinstance(one, StoreUnreachableError)]
    assert 3 <= len(done) - len(refused) <= 5
    assert "commands wait for Redis at 127.0.0.1" in str(refused[0])
    assert "ask less at once" in str(refused[0])
    # Nothing of it is left: there is room again.
    assert await client.command(*command) == b"OK"
    await client.aclose()


async def test_one_large_command_is_sent_all_the_same(server: Valkey) -> None:
    client = Client(read_url(server.url), most_bytes=10)

    assert await client.command("SET", "key", "x" * 1_000, "EX", 10) == b"OK"

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
    kept = asyncio.create_task(client.command("PING"))
    given_up = asyncio.create_task(client.command("SET", "given-up", "1", "EX", 10))
    await asyncio.sleep(0)
    given_up.cancel()

    assert await kept == b"PONG"
    assert await client.command("EXISTS", "given-up") == 0

    await client.aclose()
