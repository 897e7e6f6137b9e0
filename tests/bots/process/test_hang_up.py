"""`sayso serve` at SIGHUP: the policy is read again, and nothing else happens."""

from __future__ import annotations

import signal
from pathlib import Path

import aiohttp
from support.api_world import CI, ROUTE, TOKENS, a_body
from support.commands import env_of, served

from sayso_playground import Playground

REQUESTS = "/agents/deploy-bot/sessions/s-42/branches/main/requests"
READ = a_body(functionName="read")
ALLOWS = f'[[policy]]\nallow = [{{ tool = "read" }}]\n{ROUTE}{TOKENS}'
DENIES = f'[[policy]]\ndeny = [{{ tool = "read" }}]\n{ROUTE}{TOKENS}'
BROKEN = f'[[policy]]\nallow = [{{ tol = "read" }}]\n{ROUTE}{TOKENS}'


async def test_a_changed_policy_counts_at_sighup_and_a_broken_file_keeps_the_old_one(
    playground: Playground, tmp_path: Path, store_url: str
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ALLOWS)
    env = env_of(playground, SAYSO_STORE_URL=store_url)
    async with (
        aiohttp.ClientSession() as session,
        served(playground, config, env) as bots,
    ):
        url = next(line.split()[3] for line in bots.lines if "serves on" in line)

        async def is_allowed() -> bool:
            """Return True if the policy allows a call that is made now."""
            headers = {"Authorization": f"Bearer {CI}"}
            async with session.post(url + REQUESTS, json=READ, headers=headers) as answer:
                return bool((await answer.json())["response"]["approved"])

        assert await is_allowed()
        bots.process.send_signal(signal.SIGHUP)
        await bots.line_with("the policy was read again")
        assert await is_allowed()

        config.write_text(DENIES)
        bots.process.send_signal(signal.SIGHUP)
        await bots.line_with("the policy was read again")
        assert not await is_allowed()

        config.write_text(BROKEN)
        bots.process.send_signal(signal.SIGHUP)
        told = await bots.line_with("the policy stays as it was")
        assert "line 2: policy 1.allow 1" in told
        assert not await is_allowed()
        async with session.get(f"{url}/readyz") as ready:
            assert "the policy stays as it was" in await ready.text()

        bots.process.send_signal(signal.SIGTERM)
        assert (await bots.ended()).code == 0
