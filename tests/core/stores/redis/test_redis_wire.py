"""The connection itself: what is no silence of the server's, what is no Redis, what is too much."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sayso.errors import ConfigError, StoreUnreachableError
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.client import Client
from sayso.stores.redis.link import Link
from sayso.stores.redis.own_time import OwnTime
from sayso.stores.redis.tls import tls_context
from sayso.stores.redis.url import StoreUrl, read_url
from sayso.stores.redis.wire import Connecting, Connection, ConnectionLostError, connect, packed
from sayso.testing import a_response, soon

SECRET = "s3cret-p4ssword"


def hold_up(seconds: float) -> None:
    """Keep the event loop from everything, as work that should be in a thread does."""
    time.sleep(seconds)


def hurried(store_url: str, seconds: float) -> str:
    return f"{store_url}{'&' if '?' in store_url else '?'}socket_timeout={seconds}"


async def test_while_our_own_loop_is_held_up_a_server_that_answers_is_not_too_slow(
    store: str,
) -> None:
    client = Client(read_url(hurried(store, 0.2)))
    assert await client.command("PING") == b"PONG"
    for _ in range(3):
        asking = asyncio.create_task(client.command("PING"))
        await asyncio.sleep(0)  # the task of the client begins
        await asyncio.sleep(0)  # and has sent it
        hold_up(0.5)

        assert await asking == b"PONG"
    await client.aclose()


class _OfAnotherLoop:
    """A transport that is no subclass of asyncio's, as those of uvloop are none."""

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


async def test_transports_of_other_event_loops_are_taken(store: str) -> None:
    connection = await _connected(read_url(store))
    own: Any = connection._transport
    connection.connection_made(_OfAnotherLoop(own))  # type: ignore[arg-type]

    assert await connection.ask([packed(("PING",))]) == [b"PONG"]
    connection.drop()


class _Closing(_OfAnotherLoop):
    """A transport that broke, of which its connection is still to hear."""

    def is_closing(self) -> bool:
        return True

    def writelines(self, _commands: object) -> None:
        raise AssertionError


async def test_nothing_is_written_to_what_closes(store: str) -> None:
    connection = await _connected(read_url(store))
    own: Any = connection._transport
    connection.connection_made(_Closing(own))  # type: ignore[arg-type]

    connection.send([packed(("PING",))])

    connection.drop()


async def test_a_subscription_outlives_a_loop_that_is_held_up(store: str) -> None:
    client = Client(read_url(hurried(store, 0.05)))
    bus = RedisBus(client, silence=0.01)
    async with bus.subscribe("runs:1") as events:
        waiting = asyncio.create_task(soon(events))
        for _ in range(30):  # before, while and after it proves that it hears
            await asyncio.sleep(0.001)
            hold_up(0.08)
        assert not waiting.done()

        answer = a_response()
        await bus.publish("runs:1", answer)

        assert await waiting == answer
    await client.aclose()


async def test_of_the_time_of_a_limit_only_that_counts_in_which_the_loop_was_free() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def for_ever() -> None:
        async with OwnTime(0.2):
            hold_up(0.4)
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await for_ever()

    assert 0.4 + 0.1 < loop.time() - begun < 5


async def test_a_limit_lets_through_what_is_in_time_and_any_error() -> None:
    async with OwnTime(5):
        await asyncio.sleep(0)
    with pytest.raises(KeyError):
        async with OwnTime(5):
            raise KeyError


@asynccontextmanager
async def saying(said: bytes) -> AsyncIterator[StoreUrl]:
    """What listens where Redis should, and says this to everybody."""

    connections: set[asyncio.Task[None] | None] = set()

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        writer.write(said)
        with contextlib.suppress(ConnectionError):
            await reader.read()
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield read_url(f"redis://:{SECRET}@127.0.0.1:{port}?socket_timeout=0.3")
        await asyncio.gather(*filter(None, connections))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "cannot be reached (what answers is no Redis"),
        (b"+hello\r\n+OK\r\n", "cannot be reached (it says what nobody asked for)"),
        (b"-ERR max number of clients reached\r\n", "(max number of clients reached)"),
        (b"-ERR AUTH called without any password configured\r\n", "refuses the login"),
        (b"-LOADING Redis is loading the dataset in memory\r\n", "still loading its data"),
        (b"", "did not answer within 0.3 s"),
    ],
)
async def test_what_cannot_be_used_is_told_as_what_it_is(said: bytes, told: str) -> None:
    async with saying(said) as url:
        client = Client(url)
        with pytest.raises(StoreUnreachableError) as caught:
            await client.command("PING")
        await client.aclose()

    assert told in str(caught.value)
    assert SECRET not in str(caught.value)


