import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from playground.listener import Listener, some_blocks
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Bot

from sayso_playground import Playground


@pytest.fixture
async def visitor(playground: Playground) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(playground.url) as client:
        yield client


async def test_the_page_loads_nothing_from_elsewhere(visitor: aiohttp.ClientSession) -> None:
    async with visitor.get("/") as answer:
        text = await answer.text()

    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "://" not in text


@pytest.mark.parametrize("name", ["app.js", "style.css"])
async def test_the_files_of_the_page_are_served(visitor: aiohttp.ClientSession, name: str) -> None:
    async with visitor.get(f"/page/{name}") as answer:
        assert answer.status == 200


async def test_nothing_else_is_served(visitor: aiohttp.ClientSession) -> None:
    for name in ("..%2Fconfig.py", "config.py", "%2Fetc%2Fpasswd"):
        async with visitor.get(f"/page/{name}") as answer:
            assert answer.status == 404


async def test_the_picture_has_no_secret(
    playground: Playground,
    listener: Listener,
    slack: AsyncWebClient,
    telegram: Bot,
    visitor: aiohttp.ClientSession,
) -> None:
    await slack.chat_postMessage(channel="C0OPS", text="May I?", blocks=some_blocks())
    await telegram.set_webhook(listener.url, secret_token="webhook-secret")
    await playground.slack.press(playground.slack.messages()[0], "Allow", by="alice")

    async with visitor.get("/api/state") as answer:
        picture = await answer.text()

    config = playground.config
    for secret in (
        config.slack_bot_token,
        config.slack_app_token,
        config.slack_signing_secret,
        config.telegram_bot_token,
        "webhook-secret",
        "/slack/response/",
    ):
        assert secret not in picture
    assert "May I?" in picture


async def test_the_stream_shows_every_change(
    slack: AsyncWebClient, visitor: aiohttp.ClientSession
) -> None:
    async with visitor.get("/api/stream") as stream:
        first = await stream.content.readuntil(b"\n\n")
        await slack.chat_postMessage(channel="C0OPS", text="news")
        second = await stream.content.readuntil(b"\n\n")

    def texts(event: bytes) -> list[str]:
        picture: dict[str, Any] = json.loads(event.removeprefix(b"data: "))
        return [message["text"] for message in picture["slack"]["messages"]]

    assert (texts(first), texts(second)) == ([], ["news"])


async def test_a_visitor_presses_as_the_person_they_play(
    playground: Playground,
    listener: Listener,
    slack: AsyncWebClient,
    visitor: aiohttp.ClientSession,
) -> None:
    rows = [*some_blocks(), {**some_blocks()[-1], "block_id": "row 2"}]
    sent = await slack.chat_postMessage(channel="C0OPS", text="x", blocks=rows)
    button = {"block_id": "row 2", "action_id": "allow"}
    press = {"channel": "C0OPS", "ts": sent["ts"], **button, "by": "Mallory"}

    async with visitor.post("/api/slack/press", json=press) as answer:
        assert (await answer.json())["status"] == 200

    assert listener.heard[0].payload["user"]["id"] == "U0MALLORY"
    assert listener.heard[0].payload["actions"][0]["block_id"] == "row 2"


async def test_other_sites_cannot_press(visitor: aiohttp.ClientSession) -> None:
    async with visitor.post("/api/slack/press", data="{}") as form:
        assert form.status == 415
    async with visitor.get("/api/state", headers={"Host": "evil.example"}) as rebound:
        assert rebound.status == 403


async def test_a_press_of_nothing_is_a_clear_error(visitor: aiohttp.ClientSession) -> None:
    press = {"chat": 1, "message_id": 1, "data": "x", "by": "Alice"}

    async with visitor.post("/api/telegram/press", json=press) as answer:
        assert answer.status == 400


async def test_a_document_is_downloaded_never_shown(
    telegram: Bot, visitor: aiohttp.ClientSession
) -> None:
    sent = await telegram.send_document(-1001234567890, b"<script>", filename="a b.html")
    assert sent.document

    async with visitor.get(f"/api/documents/{sent.document.file_id}") as answer:
        assert await answer.read() == b"<script>"

    assert answer.headers["Content-Disposition"] == 'attachment; filename="a_b.html"'
    assert answer.content_type == "application/octet-stream"
