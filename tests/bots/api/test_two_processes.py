"""The hosted API between processes: bots in their own, a gate in another, Redis between them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
from support.api_world import CI, REVIEWER, TOML, Stream, a_body
from support.commands import deliver_to, env_of, process
from support.playing import a_playground

from sayso import Gate, RunRef, ToolCall

_BRANCH = "/agents/deploy-bot/sessions/s-42/branches/main"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def approved(session: aiohttp.ClientSession, url: str, permission_id: str) -> int:
    """Approve it at these bots; the status of their answer."""
    answer = {"type": "PERMISSION_RESPONSE", "permissionId": permission_id, "approved": True}
    async with session.post(
        f"{url}{_BRANCH}/responses", json=answer, headers=bearer(REVIEWER)
    ) as answered:
        return answered.status


async def requested(session: aiohttp.ClientSession, url: str) -> Any:
    """Ask at these bots; the request as they tell it."""
    async with session.post(
        f"{url}{_BRANCH}/requests", json=a_body(), headers=bearer(CI)
    ) as response:
        return (await response.json())["request"]


async def test_a_gate_and_two_bots_share_what_happens(store_url: str, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    async with a_playground() as playground, aiohttp.ClientSession() as session:
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        arguments = ("serve", "--config", str(config))
        async with process(*arguments, env=env) as first, process(*arguments, env=env) as second:
            urls = [(await bots.line_with("serves on")).split()[3] for bots in (first, second)]
            deliver_to(playground, urls[0])
            async with (
                session.get(f"{urls[1]}{_BRANCH}/events", headers=bearer(CI)) as response,
                Stream(response) as stream,
            ):
                async with Gate.open(store_url, run=RunRef("deploy-bot", "s-42")) as gate:
                    checking = asyncio.ensure_future(gate.check(ToolCall("ls", {"path": "/"})))
                    asked = await stream.next()
                    status = await approved(session, urls[0], asked.data["permissionId"])
                    verdict = await checking
                heard = await stream.types(2)
                last = stream.last_id
            # The process that sent the events is gone; the other one knows them, too.
            second.process.terminate()
            done = await second.ended()
            request = await requested(session, urls[0])
            headers = {**bearer(CI), "Last-Event-ID": last}
            async with (
                session.get(f"{urls[0]}{_BRANCH}/events", headers=headers) as response,
                Stream(response) as stream,
            ):
                resumed = await stream.next()

    assert asked.type == "PERMISSION_REQUEST"
    assert status == 200
    assert verdict.approved
    assert verdict.decided_by == "api:reviewer"
    assert heard == ["PERMISSION_RESPONSE", "PERMISSION_APPROVED"]
    assert resumed.data == request
    assert done.code == 0
    for bots in (first, second):
        assert CI not in "\n".join(bots.lines)
    assert CI not in done.err


async def test_bots_stop_at_once_although_streams_are_open(store_url: str, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(TOML)
    async with a_playground() as playground, aiohttp.ClientSession() as session:
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        async with process("serve", "--config", str(config), env=env) as bots:
            url = (await bots.line_with("serves on")).split()[3]
            async with session.get(f"{url}{_BRANCH}/events", headers=bearer(CI)) as response:
                await response.content.readline()
                bots.process.terminate()
                done = await bots.ended()
                rest = await response.read()

    assert done.code == 0
    assert "Traceback" not in done.err
    assert rest.startswith(b"id: ")
