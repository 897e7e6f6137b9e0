"""The real client of the protocol, a proxy in a process of its own, and a server behind it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from support.mcp_machine import Machine, text
from support.mcp_room import ALICE, open_question

MODES = pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])


async def decide(machine: Machine, *, approved: bool, reason: str = "") -> None:
    asked = await open_question(machine.backend)
    give = asked.approve if approved else asked.deny
    answer = give(by=ALICE, at=datetime.now(UTC), reason=reason)
    await machine.backend.store.settle(asked.permission_id, answer)


@MODES
async def test_the_real_client_calls_and_a_person_decides(machine: Machine, mode: str) -> None:
    news: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        news.append(message or "")

    async with machine.client(*machine.proxied(), mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        tools = await client.list_tools()
        assert [tool.name for tool in tools.tools] == ["write", "look", "explode"]

        allowed, denied = await asyncio.gather(
            client.call_tool("look", {}), client.call_tool("explode", {})
        )
        assert (allowed.is_error, text(allowed)) == (False, "look ran with {}")
        assert denied.is_error
        assert "deny rule 1" in text(denied)

        yes, _ = await asyncio.gather(
            client.call_tool("write", {"path": "/srv/ä"}, progress_callback=hear),
            decide(machine, approved=True),
        )
        assert (yes.is_error, "write ran with" in text(yes)) == (False, True)
        no, _ = await asyncio.gather(
            client.call_tool("write", {"path": "/srv/ä"}),
            decide(machine, approved=False, reason="Not on a Friday"),
        )
        assert no.is_error
        assert "Not on a Friday" in text(no)

    assert [one["name"] for one in machine.ran] == ["look", "write"]
    assert machine.ran[1]["arguments"] == {"path": "/srv/ä"}
    assert set(news) == {"Waiting for an answer in chat: write"}
