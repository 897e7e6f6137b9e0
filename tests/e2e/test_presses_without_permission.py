"""The store takes back a permission while a card is open: a press is not recorded, or whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands, TelegramHands, both_cards
from redis.asyncio import Redis
from support.valkey_server import Valkey

from sayso import ToolCall
from sayso.testing.builders import PATIENCE_SECONDS

CALL = ToolCall("deploy", {"to": "live"})


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    server = Valkey(appendonly="yes")
    server.start()
    yield server
    server.close()


@pytest.fixture
async def admin(valkey: Valkey) -> AsyncIterator[Any]:
    client: Any
    async with Redis.from_url(valkey.url) as client:
        await client.execute_command(
            "ACL", "SETUSER", "bots", "on", ">pw", "+@all", "-@admin", "~sayso:*", "&sayso:*"
        )
        yield client


@asynccontextmanager
async def on(valkey: Valkey) -> AsyncIterator[Asked]:
    """Bots and agent as the user ``bots`` of the store."""
    async with asked(f"redis://bots:pw@127.0.0.1:{valkey.port}") as scene:
        yield scene


async def nothing_is_decided(scene: Asked) -> bool:
    """Whether the request is open and the audit knows of no decision."""
    [record] = await scene.backend.store.list_requests()
    entries = await scene.backend.audit.read(10)
    return record.ending is None and [entry.kind for entry in entries] == ["asked"]


@pytest.mark.parametrize("command", ["xadd", "publish"])
async def test_in_slack_a_press_is_refused_whole_and_can_be_made_again(
    valkey: Valkey, admin: Any, command: str
) -> None:
    async with on(valkey) as scene:
        slack = SlackHands(scene.playground)
        waiting = scene.ask(scene.gate.check(CALL))
        card = await slack.message()
        await admin.execute_command("ACL", "SETUSER", "bots", f"-{command}")

        failed = await slack.slack.press(card, "Allow", by="alice")

        # Slack shows words of its own for an app that does not answer 200.
        assert failed.status == 503
        assert "nothing was stored: press again" in failed.body
        assert await nothing_is_decided(scene)
        assert not waiting.done()
        await admin.execute_command("ACL", "SETUSER", "bots", f"+{command}")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await slack.slack.press(card, "Allow", by="alice")).status == 200
            assert (await waiting).approved
        await both_cards(scene, "Approved by alice")


@pytest.mark.parametrize("command", ["xadd", "publish"])
async def test_in_telegram_a_press_is_refused_whole_and_counts_once_it_is_permitted(
    valkey: Valkey, admin: Any, command: str
) -> None:
    async with on(valkey) as scene:
        telegram = TelegramHands(scene.playground).telegram
        waiting = scene.ask(scene.gate.check(CALL))
        card = await TelegramHands(scene.playground).message()
        await admin.execute_command("ACL", "SETUSER", "bots", f"-{command}")

        pressing = asyncio.create_task(telegram.press(card, "Allow", by="alice", timeout=10))
        await telegram.until(lambda: any(query.answered for query in telegram.queries.values()))

        [query] = telegram.queries.values()
        assert query.alert
        assert query.toast is not None
        assert query.toast.startswith("Not recorded: the store cannot be reached.")
        assert await nothing_is_decided(scene)
        assert not waiting.done()
        await admin.execute_command("ACL", "SETUSER", "bots", f"+{command}")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await pressing).statuses[-1] == 200
            assert (await waiting).approved
        await both_cards(scene, "Approved by alice")
