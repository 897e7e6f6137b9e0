import asyncio
from datetime import timedelta

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Bot
from telegram.error import NetworkError, RetryAfter

from sayso_playground import (
    DeliverTwice,
    DropConnection,
    Playground,
    RateLimited,
    ServerError,
    Slow,
)

OPS = -1001234567890


async def test_slack_says_when_to_try_again(playground: Playground, slack: AsyncWebClient) -> None:
    playground.slack.misbehave("chat.postMessage", RateLimited(2))

    with pytest.raises(SlackApiError) as caught:
        await slack.chat_postMessage(channel="C0OPS", text="x")
    await slack.chat_postMessage(channel="C0OPS", text="x")

    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "2"
    assert [call.status for call in playground.slack.calls] == [429, 200]


async def test_telegram_says_when_to_try_again(
    playground: Playground, telegram: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")  # without it the client warns
    playground.telegram.misbehave("sendMessage", RateLimited(3))

    with pytest.raises(RetryAfter) as caught:
        await telegram.send_message(OPS, "x")

    assert caught.value.retry_after == timedelta(seconds=3)
    assert playground.telegram.messages(OPS) == []


async def test_a_server_error_does_nothing(
    playground: Playground, slack: AsyncWebClient, telegram: Bot
) -> None:
    playground.slack.misbehave("*", ServerError(503))
    playground.telegram.misbehave("*", ServerError(502))

    with pytest.raises(SlackApiError):
        await slack.chat_postMessage(channel="C0OPS", text="x")
    with pytest.raises(NetworkError):
        await telegram.send_message(OPS, "x")

    assert playground.slack.messages() == []
    assert playground.telegram.messages() == []


async def test_a_dropped_connection_has_posted_the_message(
    playground: Playground, telegram: Bot
) -> None:
    playground.slack.misbehave("chat.postMessage", DropConnection())
    playground.telegram.misbehave("sendMessage", DropConnection())
    headers = {"Authorization": "Bearer xoxb-playground"}

    async with aiohttp.ClientSession(headers=headers) as client:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await client.post(
                f"{playground.slack_api_url}chat.postMessage",
                json={"channel": "C0OPS", "text": "once"},
            )
    with pytest.raises(NetworkError):
        await telegram.send_message(OPS, "once")

    assert [m.text for m in playground.slack.messages()] == ["once"]
    assert [m.text for m in playground.telegram.messages()] == ["once"]
    assert playground.slack.calls[-1].status == playground.telegram.calls[-1].status == 0


async def test_a_slow_call_is_done_after_the_client_has_left(playground: Playground) -> None:
    playground.slack.misbehave("chat.postMessage", Slow(0.05))
    headers = {"Authorization": "Bearer xoxb-playground"}
    timeout = aiohttp.ClientTimeout(total=0.02)

    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as client:
        with pytest.raises(asyncio.TimeoutError):
            await client.post(
                f"{playground.slack_api_url}chat.postMessage",
                json={"channel": "C0OPS", "text": "late"},
            )

    assert (await playground.slack.message_where(lambda m: m.text == "late")).channel == "C0OPS"


async def test_faults_end_when_told_to(playground: Playground, slack: AsyncWebClient) -> None:
    playground.slack.misbehave("*", RateLimited(2), times=None)
    playground.slack.behave()

    assert (await slack.auth_test())["ok"]


def test_a_fault_that_makes_no_sense_is_refused() -> None:
    playground = Playground()

    with pytest.raises(ValueError, match="makes no sense"):
        playground.slack.misbehave("chat.postMessage", DeliverTwice())
    with pytest.raises(ValueError, match="makes no sense"):
        playground.telegram.misbehave("callback", RateLimited())
