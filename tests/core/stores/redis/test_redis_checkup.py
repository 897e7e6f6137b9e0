"""A Redis that cannot do what is needed of it is found out by trying."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from support.valkey_server import Valkey

import sayso.stores.redis as redis_package
from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Issue
from sayso.stores.redis import redis_backend
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.checkup import RedisCheckup
from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url
from sayso.testing import until

ALL = {"keys": ["*"], "channels": ["*"]}
# Of other commands than scripts run: what a connection needs, and sentinels.
_NOT_IN_SCRIPTS = {"SUBSCRIBE", "SENTINEL", "INFO", "CONFIG", "PING"}


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey(appendonly="yes")
    valkey.start()
    yield valkey
    valkey.close()


@pytest.fixture
async def admin(server: Valkey) -> AsyncIterator[Any]:
    async with Redis.from_url(server.url) as client:
        yield client


async def _look(url: str) -> Sequence[Issue]:
    async with redis_backend(url) as backend:
        return await backend.diagnose()


async def _texts(url: str) -> list[str]:
    return [one.text for one in await _look(url)]


async def test_a_redis_that_does_all_is_well_and_nothing_is_left_in_it(
    server: Valkey, admin: Any
) -> None:
    async def nothing_is_left() -> bool:
        return bool(await admin.dbsize() == 0)

    assert await _look(server.url) == []
    await until(nothing_is_left)


async def test_a_read_only_replica_is_found(server: Valkey) -> None:
    replica = Valkey(
        replicaof=f"127.0.0.1 {server.port}", masterauth=server.password, appendonly="yes"
    )
    replica.start()
    try:
        [found] = await _look(replica.url)
    finally:
        replica.close()

    assert found.text.endswith("is a read-only replica: connect to the primary")
    assert found.is_serious


@pytest.mark.parametrize(
    "command", ["hset", "zadd", "xadd", "pexpireat", "xgroup", "getdel", "publish", "hgetall"]
)
async def test_a_command_that_is_not_permitted_is_found(
    server: Valkey, admin: Any, command: str
) -> None:
    await admin.acl_setuser(
        "weak", enabled=True, nopass=True, commands=["+@all", f"-{command}"], **ALL
    )

    first, *_ = await _look(f"redis://weak:x@127.0.0.1:{server.port}")

    assert first.is_serious
    assert f"does not permit this user what Sayso needs ({command.upper()})" in first.text


@pytest.mark.parametrize("command", ["subscribe", "evalsha"])
async def test_what_is_not_permitted_outside_of_scripts_is_found(
    server: Valkey, admin: Any, command: str
) -> None:
    await admin.acl_setuser(
        "weak", enabled=True, nopass=True, commands=["+@all", f"-{command}"], **ALL
    )

    first, *_ = await _look(f"redis://weak:x@127.0.0.1:{server.port}")

    assert first.is_serious
    assert f"'{command}'" in first.text


@pytest.mark.parametrize(
    ("user", "missing"),
    [
        ({"keys": ["other:*"], "channels": ["*"]}, "permit it with `ACL SETUSER weak +@all"),
        ({"keys": ["sayso:{sayso}:", "sayso:{sayso}:r:*"], "channels": ["*"]}, "(DEL"),
        ({"keys": ["*"], "channels": ["other"]}, "PUBLISH"),
        ({"keys": ["*"], "channels": ["sayso:{sayso}:bus:inbox:*"]}, "channels of events"),
    ],
)
async def test_keys_and_channels_that_are_not_permitted_are_found(
    server: Valkey, admin: Any, user: dict[str, list[str]], missing: str
) -> None:
    await admin.acl_setuser("weak", enabled=True, nopass=True, commands=["+@all"], **user)

    found = await _look(f"redis://weak:x@127.0.0.1:{server.port}")

    assert missing in " ".join(one.text for one in found)
    assert all(one.is_serious for one in found)


async def test_the_permissions_that_are_advised_are_enough(server: Valkey, admin: Any) -> None:
    await admin.execute_command(
        "ACL", "SETUSER", "sayso", "on", "nopass", "+@all", "-@admin", "-@dangerous", "+info",
        "~sayso:{sayso}:*", "&sayso:{sayso}:*",
    )  # fmt: skip

    assert await _look(f"redis://sayso:x@127.0.0.1:{server.port}") == []


@pytest.mark.parametrize(
    ("maxmemory", "is_serious", "when"),
    [("100mb", True, "when its memory is full"), ("0", False, "once it has a maxmemory")],
)
async def test_a_policy_that_evicts_is_found(
    server: Valkey, admin: Any, maxmemory: str, when: str, *, is_serious: bool
) -> None:
    await admin.config_set("maxmemory", maxmemory)
    await admin.config_set("maxmemory-policy", "volatile-ttl")

    [found] = await _look(server.url)

    assert found.text == (
        f"Redis drops open questions and remembered rules {when} (maxmemory-policy volatile-ttl): "
        "set maxmemory-policy noeviction"
    )
    assert found.is_serious is is_serious


async def test_a_full_redis_is_found(server: Valkey, admin: Any) -> None:
    await admin.config_set("maxmemory", "1")

    first, *_ = await _look(server.url)

    assert first.text.endswith("is out of memory: raise maxmemory")
    assert first.is_serious


@pytest.mark.parametrize(
    ("save", "text"),
    [
        ("", "Redis keeps nothing: a restart loses open questions and remembered rules"),
        ("3600 1", "Redis keeps snapshots only: a crash loses what came after the last one"),
    ],
)
async def test_a_redis_that_does_not_keep_its_data_is_found(save: str, text: str) -> None:
    server = Valkey(save=save)
    server.start()
    try:
        [found] = await _look(server.url)
    finally:
        server.close()

    assert found == Issue(f"{text}; set appendonly yes", is_serious=False)


@pytest.mark.parametrize(
    ("off", "told", "is_serious"),
    [
        (1.5, "", False),
        (-1.5, "", False),
        (3.5, "behind", False),
        (-3.5, "ahead of", False),
        (299.0, "behind", False),
        (303.0, "behind", True),
    ],
)
async def test_a_clock_that_is_more_than_two_seconds_off_is_found(
    server: Valkey, off: float, told: str, *, is_serious: bool
) -> None:
    client = Client(read_url(server.url))
    checkup = RedisCheckup(client, RedisBus(client), clock=lambda: time.time() + off)

    found = await checkup.look()

    await client.aclose()
    assert [one.is_serious for one in found] == ([is_serious] if told else [])
    assert all(f"s {told} that of this machine: set both by NTP" in one.text for one in found)


async def test_a_slow_round_trip_makes_no_clock_wrong(server: Valkey) -> None:
    client = Client(read_url(server.url))
    asked = iter([time.time() - 400, time.time() + 400])
    checkup = RedisCheckup(client, RedisBus(client), clock=lambda: next(asked))

    found = await checkup.look()

    await client.aclose()
    assert found == []


async def test_keys_that_do_not_expire_are_found(server: Valkey) -> None:
    async def no_time_passes(_seconds: float) -> None:
        return

    client = Client(read_url(server.url))

    [found] = await RedisCheckup(client, RedisBus(client), sleep=no_time_passes).look()

    await client.aclose()
    assert "does not expire keys in time" in found.text


async def test_a_redis_that_is_away_is_an_error_or_said() -> None:
    with pytest.raises(StoreUnreachableError):
        await _look("redis://127.0.0.1:1")


def test_all_commands_that_scripts_and_modules_use_are_tried_out() -> None:
    folder = Path(str(redis_package.__file__)).parent
    scripts = {path.name: path.read_text() for path in (folder / "scripts").glob("*.lua")}
    tried = set(re.findall(r"(?:try|pcall)\('([A-Z]+)'", scripts.pop("try_commands.lua")))
    used = set(re.findall(r"call\(\s*'([A-Z]+)'", " ".join(scripts.values())))
    modules = " ".join(path.read_text() for path in folder.glob("*.py"))
    used |= set(re.findall(r"(?:command\(|packed\(\()\s*\"([A-Z]+)\"", modules))

    assert used - tried - _NOT_IN_SCRIPTS == set()
