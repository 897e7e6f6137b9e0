"""Presses as both platforms send them, at a steady pace or as fast as they are answered."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote_plus

_UPDATES = count(1)


def press_body(handle: str, message_id: str) -> bytes:
    """The body of a press of Allow, as long as Slack's (about 3 KB)."""
    payload: dict[str, Any] = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "username": "alice", "name": "alice", "team_id": "T0ACME"},
        "api_app_id": "A0SAYSO",
        "token": "placeholder",
        "container": {
            "type": "message",
            "message_ts": message_id,
            "channel_id": "C0OPS",
            "is_ephemeral": False,
        },
        "trigger_id": "1.2.placeholder",
        "team": {"id": "T0ACME", "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": "C0OPS", "name": "ops"},
        "message": {
            "type": "message",
            "user": "U0SAYSO",
            "ts": message_id,
            "bot_id": "B0SAYSO",
            "app_id": "A0SAYSO",
            "text": "deploy-bot asks",
            "team": "T0ACME",
            "blocks": [_words(f"b{number}") for number in range(2)],
        },
        "state": {"values": {}},
        "response_url": "https://hooks.slack.example/actions/placeholder",
        "actions": [_allow(handle)],
    }
    return ("payload=" + quote_plus(json.dumps(payload, separators=(",", ":")))).encode()


def _words(block_id: str) -> dict[str, Any]:
    words = "terraform apply -auto-approve -var environment=production " * 8
    preformatted = {
        "type": "rich_text_preformatted",
        "elements": [{"type": "text", "text": words}],
    }
    return {"type": "rich_text", "block_id": block_id, "elements": [preformatted]}


def _allow(handle: str) -> dict[str, Any]:
    return {
        "action_id": "sayso:allow",
        "block_id": f"sayso:{handle}",
        "text": {"type": "plain_text", "text": "Allow", "emoji": False},
        "value": handle,
        "style": "primary",
        "type": "button",
        "action_ts": "1700000000.000001",
    }


def signed_request(body: bytes, secret: str) -> bytes:
    """A whole HTTP request, signed now (docs.slack.dev, verifying requests from Slack)."""
    stamp = str(int(time.time()))
    base = b"v0:" + stamp.encode() + b":" + body
    signature = "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    head = (
        "POST /slack/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: {signature}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def telegram_body(handle: str, message_id: str) -> bytes:
    """A press of Allow as Telegram sends it, with its message (about 3 KB)."""
    words = "terraform apply -auto-approve -var environment=production " * 30
    buttons = [
        {"text": label, "callback_data": f"p1:{handle}:{label.lower()}"}
        for label in ("Allow", "Deny")
    ]
    message = {
        "message_id": int(message_id),
        "from": {"id": 1, "is_bot": True, "first_name": "Sayso", "username": "sayso_bench_bot"},
        "chat": {"id": -1001234567890, "title": "ops", "type": "supergroup"},
        "date": 1700000000,
        "text": words,
        "entities": [{"type": "pre", "offset": 0, "length": len(words)}],
        "reply_markup": {"inline_keyboard": [buttons]},
    }
    query = {
        "id": secrets.token_hex(9),
        "from": {"id": 4242, "is_bot": False, "first_name": "Alice", "language_code": "en"},
        "message": message,
        "chat_instance": "4242424242",
        "data": buttons[0]["callback_data"],
    }
    return json.dumps({"update_id": next(_UPDATES), "callback_query": query}).encode()


def telegram_request(body: bytes, hook: str) -> bytes:
    """A whole HTTP request with the secret of the webhook."""
    head = (
        "POST /telegram/webhook HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Content-Type: application/json\r\n"
        f"X-Telegram-Bot-Api-Secret-Token: {hook}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def a_request(platform: str, handle: str, message_id: str, secret: str, hook: str) -> bytes:
    """A press of Allow on a platform."""
    if platform == "slack":
        return signed_request(press_body(handle, message_id), secret)
    return telegram_request(telegram_body(handle, message_id), hook)


class Connection(asyncio.Protocol):
    """One keep-alive connection with one request under way."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        # Every answer here is small and without a body worth reading: one segment.
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(int(data[9:12]))

    def close(self) -> None:
        self._transport.close()

    def send(self, request: bytes) -> asyncio.Future[int]:
        self.answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)  # type: ignore[attr-defined]
        return self.answer


@dataclass
class Timings:
    """When each press left, was answered and resumed its run: seconds of the monotonic clock."""

    sent: list[float]
    answered: list[float]
    resumed: list[float]


async def connected(ports: Sequence[int], connections: int) -> asyncio.Queue[Connection]:
    """So many connections, in turn to each of the ports."""
    loop = asyncio.get_running_loop()
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    for number in range(connections):
        port = ports[number % len(ports)]
        _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
        idle.put_nowait(connection)
    return idle


async def run_presses(
    ports: Sequence[int],
    requests: Sequence[bytes],
    resumed: Callable[[int], asyncio.Future[float]],
    *,
    per_second: float | None,
    connections: int = 32,
) -> Timings:
    """Send every request once, to each port in turn, and wait until every run went on.

    ``resumed(n)`` is the future of the moment at which the run of request n
    went on. Without ``per_second`` each connection sends its next request
    when the last one is answered.
    """
    loop = asyncio.get_running_loop()
    idle = await connected(ports, connections)
    most = len(requests)
    timings = Timings([0.0] * most, [0.0] * most, [0.0] * most)

    async def send(number: int, connection: Connection) -> None:
        timings.sent[number] = time.perf_counter()
        status = await connection.send(requests[number])
        timings.answered[number] = time.perf_counter()
        idle.put_nowait(connection)
        if status != 200:
            raise RuntimeError(f"press {number} was answered {status}")

    start = loop.time()
    sending = []
    for number in range(most):
        if per_second is not None:
            await asyncio.sleep(max(start + number / per_second - loop.time(), 0))
        sending.append(asyncio.create_task(send(number, await idle.get())))
    await asyncio.gather(*sending)
    for number in range(most):
        timings.resumed[number] = await resumed(number)
    while not idle.empty():
        idle.get_nowait().close()
    return timings
