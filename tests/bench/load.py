"""Presses as Slack sends them, at a steady pace or as fast as they are answered."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus


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


class _Connection(asyncio.Protocol):
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


async def run_presses(
    port: int,
    requests: Sequence[bytes],
    resumed: Callable[[int], asyncio.Future[float]],
    *,
    per_second: float | None,
    connections: int = 32,
) -> Timings:
    """Send every request once and wait until every run went on.

    ``resumed(n)`` is the future of the moment at which the run of request n
    went on. Without ``per_second`` each connection sends its next request
    when the last one is answered.
    """
    loop = asyncio.get_running_loop()
    idle: asyncio.Queue[_Connection] = asyncio.Queue()
    for _ in range(connections):
        _, connection = await loop.create_connection(_Connection, "127.0.0.1", port)
        idle.put_nowait(connection)
    count = len(requests)
    timings = Timings([0.0] * count, [0.0] * count, [0.0] * count)

    async def send(number: int, connection: _Connection) -> None:
        timings.sent[number] = time.perf_counter()
        status = await connection.send(requests[number])
        timings.answered[number] = time.perf_counter()
        idle.put_nowait(connection)
        if status != 200:
            raise RuntimeError(f"press {number} was answered {status}")

    start = loop.time()
    sending = []
    for number in range(count):
        if per_second is not None:
            await asyncio.sleep(max(start + number / per_second - loop.time(), 0))
        sending.append(asyncio.create_task(send(number, await idle.get())))
    await asyncio.gather(*sending)
    for number in range(count):
        timings.resumed[number] = await resumed(number)
    while not idle.empty():
        idle.get_nowait().close()
    return timings
