"""A step whose user may not do all of it is refused whole, and leaves everything as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from support.valkey_server import Valkey

from sayso.calls import new_id
from sayso.errors import StoreUnreachableError
from sayso.stores import audit
from sayso.stores.backend import Backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule

NOW = datetime.now(UTC)
USER, PREFIX = "restricted", "sayso:{sayso}:"
Kept = tuple[bytes, int]
OPEN, APPROVED = a_request("q-open"), a_request("q-approved")
USED, HELD = a_request("q-used"), a_request("q-held")
RUN = OPEN.run
KEPT, STORED = a_rule(), a_rule(scope="agent")


async def prepare(backend: Backend) -> None:
    """An open request, an approved one, one that is used and one that is held, and a rule."""
    store = backend.store
    for request in (OPEN, APPROVED, USED):
        await store.open(request, seconds=600, inbox="inbox", book=None)
    await store.open(HELD, seconds=600, inbox="inbox", book=None, key="key")
    await store.settle(APPROVED.question_id, a_response(APPROVED), remember=KEPT)
    await store.settle(USED.question_id, a_response(USED))
    await backend.store.consume_approval("q-used", "me", until=NOW + timedelta(hours=1))


Step = Callable[[Backend], Awaitable[object]]
STEPS: Mapping[str, Step] = {
    "open": lambda b: b.store.open(a_request(), seconds=60, inbox="inbox", book=None),
    "approve": lambda b: b.store.settle("q-open", a_response(OPEN)),
    "approve always": lambda b: b.store.settle("q-open", a_response(OPEN), remember=STORED),
    "deny": lambda b: b.store.settle("q-open", a_response(OPEN, approved=False)),
    "overrule": lambda b: b.store.overrule("q-approved", a_response(APPROVED, approved=False)),
    "use an approval": lambda b: b.store.consume_approval(
        "q-approved", "me", until=NOW + timedelta(hours=1)
    ),
    "report a use": lambda b: b.store.report_outcome("q-used", "succeeded"),
    "use a rule": lambda b: b.rules.use(RUN, KEPT.rule_id),
    "revoke": lambda b: b.rules.revoke(KEPT.rule_id, by="cli:me"),
    "refuse a press": lambda b: b.audit.refuse("q-open", "late", by="x:y", place="", choice=""),
    "note": lambda b: b.audit.note(audit.ruled(RUN, "bash", "abc", "rule 1", allowed=True)),
    "withdraw": lambda b: b.store.release_hold(
        "q-held", "q-held", ending=HELD.cancelled(at=NOW, by="", reason="")
    ),
}
KINDS = [
    "r:", "key:", "due", "open:", "limits", "jobs", "asked:", "noted:", "seen:",
    "book:", "books", "rule:", "floor", "audit", "audited", "agents", "activity:", "nothing",
]  # fmt: skip
OTHER_KINDS = [
    "h:", "desks", "errands:", "state:", "once:", "document:", "lease:", "budget:", "moved:",
    "draft:", "branch:", "log:",
]  # fmt: skip
PUBLISHING = [
    "open", "approve", "approve always", "deny", "overrule", "withdraw",
]  # fmt: skip


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    # A hash keeps its order and is dumped the same each time.
    server = Valkey(rdbcompression="no", hash_max_listpack_value="100000")
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def prepared(valkey: Valkey) -> Mapping[bytes, Kept]:
    """All keys of a store as :func:`prepare` leaves it."""

    async def read() -> Mapping[bytes, Kept]:
        async with redis_backend(valkey.url) as backend, Redis.from_url(valkey.url) as client:
            await prepare(backend)
            return await everything(client)

    return asyncio.run(read())


@pytest.fixture
async def admin(valkey: Valkey) -> AsyncIterator[Any]:
    async with Redis.from_url(valkey.url) as client:
        yield client


@pytest.fixture
async def stage(valkey: Valkey, admin: Any, prepared: Mapping[bytes, Kept]) -> AsyncIterator[Stage]:
    await permit(admin, USER, "~*", "&*")
    url = f"redis://{USER}:pw@127.0.0.1:{valkey.port}"
    async with redis_backend(url) as backend, admin.pubsub() as heard:
        await heard.psubscribe(f"{PREFIX}*")
        yield Stage(admin, backend, heard, prepared)


@dataclass(frozen=True)
class Stage:
    """A store that is put back before each step, and a user whose rights change between them."""

    admin: Any
    backend: Backend
    heard: Any
    prepared: Mapping[bytes, Kept]

    async def try_without(self, step: str, *rights: str) -> StoreUnreachableError | None:
        """Return the refusal of a step with these rights alone; None where it needs no others."""
        await self._put_back()
        await permit(self.admin, USER, *rights)
        try:
            await STEPS[step](self.backend)
        except StoreUnreachableError as error:
            assert await everything(self.admin) == self.prepared
            assert await self._read_messages() == []
            return error
        assert await everything(self.admin) != self.prepared
        return None

    async def _put_back(self) -> None:
        await self._read_messages()
        async with self.admin.pipeline() as pipeline:
            pipeline.flushall()
            for key, (value, expires) in self.prepared.items():
                pipeline.restore(key, max(expires, 0), value, absttl=True)
            await pipeline.execute()

    async def _read_messages(self) -> Sequence[object]:
        """Return all that was published since: the server answers a ping after it."""
        await self.heard.ping()
        messages: list[Mapping[str, object]] = []
        async for message in self.heard.listen():
            if message["type"] == "pong":
                break
            messages.append(message)
        return messages


async def permit(admin: Any, user: str, *rights: str) -> None:
    """Give a user these rights on all commands, and no others that it had."""
    own = [right.replace("PREFIX", PREFIX) for right in rights]
    await admin.execute_command("ACL", "SETUSER", user, "reset", "on", ">pw", "+@all", *own)


async def everything(admin: Any) -> Mapping[bytes, Kept]:
    """Return all keys with their contents and the times at which they expire."""
    keys = sorted([key async for key in admin.scan_iter(f"{PREFIX}*", count=1_000)])
    async with admin.pipeline() as pipeline:
        for key in keys:
            pipeline.dump(key).pexpiretime(key)
        found = await pipeline.execute()
    return dict(zip(keys, zip(found[::2], found[1::2], strict=True), strict=True))


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_that_cannot_be_audited_is_refused_whole(stage: Stage, step: str) -> None:
    error = await stage.try_without(step, "~*", "&*", "-xadd")

    assert "does not permit this user what Sayso needs: XADD on" in str(error)


@pytest.mark.parametrize("step", PUBLISHING)
@pytest.mark.parametrize("rights", [("&*", "-publish"), ("&other:*",)])
async def test_a_step_that_cannot_wake_who_waits_is_refused_whole(
    stage: Stage, step: str, rights: tuple[str, ...]
) -> None:
    error = await stage.try_without(step, "~*", *rights)

    assert "does not permit this user what Sayso needs: PUBLISH on" in str(error)


@pytest.mark.parametrize("step", PUBLISHING)
async def test_a_step_without_any_of_its_channels_is_refused_whole_or_done_whole(
    stage: Stage, step: str
) -> None:
    channels = {f"&PREFIXbus:{kind}:*" for kind in ("inbox", "events", "desk")}

    said = [await stage.try_without(step, "~*", *(channels - {one})) for one in channels]

    assert any(said)


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_without_any_of_its_commands_is_refused_whole_or_done_whole(
    stage: Stage, step: str
) -> None:
    commands = "hset hdel zadd zrem set incr hincrby del pexpireat pttl exists hget get"

    refused = {
        command: str(error)
        for command in commands.split()
        if (error := await stage.try_without(step, "~*", "&*", f"-{command}"))
    }

    assert refused
    assert [text for command, text in refused.items() if f"{command.upper()} on" not in text] == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("left", ["~other:", "%R~"], ids=["absent", "read-only"])
async def test_a_step_without_any_of_its_keys_is_refused_whole_or_done_whole(
    stage: Stage, step: str, left: str
) -> None:
    said = {kind: str(await stage.try_without(step, *_keys_except(kind, left))) for kind in KINDS}

    assert "XADD on" in said["audit"]
    assert said["audit"].endswith(":audit")


@pytest.mark.parametrize("left", ["~other:", "%R~"], ids=["absent", "read-only"])
async def test_a_check_names_the_keys_that_are_not_permitted(
    valkey: Valkey, admin: Any, left: str
) -> None:
    some = [*KINDS, *OTHER_KINDS]

    async def found_without(kind: str) -> str:
        user = f"u-{new_id()}"
        await permit(admin, user, *_keys_except(kind, left, some))
        async with redis_backend(f"redis://{user}:pw@127.0.0.1:{valkey.port}") as backend:
            return " ".join(one.text for one in await backend.diagnose() if one.is_denied)

    found = await asyncio.gather(*(found_without(kind) for kind in ["", *some]))

    assert found[0] == ""
    said = dict(zip(some, found[1:], strict=True))
    assert {kind: text for kind, text in said.items() if f"}}:{kind}" not in text} == {}


def _keys_except(missing: str, left: str, kinds: Sequence[str] = KINDS) -> Sequence[str]:
    """Return the right to all keys, but only the right ``left`` to those of one kind."""
    keys = {kind: f"PREFIX{kind}*" if kind.endswith(":") else f"PREFIX{kind}" for kind in kinds}
    gone = keys.pop(missing, "PREFIX")
    return ["&*", "~PREFIX", *(f"~{key}" for key in keys.values()), f"{left}{gone}"]
