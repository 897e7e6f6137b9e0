"""The store's connection to Redis, by redis-py: one server, Sentinel or Cluster."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from itertools import count
from typing import Any, TypeVar

from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.client import PubSub
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterError,
    ConnectionError,  # noqa: A004  redis-py's own
    MasterDownError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    TryAgainError,
)

from sayso.errors import SaysoError, StoreUnreachableError
from sayso.stores.home import Home
from sayso.stores.redis.batching import Batcher, Words
from sayso.stores.redis.diagnostics import REDIS_ERRORS, explain, is_denied
from sayso.stores.redis.loop_timeout import LoopTimeout
from sayso.stores.redis.script import Script
from sayso.stores.redis.url import StoreUrl

MAX_WAITING = 100_000
_CONNECTIONS = 8
# Connections of those who listen come on top of the above.
_MAX_POOL = 10_000
_CLOSING_SECONDS = 0.5

# redis-py repeats any command up to ten times by itself. What may be repeated is decided here.
_NO_RETRIES = Retry(NoBackoff(), 0)
# Its time limits run while our own loop is busy, and then take replies for lost that have come.
_OPTIONS = {
    "retry": _NO_RETRIES,
    "socket_timeout": None,
    "socket_connect_timeout": None,
    "protocol": 2,
    "driver_info": None,
    "max_connections": _MAX_POOL,
}

# Nothing was done, and trying once more is of no use either.
_REFUSED = (AuthenticationError, BusyLoadingError)
# Nothing was done: another server holds our keys now.
_ELSEWHERE = (
    AskError,
    ClusterError,
    MasterDownError,
    ReadOnlyError,
    RedisClusterException,
    TryAgainError,
)
# Connections of before, and the map of a cluster, are of no use any more.
_GONE = (ConnectionError, OSError, TimeoutError, *_ELSEWHERE)
# A reply that cannot be read raises one of these where it is taken apart.
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, AssertionError)

Argument = bytes | str | int
_T = TypeVar("_T")


def _as_it_is(reply: Any) -> Any:
    return reply


class Client:
    """Runs commands and scripts; those that are issued together arrive in their order.

    At most eight batches are under way, and ``max_waiting`` commands wait for their turn, as
    long as the server goes on answering. Where it answers nothing any more, a call ends within
    twice the URL's timeout, of which the time is not counted in which something else holds up
    our event loop.

    A command is sent again, once, where the connection broke before its reply came or where
    another server holds our keys now. After silence nothing is sent again.
    """

    def __init__(self, url: StoreUrl, *, max_waiting: int = MAX_WAITING) -> None:
        self.url = url
        self.keys = url.keys
        self.home = Home()
        self._redis, self._sentinel = _open(url)
        self._batcher = Batcher(self._send_batch, max_batches=_CONNECTIONS)
        self._max_waiting = max_waiting
        self._is_closed = False
        self._own = secrets.token_urlsafe(9)
        self._numbers = count(1)

    def token(self) -> str:
        """A name for one call, so that its repetition is known as such."""
        return f"{self._own}{next(self._numbers)}"

    async def run(
        self, script: Script, *arguments: Argument, read: Callable[[Any], _T] = _as_it_is
    ) -> _T:
        """Run a script and read its reply; its first key is the prefix of all keys.

        Raises:
            StoreUnreachableError: no answer, an error, a reply that cannot be read, or too
                much waits already.
        """
        with self.explained():
            words = (1, self.keys.prefix, *arguments)
            try:
                reply = await self._reply(("EVALSHA", script.sha, *words))
            except NoScriptError:
                reply = await self._reply(("EVAL", script.text, *words))
        return self.read(reply, read)

    async def command(
        self,
        *words: Argument,
        repeatable: bool = True,
        read: Callable[[Any], _T] = _as_it_is,
    ) -> _T:
        """Send one command and read its reply, as redis-py hands it over.

        Raises:
            StoreUnreachableError: as for ``run``.
        """
        with self.explained():
            if not repeatable:
                # A connection that died meanwhile is noticed by what may be repeated.
                await self._reply(("PING",))
            reply = await self._reply(words, repeatable=repeatable)
        return self.read(reply, read)

    async def wait(
        self, *words: Argument, seconds: float, read: Callable[[Any], _T] = _as_it_is
    ) -> _T:
        """Send a command whose reply the server may hold back for so many seconds, once.

        It takes nobody's turn.

        Raises:
            StoreUnreachableError: as for ``run``.
        """
        with self.explained():
            reply = await self._send_alone(words, seconds + self.url.seconds)
        return self.read(reply, read)

    @asynccontextmanager
    async def subscribe(self, channel: str) -> AsyncIterator[Subscription]:
        """Hear what is published on a channel while the block runs.

        Raises:
            StoreUnreachableError: the subscription was not made.
        """
        self._check()
        async with AsyncExitStack() as stack:
            with self.explained():
                async with LoopTimeout(self.url.seconds):
                    if isinstance(self._redis, RedisCluster):
                        await self._redis.initialize()
                    pubsub = await stack.enter_async_context(self._redis.pubsub())
                    subscription = Subscription(self, pubsub)
                    await pubsub.subscribe(channel)
                    await subscription.confirm()
            yield subscription

    async def aclose(self) -> None:
        """Wait a moment for what is under way, then close all connections."""
        try:
            await self._batcher.aclose(_CLOSING_SECONDS, ConnectionError("it was closed here"))
        finally:
            self._is_closed = True
            with suppress(TimeoutError, *REDIS_ERRORS):
                async with asyncio.timeout(_CLOSING_SECONDS):
                    await self._disconnect()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn redis-py's errors into StoreUnreachableError."""
        try:
            yield
        except REDIS_ERRORS as error:
            unusable = StoreUnreachableError(explain(self.url, error))
            unusable.is_denied = is_denied(error)
            raise unusable from error

    def read(self, reply: Any, read: Callable[[Any], _T]) -> _T:
        """Take a reply apart.

        Raises:
            StoreUnreachableError: it is none to what was asked.
        """
        try:
            return read(reply)
        except SaysoError:
            raise
        except _MALFORMED as error:
            raise StoreUnreachableError(
                f"Redis at {self.url.address} answers what cannot be read: {reply!r:.80}"
            ) from error

    def _check(self) -> None:
        self.home.check()
        if self._is_closed:
            raise StoreUnreachableError(f"the connection to Redis at {self.url.address} is closed")

    async def _reply(self, words: Words, *, repeatable: bool = True) -> Any:
        """The reply to a command that may be sent again as the class says, or REDIS_ERRORS."""
        # The reply of one that may not is lost with nobody else's.
        send = self._add if repeatable else self._send_alone
        try:
            return await send(words)
        except _REFUSED:
            raise
        except _ELSEWHERE:
            pass
        except ConnectionError:
            if not repeatable:
                raise
        return await send(words)

    async def _send_alone(self, words: Words, seconds: float | None = None) -> Any:
        self._check()
        (reply,) = await self._send([words], seconds or self.url.seconds)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _add(self, words: Words) -> asyncio.Future[Any]:
        self._check()
        if self._batcher.waiting >= self._max_waiting:
            raise StoreUnreachableError(
                f"{self._batcher.waiting} commands wait for Redis at {self.url.address} already, "
                "which is as much as this process holds: ask less at once"
            )
        # A text that cannot be sent is an error of who sends it, not of the others.
        encoded = (word.encode() if isinstance(word, str) else word for word in words[1:])
        return self._batcher.add((words[0], *encoded))

    async def _send_batch(self, batch: Sequence[Words]) -> Sequence[Any]:
        return await self._send(batch, self.url.seconds)

    async def _send(self, batch: Sequence[Words], seconds: float) -> Sequence[Any]:
        """The replies to commands that are sent once; one that is an error is an item."""
        try:
            if isinstance(self._redis, RedisCluster):
                replies = await self._execute_in_cluster(self._redis, batch, seconds)
            else:
                async with LoopTimeout(seconds):
                    replies = await _execute(self._redis, batch)
        except REDIS_ERRORS as error:
            if isinstance(error, _GONE):
                await self._find_server_again()
            raise
        if any(isinstance(reply, _GONE) for reply in replies):
            await self._find_server_again()
        return replies

    async def _execute_in_cluster(
        self, cluster: RedisCluster, batch: Sequence[Words], seconds: float
    ) -> Sequence[Any]:
        """One after another, and ``seconds`` for each: no reply is lost with a later one."""
        replies: list[Any] = []
        for words in batch:
            try:
                async with LoopTimeout(seconds):
                    await cluster.initialize()
                    # All keys are in one slot, and what has no key goes where they are.
                    node = cluster.get_node_from_key(self.keys.prefix)
                    replies.append(await cluster.execute_command(*words, target_nodes=node))
            except TimeoutError as error:
                if not replies:
                    raise
                return [*replies, *(error for _ in batch[len(replies) :])]
            except REDIS_ERRORS as error:
                replies.append(error)
        return replies

    async def _disconnect(self) -> None:
        await self._redis.aclose()
        if isinstance(self._redis, RedisCluster):
            # Once it has given up its map after an error, it closes nothing.
            nodes = (*self._redis.get_nodes(), *self._redis.startup_nodes)
            await asyncio.gather(*(node.disconnect() for node in nodes))
        if self._sentinel is not None:
            await self._sentinel.aclose()

    async def _find_server_again(self) -> None:
        """Use no connection again that stood until now, nor the map of the cluster.

        redis-py would go on talking to a former primary that lives on as a replica.
        """
        with suppress(TimeoutError, *REDIS_ERRORS):
            async with LoopTimeout(self.url.seconds):
                if isinstance(self._redis, RedisCluster):
                    await self._redis.aclose()
                else:
                    await self._redis.connection_pool.disconnect(inuse_connections=False)
                if self._sentinel is not None:
                    await self._sentinel.aclose()


