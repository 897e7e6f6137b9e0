"""A store whose user may not do all that is needed: `serve` does not start, `check` says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from redis import Redis
from support.commands import ROUTES, Run, env_of
from support.valkey_server import Valkey

from sayso_playground import Playground

_ADVICE = (
    "permit it with `ACL SETUSER bots +@all -@admin -@dangerous +info "
    "~sayso:{sayso}:* &sayso:{sayso}:*`"
)


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey(appendonly="yes")
    server.start()
    yield server
    server.close()


@pytest.mark.parametrize(
    ("rights", "missing"),
    [
        (("~*", "&*", "-xadd"), "(XADD)"),
        (("~*", "&*", "-publish"), "(PUBLISH)"),
        (("~*", "&*", "-evalsha"), "'evalsha'"),
        (("~*", "&*", "-subscribe"), "'subscribe'"),
        (("~*", "&sayso:{sayso}:bus:inbox:*"), "PUBLISH on sayso:{sayso}:bus:events:"),
        (("~*", "&other:*"), "(PUBLISH)"),
        (("~other:*", "&*"), "No permissions to access a key"),
    ],
)
async def test_bots_do_not_start_on_a_store_that_does_not_permit_what_they_need(
    run: Run, playground: Playground, valkey: Valkey, rights: tuple[str, ...], missing: str
) -> None:
    with Redis.from_url(valkey.url) as admin:
        admin.execute_command("ACL", "SETUSER", "bots", "reset", "on", ">pw", "+@all", *rights)
    url = f"redis://bots:pw@127.0.0.1:{valkey.port}"
    env = env_of(playground, SAYSO_STORE_URL=url, SAYSO_PORT="0")

    checked = await asyncio.to_thread(run, "check", env=env, toml=ROUTES)
    served = await asyncio.to_thread(run, "serve", env=env, toml=ROUTES)

    assert served.code == 2
    assert served.err.startswith("sayso: SAYSO_STORE_URL: Redis at")
    assert checked.code == 1
    for said in (served.err, checked.out):
        assert "does not permit this user" in said
        assert missing in said
    if "evalsha" in missing or "(" in missing:
        assert _ADVICE in served.err