async def test_a_reader_that_does_not_read_leaves_messages_to_the_server(store: str) -> None:
    url = read_url(store)
    client = Client(url)
    connection = await _connected(url)
    channel = url.keys.channel("flood")
    await connection.ask([packed(("SUBSCRIBE", channel))])

    for start in range(0, 5_000, 500):
        sent = (client.command("PUBLISH", channel, str(n)) for n in range(start, start + 500))
        await asyncio.gather(*sent)
    held = connection.unread
    heard = [(await connection.next(5))[2] for _ in range(5_000)]

    assert held < 5_000
    assert heard == [str(number).encode() for number in range(5_000)]
    connection.drop()
    await client.aclose()


async def test_a_connection_notices_a_server_that_is_gone_without_a_word(redis_url: str) -> None:
    connection = await _connected(read_url(redis_url))
    found: socket.socket = connection.socket

    assert found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    connection.drop()

    quiet = await _connected(read_url(f"{redis_url}?socket_keepalive=no"))
    assert not quiet.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    quiet.drop()


async def test_a_connection_that_was_dropped_asks_nothing(store: str) -> None:
    connection = await _connected(read_url(store))
    connection.drop()

    assert not connection.is_quiet
    with pytest.raises(ConnectionLostError):
        await connection.ask([packed(("PING",))])


@asynccontextmanager
async def _talkative() -> AsyncIterator[StoreUrl]:
    """A server that answers with the number of the connection, and adds what nobody asked for."""
    connections: set[asyncio.Task[None] | None] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError):
            while await reader.read(1000):
                writer.write(b"+%d\r\n+stray\r\n" % len(connections))
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield read_url(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await asyncio.gather(*filter(None, connections))


async def test_a_connection_on_which_something_came_unasked_is_not_used_again() -> None:
    async with _talkative() as url:
        client, link = Client(url), Link(url)

        assert [await client.command("PING") for _ in range(2)] == [b"1", b"2"]
        assert [await link.ask([packed(("PING",))]) for _ in range(2)] == [[b"3"], [b"4"]]

        await client.aclose()
        link.drop()


def test_a_server_proves_who_it_is_unless_its_url_says_otherwise() -> None:
    proves = tls_context(**read_url("rediss://h").connecting.tls_options)
    need_not = tls_context(**read_url("rediss://h?ssl_cert_reqs=none").connecting.tls_options)

    assert (proves.check_hostname, proves.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert (need_not.check_hostname, need_not.verify_mode) == (False, ssl.CERT_NONE)


async def test_a_client_is_named_as_its_url_says(redis_url: str) -> None:
    connection = await _connected(read_url(f"{redis_url}?client_name=night-shift&db=3"))

    name, info = await connection.ask([packed(("CLIENT", "GETNAME")), packed(("CLIENT", "INFO"))])

    assert name == b"night-shift"
    assert b" db=3 " in info
    connection.drop()


@pytest.mark.parametrize(
    ("query", "is_read"),
    [
        ("ssl_cert_reqs=none", True),
        ("ssl_check_hostname=false&ssl_min_version=771", True),
        ("ssl_include_verify_flags=VERIFY_X509_STRICT", True),
        ("max_connections=9&health_check_interval=5&encoding=utf-8", True),
        ("ssl_cert_reqs=perhaps", False),
        ("ssl_min_version=1", False),
        ("ssl_include_verify_flags=VERIFY_NOTHING", False),
        ("ssl_bogus=1", False),
    ],
)
def test_options_of_tls_are_read_or_refused(query: str, is_read: bool) -> None:
    if is_read:
        assert read_url(f"rediss://h?{query}").connecting.tls
    else:
        with pytest.raises(ConfigError):
            read_url(f"rediss://h?{query}")


def test_options_of_tls_mean_nothing_without_it() -> None:
    with pytest.raises(ConfigError, match="an option that means nothing"):
        read_url("redis://h?ssl_cert_reqs=none")


async def _connected(url: StoreUrl) -> Connection:
    how: Connecting = url.connecting
    hosts: tuple[Any, ...] = url.hosts[0] if url.hosts else ()
    return await connect(how, *hosts)