async def _execute(redis: Redis, batch: Sequence[Words]) -> Sequence[Any]:
    if len(batch) == 1:  # a pipeline costs more
        return [await redis.execute_command(*batch[0])]  # type: ignore[no-untyped-call]
    pipeline = redis.pipeline(transaction=False)
    for words in batch:
        pipeline.execute_command(*words)
    return await pipeline.execute(raise_on_error=False)


class Subscription:
    """What is published on one channel, until its connection breaks.

    redis-py connects and subscribes again by itself: what was published meanwhile is
    missing, so the subscription is lost all the same.
    """

    def __init__(self, client: Client, pubsub: PubSub) -> None:
        self._client = client
        self._pubsub = pubsub

    async def confirm(self) -> None:
        """Return when the server has confirmed the subscription.

        Raises:
            StoreUnreachableError: it says something else.
        """
        reply = await self._pubsub.parse_response(block=True)
        if self._client.read(reply, _read_push)[0] != b"subscribe":
            raise ConnectionError("the subscription was not confirmed")

    async def next(self, seconds: float) -> bytes | None:
        """The next message; None when none comes in that time.

        Raises:
            StoreUnreachableError: the subscription is lost.
        """
        with self._client.explained():
            try:
                async with LoopTimeout(seconds):
                    reply = await self._pubsub.parse_response(block=True)
            except TimeoutError:
                return None
            kind, data = self._client.read(reply, _read_push)
            if kind != b"message":
                raise ConnectionError("the server closed the connection")
            return data


