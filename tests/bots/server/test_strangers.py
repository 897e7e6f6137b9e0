"""A stranger who calls again and again: each door counts, and the log stays short."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import aiohttp
import pytest
import pytest_asyncio
from support.api_world import CI, TOML
from support.commands import env_of
from support.slack_kit import SECRET, a_press, callback

from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.server import serving
from sayso_playground import Playground

TIMES = 300
FORGED = "forged-secret-of-a-stranger"
API = "/agents/deploy-bot/sessions/s/branches/main"


@pytest_asyncio.fixture
async def session(playground: Playground) -> AsyncIterator[aiohttp.ClientSession]:
    toml = f'{TOML}\n[[route]]\nto = ["telegram:4242"]\napprovers = ["telegram:4242"]\n'
    env = env_of(playground, SAYSO_STORE_URL="memory://", SLACK_SIGNING_SECRET=SECRET)
    settings = build_settings(parse_source(toml, env))
    async with serving(settings) as bots, aiohttp.ClientSession(bots.url) as session:
        yield session


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    ours = ("sayso", "sayso_slack", "sayso_telegram", "sayso_bots", "aiohttp")
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.partition(".")[0] in ours and "access" not in record.name
    ]


def unsigned() -> tuple[str, dict[str, str], bytes]:
    headers, body = callback(a_press(), 0)
    return "/slack/events", {**headers, "X-Slack-Signature": "v0=" + 64 * "0"}, body


def late() -> tuple[str, dict[str, str], bytes]:
    headers, body = callback(a_press(), 0)
    return "/slack/events", headers, body


def badly_signed() -> tuple[str, dict[str, str], bytes]:
    headers, body = callback(a_press(), datetime.now(UTC).timestamp())
    return "/slack/events", {**headers, "X-Slack-Signature": "v0=" + 64 * "0"}, body


def no_secret() -> tuple[str, dict[str, str], bytes]:
    headers = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": FORGED}
    return "/telegram/webhook", headers, b'{"update_id": 1, "message": {"text": "PLACEHOLDER"}}'


def no_token() -> tuple[str, dict[str, str], bytes]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {FORGED}"}
    return f"{API}/requests", headers, b'{"type": "PERMISSION_REQUEST", "x": "PLACEHOLDER"}'


@pytest.mark.parametrize("call", [unsigned, late, badly_signed, no_secret, no_token])
async def test_forged_calls_are_counted_and_logged_once(
    call: Callable[[], tuple[str, dict[str, str], bytes]],
    session: aiohttp.ClientSession,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, headers, body = call()
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    statuses = set()
    for _ in range(TIMES):
        async with session.post(path, data=body, headers=headers) as answer:
            statuses.add(answer.status)
            told = await answer.text()
        assert FORGED not in told

    [line] = lines(caplog)
    assert statuses <= {401, 429}
    assert line.endswith("(from 127.0.0.1)")
    for secret in (FORGED, "PLACEHOLDER", headers.get("X-Slack-Signature", FORGED), CI):
        assert secret not in caplog.text


async def test_tickets_that_nobody_gave_are_counted_too(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    for number in range(TIMES):
        query = {"ticket": f"{FORGED}{number}"}
        async with session.get(f"{API}/events", params=query) as answer:
            assert answer.status in (401, 429)

    assert lines(caplog) == [
        "a call of the hosted API has no ticket that is known (from 127.0.0.1)"
    ]
    assert FORGED not in caplog.text


async def test_what_is_no_http_is_counted_too(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.clear()
    host, port = session._base_url.host, session._base_url.port  # type: ignore[union-attr]
    for _ in range(TIMES):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET / HTTP/1.1\r\nContent-Length: PLACEHOLDER\r\n\r\n")
        assert (await reader.readline()).endswith(b" 400 Bad Request\r\n")
        writer.close()
        await writer.wait_closed()

    [line] = lines(caplog)
    assert line.startswith("a call cannot be read: ")
    assert "PLACEHOLDER" not in caplog.text


async def test_genuine_callbacks_that_are_not_acted_on_are_counted_too(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    headers, body = callback(a_press(), datetime.now(UTC).timestamp())
    statuses = []
    for _ in range(TIMES):
        async with session.post("/slack/events", data=body, headers=headers) as answer:
            statuses.append(answer.status)

    assert statuses == [200] + [409] * (TIMES - 1)
    assert lines(caplog)[-1] == (
        "callback refused: the very same one was here before (from 127.0.0.1)"
    )
    assert len(lines(caplog)) <= 2
