"""The client of Redis: whose reply is whose, how often a command is sent, and what is an error."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis
from support.balancer import Balancer
from support.fake_redis import cluster_of_one, fake_redis, sentinel_that_names
from support.valkey_server import Valkey

from sayso.errors import StoreUnreachableError
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.connection import Client
from sayso.stores.redis.loop_timeout import LoopTimeout
from sayso.stores.redis.script import Script
from sayso.stores.redis.url import read_url
from sayso.testing import a_response, soon
from sayso.testing.builders import PATIENCE_SECONDS

SECRET = "s3cret-p4ssword"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Client]:
    client = Client(read_url(url))
    try:
        yield client
    finally:
        await client.aclose()


def hurried(store_url: str, seconds: float) -> str:
    return f"{store_url}{'&' if '?' in store_url else '?'}socket_timeout={seconds}"


def hold_up(seconds: float) -> None:
    """Keep the event loop from everything, as work that should be in a thread does."""
    time.sleep(seconds)


async def test_each_command_has_its_own_reply_though_others_are_given_up(store: str) -> None:
    async with opened(store) as client:

        async def echo(number: int) -> object:
            for _ in range(number % 7):
                await asyncio.sleep(0)
            return await client.command("ECHO", str(number) * (number % 50 + 1))

        for _ in range(20):
            tasks = [asyncio.create_task(echo(number)) for number in range(100)]
            await asyncio.sleep(random.random() * 0.003)
            given_up = random.sample(tasks, 25)
            for task in given_up:
                task.cancel()
            said = await asyncio.gather(*tasks, return_exceptions=True)

            for number, (task, reply) in enumerate(zip(tasks, said, strict=True)):
                if task in given_up and isinstance(reply, asyncio.CancelledError):
                    continue
                assert reply == (str(number) * (number % 50 + 1)).encode()


async def test_what_is_asked_together_arrives_in_its_order(store: str) -> None:
    async with opened(store) as client:
        name = f"{client.keys.prefix}order"

        await asyncio.gather(*(client.command("RPUSH", name, str(n)) for n in range(50)))

        kept = await client.command("LRANGE", name, 0, -1, read=list)
        await client.command("DEL", name)
    assert kept == [str(n).encode() for n in range(50)]


@asynccontextmanager
async def hanging_up(kind: str, asked: list[str]) -> AsyncIterator[str]:
    """The URL of a store whose server hangs up at ECHO, and notes what it was asked."""

    def answer(words: Sequence[str]) -> bytes | None:
        asked.append(words[0])
        return None if words[0] == "ECHO" else b"+PONG\r\n"

    ports: list[int] = []
    async with contextlib.AsyncExitStack() as stack:
        if kind == "cluster":
            answer = cluster_of_one(lambda: ports[0], answer)  # type: ignore[assignment]
        ports.append(await stack.enter_async_context(fake_redis(answer)))
        if kind == "sentinel":
            sentinel = fake_redis(sentinel_that_names(lambda: ports[0]))
            yield f"redis+sentinel://127.0.0.1:{await stack.enter_async_context(sentinel)}/main"
        else:
            scheme = "redis+cluster" if kind == "cluster" else "redis"
            yield f"{scheme}://127.0.0.1:{ports[0]}"


@pytest.mark.parametrize("kind", ["server", "sentinel", "cluster"])
@pytest.mark.parametrize(("repeatable", "times"), [(True, 2), (False, 1)])
async def test_a_command_whose_connection_breaks_is_sent_once_more_at_most(
    kind: str, repeatable: bool, times: int
) -> None:
    asked: list[str] = []
    async with hanging_up(kind, asked) as url, opened(url) as client:
        with pytest.raises(StoreUnreachableError):
            await client.command("ECHO", "x", repeatable=repeatable)

    assert asked.count("ECHO") == times


async def test_a_text_that_cannot_be_sent_is_no_error_of_those_asked_with_it(store: str) -> None:
    async with opened(store) as client:
        said: Sequence[object] = await asyncio.gather(
            client.command("ECHO", "one"),
            client.command("ECHO", "\ud800"),
            client.command("GETDEL", f"{client.keys.prefix}gone", repeatable=False),
            return_exceptions=True,
        )

    assert (said[0], said[2]) == (b"one", None)
    assert isinstance(said[1], UnicodeEncodeError)


async def test_in_a_cluster_no_reply_is_lost_with_that_of_a_later_command() -> None:
    asked: list[str] = []
    ports: list[int] = []

    def answer(words: Sequence[str]) -> bytes:
        asked.append(words[0])
        replies = {"PING": b"+PONG\r\n", "GETDEL": b"$3\r\nval\r\n"}
        return replies.get(words[0], b"-MOVED 866 127.0.0.1:%d\r\n" % ports[0])

    async with fake_redis(cluster_of_one(lambda: ports[0], answer)) as port:
        ports.append(port)
        async with opened(f"redis+cluster://127.0.0.1:{port}") as client:
            said: Sequence[object] = await asyncio.gather(
                client.command("GETDEL", "a"),
                client.command("GET", "b"),
                return_exceptions=True,
            )

    assert said[0] == b"val"
    assert isinstance(said[1], StoreUnreachableError)
    assert asked.count("GETDEL") == 1


async def test_who_waits_hears_that_what_was_sent_for_him_was_given_up() -> None:
    heard = asyncio.Event()

    def answer(_words: Sequence[str]) -> bytes:
        heard.set()
        return b""

    async with (
        fake_redis(answer) as port,
        opened(f"redis://127.0.0.1:{port}?socket_timeout=60") as client,
    ):
        before = asyncio.all_tasks()
        waiting: asyncio.Task[object] = asyncio.create_task(client.command("PING"))
        await heard.wait()
        for task in asyncio.all_tasks() - before - {waiting}:
            task.cancel()

        with pytest.raises(StoreUnreachableError):
            await asyncio.wait_for(waiting, PATIENCE_SECONDS)


async def test_a_connection_that_died_meanwhile_fails_nothing_that_may_not_be_repeated(
    store: str,
) -> None:
    host, port = read_url(store).hosts[0]
    async with Balancer(lambda: [port]) as way:
        url = store.replace(f"{host}:{port}", f"127.0.0.1:{way.port}")
        async with opened(url) as client:
            for _ in range(3):
                await asyncio.gather(*(client.command("PING") for _ in range(8)))
                way.cut()
                await client.command(
                    "PUBLISH", client.keys.channel("runs:1"), "x", repeatable=False
                )


async def test_a_server_that_became_a_replica_is_left_though_it_lives_on() -> None:
    old, new = Valkey(password=SECRET), Valkey(password=SECRET)
    old.start()
    new.start()
    primary = old
    try:
        async with (
            Balancer(lambda: [primary.port]) as way,
            opened(f"redis://:{SECRET}@127.0.0.1:{way.port}") as client,
            Redis.from_url(old.url) as admin,
        ):
            await asyncio.gather(*(client.command("SET", f"k{n}", "v") for n in range(8)))
            await admin.config_set("masterauth", SECRET)
            await admin.replicaof("127.0.0.1", str(new.port))
            primary = new

            await client.command("SET", "lone", "v")
            await asyncio.gather(*(client.command("SET", f"k{n}", "v") for n in range(8)))
            assert await client.command("GETDEL", "lone", repeatable=False) == b"v"

            async with Redis.from_url(new.url) as other:
                assert await other.exists(*(f"k{n}" for n in range(8))) == 8
    finally:
        old.close()
        new.close()


async def test_a_script_that_the_server_does_not_know_is_sent_whole(redis_url: str) -> None:
    async with opened(redis_url) as client, Redis.from_url(redis_url) as server:
        await server.script_flush()

        assert [await client.run(Script("count_workers"), read=int) for _ in range(2)] == [0, 0]


async def test_while_our_own_loop_is_held_up_a_server_that_answers_is_not_too_slow(
    store: str,
) -> None:
    async with opened(hurried(store, 0.2)) as client:
        await client.command("PING")
        for turns in range(6):
            tasks = [
                asyncio.create_task(client.command("ECHO", "x", repeatable=False, read=bytes))
                for _ in range(20)
            ]
            for _ in range(turns):
                await asyncio.sleep(0)
            hold_up(0.5)

            assert await asyncio.gather(*tasks) == [b"x"] * 20


async def test_a_subscription_outlives_a_loop_that_is_held_up(store: str) -> None:
    async with opened(hurried(store, 0.05)) as client:
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


async def test_of_the_time_of_a_limit_only_that_counts_in_which_the_loop_was_free() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def for_ever() -> None:
        async with LoopTimeout(0.2):
            hold_up(0.4)
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await for_ever()

    assert 0.4 + 0.1 < loop.time() - begun < 5


async def test_a_limit_lets_through_what_is_in_time_and_any_error() -> None:
    async with LoopTimeout(5):
        await asyncio.sleep(0)
    with pytest.raises(KeyError):
        async with LoopTimeout(5):
            raise KeyError


@asynccontextmanager
async def saying(said: bytes, *, at_each: bool = False) -> AsyncIterator[str]:
    """The URL of a server that says this at once, or whenever it is asked something."""
    connections: set[asyncio.Task[None] | None] = set()

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError):
            if not at_each:
                writer.write(said)
            while await reader.read(1_000):
                if at_each:
                    writer.write(said)
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"redis://:{SECRET}@127.0.0.1:{port}?socket_timeout=0.3"
        await asyncio.gather(*filter(None, connections))


_NO_PASSWORD_SET = (
    b"-ERR AUTH <password> called without any password configured for the default user. "
    b"Are you sure your configuration is correct?\r\n"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "cannot be reached (what answers is no Redis"),
        (b"+hello\r\n+OK\r\n", "refuses the login"),
        (b"-ERR max number of clients reached\r\n", "(max number of clients reached)"),
        (_NO_PASSWORD_SET, "refuses the login"),
        (b"-LOADING Redis is loading the dataset in memory\r\n", "still loading its data"),
        (b"", "did not answer within 0.3 s"),
    ],
)
async def test_what_cannot_be_used_is_told_as_what_it_is(said: bytes, told: str) -> None:
    async with saying(said) as url, opened(url) as client:
        with pytest.raises(StoreUnreachableError) as caught:
            await client.command("PING")

    assert told in str(caught.value)
    assert SECRET not in str(caught.value)


async def test_a_connection_on_which_something_came_unasked_is_not_used_again() -> None:
    async with (
        saying(b"+OK\r\n+stray\r\n", at_each=True) as url,
        opened(url.replace(f":{SECRET}@", "")) as client,
    ):
        assert [await client.command("ECHO", "x") for _ in range(3)] == [b"OK"] * 3


async def test_a_client_is_named_as_its_url_says(redis_url: str) -> None:
    async with opened(f"{redis_url}?client_name=night-shift&db=3") as client:
        assert await client.command("CLIENT", "GETNAME") == b"night-shift"
        assert b" db=3 " in await client.command("CLIENT", "INFO")


async def test_closing_waits_for_what_is_under_way_and_cuts_what_has_no_reply(store: str) -> None:
    async with opened(store) as client:
        none = f"{client.keys.prefix}none"
        slow = asyncio.create_task(client.command("BLPOP", none, "0.2", read=str))
        await client.command("PING")  # so that the next one is not sent with it
        for_ever = asyncio.create_task(client.command("BLPOP", none, "0", read=str))
        await client.command("PING")

        await client.aclose()

        assert await slow == "None"
        with pytest.raises(StoreUnreachableError):
            await for_ever
        with pytest.raises(StoreUnreachableError, match="is closed"):
            await client.command("PING")