def _read_push(reply: Any) -> tuple[bytes, bytes]:
    """The kind of what comes on a connection that is subscribed, and its data."""
    kind, _, data = reply
    if not isinstance(kind, bytes):
        raise TypeError("not a kind")
    return kind, data


def _open(url: StoreUrl) -> tuple[Redis | RedisCluster, Sentinel | None]:
    """redis-py's client for a URL; with the one for its sentinels, where it has some."""
    options: dict[str, Any] = {**url.options, **_OPTIONS}
    if url.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in url.hosts]
        # Our keys are in one slot: what becomes of the others is not our concern, and where a
        # slot moved to is followed without asking for the whole map again.
        cluster = RedisCluster(
            startup_nodes=nodes, require_full_coverage=False, reinitialize_steps=0, **options
        )
        return cluster, None
    if url.kind == "sentinel":
        # One sentinel that is silent must leave time to ask the others. A reply that comes late
        # loses nothing here: another sentinel is asked.
        share = url.seconds / (len(url.hosts) + 1)
        of_sentinels = {**url.sentinel_options, **_OPTIONS, "socket_timeout": share}
        sentinel = Sentinel(  # type: ignore[no-untyped-call]
            url.hosts, sentinel_kwargs=of_sentinels, **options
        )
        return sentinel.master_for(url.service), sentinel
    if url.path:
        return Redis(unix_socket_path=url.path, **options), None
    host, port = url.hosts[0]
    return Redis(host=host, port=port, **options), None
