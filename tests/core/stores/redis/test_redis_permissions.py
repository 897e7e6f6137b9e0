"""A step whose user may not do all of it is refused whole, and leaves everything as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from support.valkey_server import Valkey

from sayso.calls import new_id
from sayso.errors import StoreUnreachableError
from sayso.stores import audit
from sayso.stores.backend import Backend
from sayso.stores.ports import Upkeep
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule

NOW = datetime.now(UTC)
OPEN, APPROVED, USED, HELD = (
    a_request("q-open"),
    a_request("q-approved"),
    a_request("q-used"),
    a_request("q-held"),
)
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
    await backend.uses.take("q-used", "me", until=NOW + timedelta(hours=1))


Step = Callable[[Backend], Awaitable[object]]
STEPS: Mapping[str, Step] = {
    "open": lambda b: b.store.open(a_request(), seconds=60, inbox="inbox", book=None),
    "approve": lambda b: b.store.settle("q-open", a_response(OPEN), delivery="slack:1"),
    "approve always": lambda b: b.store.settle("q-open", a_response(OPEN), remember=STORED),
    "approve at a desk": lambda b: b.store.settle(
        "q-open", a_response(OPEN), upkeep=Upkeep("desk", poster="other")
    ),
    "deny": lambda b: b.store.settle("q-open", a_response(OPEN, approved=False)),
    "overrule": lambda b: b.store.overrule("q-approved", a_response(APPROVED, approved=False)),
    "use an approval": lambda b: b.uses.take("q-approved", "me", until=NOW + timedelta(hours=1)),
    "report a use": lambda b: b.uses.report("q-used", "succeeded"),
    "leave it unused": lambda b: b.uses.lapse("q-approved"),
    "use a rule": lambda b: b.rules.use(RUN, KEPT.rule_id),
    "revoke": lambda b: b.rules.revoke(KEPT.rule_id, by="cli:me"),
    "refuse a press": lambda b: b.audit.refuse("q-open", "late", by="x:y", place="", choice=""),
    "note": lambda b: b.audit.note(audit.ruled(RUN, "bash", "abc", "rule 1", allowed=True)),
    "withdraw": lambda b: b.keyed.leave(
        "q-held", "q-held", ending=HELD.cancelled(at=NOW, by="", reason="")
    ),
}
KINDS = [
    "r:", "key:", "due", "open:", "limits", "jobs", "after", "errands:", "asked:", "seen:",
    "book:", "books", "rule:", "floor", "audit", "audited", "agents", "activity:", "nothing",
]  # fmt: skip
OTHER_KINDS = [
    "h:", "desks", "state:", "once:", "document:", "lease:", "budget:", "moved:", "draft:",
    "branch:", "log:",
]  # fmt: skip
PUBLISHING = [
    "open", "approve", "approve always", "approve at a desk", "deny", "overrule", "withdraw",
]  # fmt: skip


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    server.start()
    yield server
    server.close()


@pytest.fixture
async def admin(valkey: Valkey) -> AsyncIterator[Any]:
    async with Redis.from_url(valkey.url) as client:
        yield client


async def refused_without(
    valkey: Valkey, admin: Any, step: str, *rights: str
) -> StoreUnreachableError | None:
    """What a step says with these rights alone; None where it needs no more of them."""
    namespace = f"test-{new_id()}"
    async with redis_backend(f"{valkey.url}?namespace={namespace}") as backend:
        await prepare(backend)
    user, prefix = f"u-{new_id()}", f"sayso:{{{namespace}}}:"
    own = [right.replace("PREFIX", prefix) for right in rights]
    await admin.execute_command("ACL", "SETUSER", user, "on", ">pw", "+@all", *own)
    before = await everything(admin, namespace)
    url = f"redis://{user}:pw@127.0.0.1:{valkey.port}?namespace={namespace}"
    async with redis_backend(url) as backend, admin.pubsub() as heard:
        await heard.psubscribe(f"{prefix}*")
        try:
            await STEPS[step](backend)
        except StoreUnreachableError as error:
            assert await everything(admin, namespace) == before
            subscribed, nothing = [await heard.get_message(timeout=0.05) for _ in range(2)]
            assert subscribed["type"] == "psubscribe"
            assert nothing is None
            return error
    assert await everything(admin, namespace) != before
    return None


async def everything(admin: Any, namespace: str) -> Mapping[bytes, object]:
    """All keys and what they hold."""
    keys = sorted([key async for key in admin.scan_iter(f"sayso:{{{namespace}}}:*")])
    return {key: await admin.dump(key) for key in keys}


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_that_cannot_be_audited_is_refused_whole(
    valkey: Valkey, admin: Any, step: str
) -> None:
    error = await refused_without(valkey, admin, step, "~*", "&*", "-xadd")

    assert "does not permit this user what Sayso needs: XADD on" in str(error)


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_whose_audit_is_a_key_that_is_not_permitted_is_refused_whole(
    valkey: Valkey, admin: Any, step: str
) -> None:
    keys = [f"~{_keys(kind)}" for kind in KINDS if kind != "audit"]

    error = await refused_without(valkey, admin, step, "&*", "~PREFIX", *keys)

    assert "XADD on" in str(error)
    assert str(error).endswith(":audit")


@pytest.mark.parametrize("step", PUBLISHING)
@pytest.mark.parametrize("rights", [("&*", "-publish"), ("&other:*",)])
async def test_a_step_that_cannot_wake_who_waits_is_refused_whole(
    valkey: Valkey, admin: Any, step: str, rights: tuple[str, ...]
) -> None:
    error = await refused_without(valkey, admin, step, "~*", *rights)

    assert "does not permit this user what Sayso needs: PUBLISH on" in str(error)


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_without_any_of_its_commands_is_refused_whole_or_done_whole(
    valkey: Valkey, admin: Any, step: str
) -> None:
    commands = "hset hdel zadd zrem set incr hincrby del pexpireat pttl exists hget get"

    said = {
        command: await refused_without(valkey, admin, step, "~*", "&*", f"-{command}")
        for command in commands.split()
    }

    refused = {command: str(error) for command, error in said.items() if error is not None}
    assert refused
    assert [text for command, text in refused.items() if f"{command.upper()} on" not in text] == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("left", ["", "%R~"], ids=["absent", "read-only"])
async def test_a_step_without_any_of_its_keys_is_refused_whole_or_done_whole(
    valkey: Valkey, admin: Any, step: str, left: str
) -> None:
    async def without(kind: str) -> StoreUnreachableError | None:
        others = [f"~{_keys(other)}" for other in KINDS if other != kind]
        rights = [*others, f"{left}{_keys(kind)}"] if left else others
        return await refused_without(valkey, admin, step, "&*", "~PREFIX", *rights)

    said = await asyncio.gather(*map(without, KINDS))

    assert any(said)


@pytest.mark.parametrize("left", ["", "%R~"], ids=["absent", "read-only"])
async def test_a_check_names_the_keys_that_are_not_permitted(
    valkey: Valkey, admin: Any, left: str
) -> None:
    some = [*KINDS, *OTHER_KINDS]

    async def found_without(kind: str) -> str:
        others = [f"~{_keys(other)}" for other in some if other != kind]
        rights = [*others, f"{left}{_keys(kind)}"] if left else others
        user = f"u-{new_id()}"
        own = [right.replace("PREFIX", "sayso:{sayso}:") for right in ("&*", "~PREFIX", *rights)]
        await admin.execute_command("ACL", "SETUSER", user, "on", ">pw", "+@all", *own)
        async with redis_backend(f"redis://{user}:pw@127.0.0.1:{valkey.port}") as backend:
            return " ".join(one.text for one in await backend.checkup.look() if one.is_denied)

    found = await asyncio.gather(*(found_without(kind) for kind in ["", *some]))

    assert found[0] == ""
    said = dict(zip(some, found[1:], strict=True))
    assert {kind: text for kind, text in said.items() if f"}}:{kind}" not in text} == {}


def _keys(kind: str) -> str:
    return f"PREFIX{kind}*" if kind.endswith(":") else f"PREFIX{kind}"
