"""The users of ``deploy/redis.acl``: as the workers' all promises are kept, agents have less."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError
from support.redis_users import FILE, Users, redis_users

import sayso.stores.redis as redis_package
import sayso.testing
from sayso.errors import StoreUnreachableError
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule

# What is said on a connection before anything else, and to those who look.
_OF_CONNECTIONS = {"auth", "hello", "ping", "client|setname", "unsubscribe", "eval", "evalsha"}
# `check` looks at what the server says of itself where it may.
_OPTIONAL = {"config", "sentinel"}


@pytest.fixture(scope="module")
def users() -> Iterator[Users]:
    with redis_users() as opened:
        yield opened


@pytest.fixture
async def admin(users: Users) -> AsyncIterator[Any]:
    """An empty server, as the one who may do everything."""
    client: Any
    async with Redis.from_url(users.admin) as client:
        await client.flushall()
        yield client


@pytest.fixture
def store(users: Users, admin: Any) -> str:
    """An empty store, as a worker's user, for the contracts."""
    return users.workers


_OF_PLATFORMS = {f"sayso.testing.{name}_contract" for name in ("adapter", "caller", "platform")}
# Every contract of a store, in place of the ones on a server where everything is permitted.
for _name in sayso.testing.__all__:
    _contract = getattr(sayso.testing, _name)
    if _name.endswith("Contract") and _contract.__module__ not in _OF_PLATFORMS:
        globals()[f"TestWorkers{_name}"] = type(f"TestWorkers{_name}", (_contract,), {})


async def test_workers_lack_no_permission(users: Users, admin: Any) -> None:
    async with redis_backend(users.workers) as backend:
        assert [one.text for one in await backend.diagnose()] == []


def test_workers_have_the_commands_that_are_used_and_no_others() -> None:
    folder = Path(str(redis_package.__file__)).parent
    text = " ".join(path.read_text() for path in (folder / "scripts").glob("*.lua"))
    used = {name.lower() for name in re.findall(r"(?:call|try)\(\s*'([A-Z]+)'", text)}
    modules = " ".join(path.read_text() for path in folder.glob("*.py"))
    used |= {name.lower() for name in re.findall(r"(?:command|wait)\(\s*\"([A-Z]+)\"", modules)}
    used.add("subscribe")

    permitted = {
        command.partition("|")[0] if command not in _OF_CONNECTIONS else command
        for command in re.findall(r" \+(\S+)", _line("sayso-workers"))
    }

    assert permitted - _OF_CONNECTIONS == used - _OPTIONAL


def _line(user: str) -> str:
    [line] = [line for line in FILE.read_text().splitlines() if line.split()[1] == user]
    return line


def test_nobody_gets_in_before_a_password_is_set() -> None:
    assert not re.search(r" (nopass|>\S+|#\S+)", FILE.read_text())
    assert FILE.read_text().startswith("user default off\n")


@pytest.mark.parametrize(
    "command",
    [
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("KEYS", "*"),
        ("SCRIPT", "FLUSH"),
        ("GET", "other"),
        ("GET", "sayso:{other}:floor"),
        ("GET", "sayso:{sayso}:draft:x"),
        ("GET", "sayso:{sayso}:document:mcp"),
        ("DEL", "sayso:{sayso}:floor"),
        ("DEL", "sayso:{sayso}:rule:x"),
        ("SET", "sayso:{sayso}:rule:x", ""),
        ("DEL", "sayso:{sayso}:jobs"),
        ("HSET", "sayso:{sayso}:limits", "agent", "1000000"),
        ("HSET", "sayso:{sayso}:book:agent.x", "v", "1"),
        ("XREADGROUP", "GROUP", "desks", "me", "STREAMS", "sayso:{sayso}:jobs", ">"),
        ("SUBSCRIBE", "sayso:{other}:bus:inbox:x"),
    ],
)
async def test_agents_reach_neither_other_data_nor_what_workers_decide_by(
    users: Users, admin: Any, command: tuple[str, ...]
) -> None:
    client: Any
    async with Redis.from_url(users.agents) as client:
        with pytest.raises(NoPermissionError):
            await client.execute_command(*command)


async def test_mcp_proxies_note_their_calls_as_the_agents_user(users: Users, admin: Any) -> None:
    async with redis_backend(users.agents) as backend:
        key = "document:mcp:call:1"
        assert await backend.key_value.compare_and_set(key, None, "text", seconds=60)
        assert await backend.key_value.get(key) == "text"
        assert await backend.outbox.count_workers() == 0


@pytest.mark.parametrize("left", [{}, {"x": "forged"}, {"b": "elsewhere"}])
async def test_a_rule_is_revoked_whatever_an_agents_user_writes_about_it(
    users: Users, admin: Any, left: dict[str, str]
) -> None:
    request, rule = a_request("q-1"), a_rule()
    key = f"sayso:{{sayso}}:rule:{rule.rule_id}"
    async with redis_backend(users.workers) as backend:
        await backend.store.open(request, seconds=60, inbox="", book=None)
        await backend.store.settle("q-1", a_response(request), remember=rule)
        agent: Any
        async with Redis.from_url(users.agents) as agent:
            await agent.pexpireat(key, 1) if not left else await agent.hset(key, mapping=left)

        assert await backend.rules.revoke(rule.rule_id, by="cli:me")

        assert not await backend.rules.revoke(rule.rule_id, by="cli:me")
        assert (await backend.rules.book(request.run)).remembered == ()
        assert (await backend.audit.read(1))[0].kind == "rule_revoked"
    assert await admin.pttl(key) > 0


async def test_an_agents_user_stores_no_rule_and_the_step_is_refused_whole(
    users: Users, admin: Any
) -> None:
    request = a_request("q-1")
    async with redis_backend(users.agents) as backend:
        await backend.store.open(request, seconds=60, inbox="", book=None)

        for scope in ("session", "agent"):
            with pytest.raises(StoreUnreachableError, match="HSET on"):
                await backend.store.settle("q-1", a_response(request), remember=a_rule(scope=scope))

        record = await backend.store.get("q-1")
        assert record is not None
        assert record.ending is None
    async with redis_backend(users.workers) as backend:
        assert [entry.kind for entry in await backend.audit.read(5)] == ["asked"]
