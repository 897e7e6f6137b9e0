"""What ``sayso aap`` makes and takes back counts at once for bots that serve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.aap_world import SECRET, AapWorld, aap_world_on
from support.commands import process
from support.live import is_live
from support.playing import a_playground

from sayso.stores.connect import open_store


@pytest.fixture
async def aap(store_url: str) -> AsyncIterator[AapWorld]:
    """Bots on a store that the command line sees, too."""
    async with (
        a_playground() as playground,
        open_store(store_url) as backend,
        aap_world_on(playground, backend) as world,
    ):
        yield world


async def test_a_credential_asks_until_it_is_revoked_and_then_nothing_of_it_is_left_open(
    aap: AapWorld, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text("[aap]\n")
    env = {"SAYSO_STORE_URL": store_url, "SAYSO_AAP_SECRET": SECRET, "SAYSO_CONFIG": str(config)}

    async with process("aap", "instance", "laptop", "--agent", "deploy", "--json", env=env) as made:
        instance = json.loads((await made.ended()).out)
    aap.token, aap.agent = instance["token"], "deploy"
    request = await aap.asked(arguments={"command": "of the laptop"})
    card = await aap.card("of the laptop")
    waiting = asyncio.ensure_future(aap.get(request["id"], wait="25s"))
    async with process("aap", "revoke", instance["id"], env=env) as revoking:
        done = await revoking.ended()

    assert "1 of its requests withdrawn" in done.out
    # The poll was let in before; whoever comes now is not.
    assert (await waiting).status in (200, 401)
    assert (await aap.get(request["id"])).error[0] == 401
    closed = await aap.playground.slack.message_where(
        lambda one: one.ts == card.ts and not is_live(one.buttons)
    )
    assert "its instance is deleted" in closed.all_text
