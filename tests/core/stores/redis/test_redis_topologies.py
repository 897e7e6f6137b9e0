"""The same code on a cluster, behind sentinels, over TLS and on a unix socket."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from support.fake_redis import fake_redis, sentinel_that_names
from support.topologies import (
    PASSWORD,
    SENTINEL_PASSWORD,
    cluster_node,
    is_replica_known,
    joined,
    sentinel_url,
    watched_servers,
)
from support.valkey_server import Valkey

from sayso import Gate, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.errors import StoreUnreachableError
from sayso.stores.redis import redis_backend
from sayso.stores.redis.url import read_url
from sayso.testing import a_copy, a_request, a_response, soon, until
from sayso.testing.builders import PATIENCE_SECONDS


async def _ask_and_answer(url: str) -> None:
    """The whole way of a question, over two connections to the store."""
    async with (
        redis_backend(url) as agents,
        redis_backend(url) as bots,
        bots.outbox.jobs("desk") as jobs,
    ):
        gate = Gate(agents, GateOptions(RunRef("bot", "s-1")))
        check = asyncio.create_task(gate.check(ToolCall("tool", {"n": 1})))
        job = await soon(jobs)
        copy = a_copy(job.question_id)
        await bots.copies.issue(copy)
        found = await bots.copies.find(copy.handle, delivery="slack:1")
        assert found is not None
        answer = a_response(found.request)  # type: ignore[arg-type]  # it is a permission
        settled = await bots.store.settle(job.question_id, answer)
        await bots.outbox.done(job)
        async with asyncio.timeout(PATIENCE_SECONDS):
            verdict = await check

        assert settled.first
        assert settled.heard == 1
        assert verdict.approved
        assert await bots.store.expire_due() is None


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[Valkey]]:
    """Three nodes that share all slots."""
    joining = [cluster_node() for _ in range(3)]
    nodes = [node for node, _ in joining]
    try:
        for node in nodes:
            node.start()
        asyncio.run(joined(joining))
        yield nodes
    finally:
        for node in nodes:
            node.close()


# The names fall on slots of different nodes.
@pytest.mark.parametrize("namespace", ["one", "two", "three", "four", "five"])
async def test_a_question_is_answered_on_a_cluster(cluster: list[Valkey], namespace: str) -> None:
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in cluster)

    await _ask_and_answer(f"redis+cluster://:{PASSWORD}@{hosts}?namespace={namespace}")


async def test_one_node_of_a_cluster_is_enough_to_find_the_others(cluster: list[Valkey]) -> None:
    for number, node in enumerate(cluster):
        await _ask_and_answer(
            f"redis+cluster://:{PASSWORD}@127.0.0.1:1,127.0.0.1:{node.port}?namespace=a{number}"
        )


async def test_a_slot_that_moves_to_another_node_is_followed(cluster: list[Valkey]) -> None:
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in cluster)
    request = a_request()
    async with redis_backend(f"redis+cluster://:{PASSWORD}@{hosts}?namespace=moving") as backend:
        await backend.outbox.count_workers()
        clients: list[Any] = [Redis.from_url(node.url) for node in cluster]
        slot = await clients[0].execute_command("CLUSTER", "KEYSLOT", "sayso:{moving}:due")
        names = [(await client.execute_command("CLUSTER", "MYID")).decode() for client in clients]
        owner = [0, 5461, 10923, 16384].index(max(n for n in (0, 5461, 10923) if n <= slot))
        for client in clients:
            await client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", names[(owner + 1) % 3])
            await client.aclose()

        await backend.store.open(request, seconds=30, inbox="", book=None)

        assert (await backend.store.settle(request.question_id, a_response(request))).first


@pytest.fixture
def sentinel() -> Iterator[tuple[Valkey, Valkey, Valkey]]:
    """A primary, its replica, and a sentinel that watches them as ``main``."""
    with watched_servers(down_after_ms=300) as servers:
        yield servers


async def test_a_question_is_answered_behind_sentinels_and_after_a_failover(
    sentinel: tuple[Valkey, Valkey, Valkey],
) -> None:
    primary, replica, watcher = sentinel
    url = sentinel_url(watcher)

    async def it_answers_again() -> bool:
        try:
            await backend.store.open(a_request("after"), seconds=30, inbox="", book=None)
        except StoreUnreachableError:
            return False
        return True

    await _ask_and_answer(url)
    await until(lambda: is_replica_known(primary, replica, watcher))
    async with redis_backend(url) as backend:
        await backend.outbox.count_workers()
        primary.kill()
        await until(it_answers_again)
        await _ask_and_answer(f"{url}&namespace=other")
        async with Redis.from_url(replica.url) as client:
            assert await client.exists("sayso:{sayso}:r:after")


async def test_a_service_that_no_sentinel_knows_is_a_clear_error(
    sentinel: tuple[Valkey, Valkey, Valkey],
) -> None:
    url = (
        f"redis+sentinel://:{PASSWORD}@127.0.0.1:{sentinel[2].port}/other"
        f"?sentinel_password={SENTINEL_PASSWORD}"
    )
    async with redis_backend(url) as backend:
        with pytest.raises(StoreUnreachableError, match="no sentinel knows the service 'other'"):
            await backend.outbox.count_workers()


async def test_a_question_is_answered_on_a_unix_socket(tmp_path: Path) -> None:
    server = Valkey(password=PASSWORD, unixsocket=str(tmp_path / "s"))
    server.start()
    try:
        await _ask_and_answer(f"unix://:{PASSWORD}@{tmp_path / 's'}?db=3")
    finally:
        server.close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A folder with a key and a certificate for 127.0.0.1 that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    name = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt")]
    subprocess.run(
        [openssl, "req", *kind, *name, *files],
        check=True,
        capture_output=True,
    )
    return tmp_path


@pytest.fixture
async def tls_port(certificate: Path, redis_url: str) -> AsyncIterator[int]:
    """TLS in front of the server; the server of these tests speaks none."""
    url = read_url(redis_url)
    if url.kind != "server" or not url.hosts:
        pytest.skip("needs a server on TCP")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "crt", certificate / "key")

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        sink.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(*url.hosts[0])
        await asyncio.gather(
            carry(reader, to_server), carry(from_server, writer), return_exceptions=True
        )

    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


async def test_a_question_is_answered_over_tls(
    tls_port: int, certificate: Path, store_url: str
) -> None:
    host, port = read_url(store_url).hosts[0]
    url = store_url.replace("redis://", "rediss://").replace(
        f"{host}:{port}", f"127.0.0.1:{tls_port}"
    )

    await _ask_and_answer(f"{url}&ssl_ca_certs={certificate / 'crt'}")


async def test_sentinels_are_asked_over_tls_too(
    tls_port: int, certificate: Path, store_url: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "crt", certificate / "key")
    known = read_url(store_url)
    password = known.options["password"]
    login = f":{password}@" if password else ""
    trusted = f"ssl_ca_certs={certificate / 'crt'}&namespace={known.keys.namespace}"

    async with fake_redis(sentinel_that_names(lambda: tls_port), tls=context) as port:
        await _ask_and_answer(f"rediss+sentinel://{login}127.0.0.1:{port}/main?{trusted}")


async def test_a_certificate_that_is_not_trusted_is_a_clear_error(
    tls_port: int, store_url: str
) -> None:
    host, port = read_url(store_url).hosts[0]
    url = store_url.replace("redis://", "rediss://").replace(
        f"{host}:{port}", f"127.0.0.1:{tls_port}"
    )

    async with redis_backend(url) as backend:
        with pytest.raises(StoreUnreachableError, match=r"(?i)certificate"):
            await backend.outbox.count_workers()
