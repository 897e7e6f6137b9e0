"""Real servers in every arrangement that a store may have, with the things that go wrong there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError
from support.balancer import Balancer
from support.ports import free_port
from support.valkey_server import Valkey

from sayso.testing import until

PASSWORD = "s3cret"
SENTINEL_PASSWORD = "sentinel-s3cret"
SLOTS = 16_384
_KEPT = {"appendonly": "yes", "appendfsync": "always"}

Trouble = Callable[[float], Awaitable[None]]
"""Something goes wrong for so many seconds; when it returns, it is over."""


@dataclass(frozen=True)
class Topology:
    """A store: its URL, the servers behind it, and what can happen to them by name.

    No trouble loses a write that was answered.
    """

    name: str
    url: str
    servers: Sequence[Valkey]
    troubles: Mapping[str, Trouble] = field(default_factory=dict)


@asynccontextmanager
async def single() -> AsyncIterator[Topology]:
    """One server that keeps every write, behind a wire that can be cut and held."""
    server = Valkey(password=PASSWORD, **_KEPT)
    server.start()

    async def killed(seconds: float) -> None:
        server.kill()
        await asyncio.sleep(seconds)
        await asyncio.to_thread(server.start)

    async def held(seconds: float) -> None:
        wire.hold()
        await asyncio.sleep(seconds)
        wire.go_on()

    async def cut(seconds: float) -> None:
        wire.refuse()
        await asyncio.sleep(seconds)
        wire.go_on()

    async def swallowing(seconds: float) -> None:
        wire.swallow()
        await asyncio.sleep(seconds)
        wire.go_on()

    try:
        async with Balancer(lambda: [server.port]) as wire:
            yield Topology(
                "single",
                f"redis://:{PASSWORD}@127.0.0.1:{wire.port}",
                [server],
                {
                    "server killed": killed,
                    "server paused": _pausing(server),
                    "wire held": held,
                    "wire cut": cut,
                    "publishes swallowed": swallowing,
                },
            )
    finally:
        server.close()


@contextmanager
def watched_servers(*, down_after_ms: int) -> Iterator[tuple[Valkey, Valkey, Valkey]]:
    """A primary, its replica, and a sentinel that watches them as ``main``."""
    first = Valkey(password=PASSWORD, masterauth=PASSWORD, repl_diskless_sync_delay="0", **_KEPT)
    second = Valkey(
        password=PASSWORD,
        masterauth=PASSWORD,
        repl_diskless_sync_delay="0",
        replicaof=f"127.0.0.1 {first.port}",
        **_KEPT,
    )
    watcher = Valkey(password=SENTINEL_PASSWORD)
    settings = watcher.folder / "sentinel.conf"
    settings.write_text(
        f"sentinel monitor main 127.0.0.1 {first.port} 1\n"
        f"sentinel auth-pass main {PASSWORD}\n"
        f"sentinel down-after-milliseconds main {down_after_ms}\n"
        "sentinel failover-timeout main 2000\n"
    )
    try:
        first.start()
        second.start()
        watcher.start(str(settings), "--sentinel")
        yield first, second, watcher
    finally:
        for server in (first, second, watcher):
            server.close()


@asynccontextmanager
async def sentinel() -> AsyncIterator[Topology]:
    """Watched servers of which the primary changes, and no write is lost when it does."""
    # The sentinel is told to fail over; on its own it would also do so when the machine is busy.
    with watched_servers(down_after_ms=10_000) as (first, second, watcher):

        async def failed_over(seconds: float) -> None:
            old = await _with_role([first, second], "master")
            new = second if old is first else first
            await until(lambda: is_replica_known(old, new, watcher))
            await _quiet_and_equal(old, new)
            async with _watching(watcher) as client:
                await client.execute_command("SENTINEL", "FAILOVER", "main")
            await until(lambda: _has_role(new, "master"))
            old.kill()
            await asyncio.sleep(seconds)
            # Left to itself, a sentinel makes a replica of it after eight seconds.
            old.options["replicaof"] = f"127.0.0.1 {new.port}"
            await asyncio.to_thread(old.start)
            await until(lambda: is_replica_known(new, old, watcher))

        await until(lambda: is_replica_known(first, second, watcher))
        yield Topology(
            "sentinel",
            sentinel_url(watcher),
            [first, second, watcher],
            {"failed over": failed_over, "connections killed": _hanging_up([first, second])},
        )


def sentinel_url(watcher: Valkey) -> str:
    """The address of a store that is found by asking a sentinel, the second one that is named."""
    return (
        f"redis+sentinel://:{PASSWORD}@127.0.0.1:1,127.0.0.1:{watcher.port}/main/0"
        f"?sentinel_password={SENTINEL_PASSWORD}"
    )


@asynccontextmanager
async def cluster() -> AsyncIterator[Topology]:
    """Three nodes that share all slots, each with a replica."""
    nodes = [cluster_node() for _ in range(6)]
    primaries, replicas = nodes[:3], nodes[3:]
    servers = [server for server, _ in nodes]
    names: dict[int, str] = {}

    async def failed_over(seconds: float) -> None:
        for server in servers:
            if await _has_role(server, "slave"):
                async with _client(server) as client:
                    await client.execute_command("CLUSTER", "FAILOVER")
                await until(partial(_has_role, server, "master"))
        await asyncio.sleep(seconds)

    try:
        for server in servers:
            server.start()
        await joined(nodes)
        for number, (server, _) in enumerate(primaries):
            async with _client(server) as client:
                names[number] = (await client.execute_command("CLUSTER", "MYID")).decode()
        for number, (server, _) in enumerate(replicas):
            async with _client(server) as client:
                await client.execute_command("CLUSTER", "REPLICATE", names[number])
            await until(partial(_is_linked, server))
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
        yield Topology(
            "cluster",
            f"redis+cluster://:{PASSWORD}@{hosts}",
            servers,
            {"failed over": failed_over, "connections killed": _hanging_up(servers)},
        )
    finally:
        for server in servers:
            server.close()


def cluster_node() -> tuple[Valkey, int]:
    """A node that knows no other yet, and the port on which they will talk to it."""
    bus_port = free_port()
    server = Valkey(
        password=PASSWORD,
        masterauth=PASSWORD,
        cluster_enabled="yes",
        cluster_port=str(bus_port),
        cluster_node_timeout="15000",
        repl_diskless_sync_delay="0",
        **_KEPT,
    )
    return server, bus_port


async def joined(nodes: Sequence[tuple[Valkey, int]]) -> None:
    """The first three own all slots, and all of them know each other."""
    bounds = [0, 5_461, 10_923, SLOTS]
    for number, (server, _) in enumerate(nodes):
        async with _client(server) as client:
            if number < 3:
                await client.execute_command(
                    "CLUSTER", "ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1
                )
            await client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    async with _client(nodes[0][0]) as client:
        for server, bus_port in nodes[1:]:
            await client.execute_command("CLUSTER", "MEET", "127.0.0.1", server.port, bus_port)

    async def all_agree() -> bool:
        for server, _ in nodes:
            async with _client(server) as client:
                said = str(await client.execute_command("CLUSTER", "INFO"))
            if "cluster_state:ok" not in said or f"known_nodes:{len(nodes)}" not in said:
                return False
        return True

    await until(all_agree)


def _client(server: Valkey) -> Any:
    return Redis.from_url(server.url)


def _watching(watcher: Valkey) -> Any:
    return Redis(port=watcher.port, password=SENTINEL_PASSWORD)


async def is_replica_known(primary: Valkey, replica: Valkey, watcher: Valkey) -> bool:
    """Whether a sentinel knows of the replica and the replica has all that there is."""
    try:
        if not await _is_linked(replica):
            return False
        async with _watching(watcher) as client:
            known = await client.execute_command("SENTINEL", "REPLICAS", "main")
            where = await client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    except RedisError:
        return False
    return str(replica.port) in str(known) and str(primary.port) in str(where)


async def _is_linked(replica: Valkey) -> bool:
    async with _client(replica) as client:
        state = await client.info("replication")
    return bool(state.get("master_link_status") == "up")


async def _has_role(server: Valkey, role: str) -> bool:
    try:
        async with _client(server) as client:
            return bool((await client.info("replication"))["role"] == role)
    except (RedisError, OSError):
        return False


async def _with_role(servers: Sequence[Valkey], role: str) -> Valkey:
    found: list[Valkey] = []

    async def is_found() -> bool:
        found[:] = [server for server in servers if await _has_role(server, role)]
        return bool(found)

    await until(is_found)
    return found[0]


async def _quiet_and_equal(primary: Valkey, replica: Valkey) -> None:
    """Nothing is written from now on, and the replica has all that was."""
    async with _client(primary) as client:
        await client.execute_command("CLIENT", "PAUSE", "10000", "WRITE")

        async def is_equal() -> bool:
            state = await client.info("replication")
            async with _client(replica) as other:
                theirs = await other.info("replication")
            return bool(theirs["slave_repl_offset"] >= state["master_repl_offset"])

        await until(is_equal)


def _pausing(server: Valkey) -> Trouble:
    async def paused(seconds: float) -> None:
        server.stop_answering()
        await asyncio.sleep(seconds)
        server.answer_again()

    return paused


def _hanging_up(servers: Sequence[Valkey]) -> Trouble:
    async def hung_up(seconds: float) -> None:
        for server in servers:
            for kind in ("normal", "pubsub"):
                with suppress(RedisError, OSError):
                    async with _client(server) as client:
                        await client.execute_command("CLIENT", "KILL", "TYPE", kind)
        await asyncio.sleep(seconds)

    return hung_up
