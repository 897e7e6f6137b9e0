"""`sayso serve` at SIGHUP: the policy is read again, and nothing else happens."""

from __future__ import annotations

import signal
from pathlib import Path

import aiohttp
from support.aap_world import SECRET, AapWorld, aap_toml, with_instance
from support.commands import env_of, served

from sayso.stores.connect import open_store
from sayso_playground import Playground

ALLOWS = aap_toml(policy='[[policy]]\nallow = [{ tool = "read" }]')
DENIES = aap_toml(policy='[[policy]]\ndeny = [{ tool = "read" }]')
BROKEN = aap_toml(policy='[[policy]]\nallow = [{ tol = "read" }]')


async def test_a_changed_policy_counts_at_sighup_and_a_broken_file_keeps_the_old_one(
    playground: Playground, tmp_path: Path, store_url: str
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ALLOWS)
    env = env_of(playground, SAYSO_STORE_URL=store_url, SAYSO_AAP_SECRET=SECRET)
    async with (
        open_store(store_url) as backend,
        aiohttp.ClientSession() as session,
        served(playground, config, env) as bots,
    ):
        url = next(line.split()[3] for line in bots.lines if "serves on" in line)
        world = await with_instance(AapWorld(url, playground, session, backend))

        async def reads() -> str:
            """How a call stands that was made just now."""
            return str((await world.asked(tool="read"))["status"])

        assert await reads() == "approved"
        bots.process.send_signal(signal.SIGHUP)
        await bots.line_with("the policy was read again")
        assert await reads() == "approved"

        config.write_text(DENIES)
        bots.process.send_signal(signal.SIGHUP)
        await bots.line_with("the policy was read again")
        assert await reads() == "denied"

        config.write_text(BROKEN)
        bots.process.send_signal(signal.SIGHUP)
        told = await bots.line_with("the policy stays as it was")
        assert "line 7: policy 1.allow 1" in told
        assert await reads() == "denied"
        async with session.get(f"{url}/readyz") as ready:
            assert "the policy stays as it was" in await ready.text()

        bots.process.send_signal(signal.SIGTERM)
        assert (await bots.ended()).code == 0
