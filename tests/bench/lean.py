"""The tight floor: the least that a press, and a whole question, can cost in Python.

A parser in C on a bare connection, the same signature check, one script call over a raw connection,
and the same kind of inbox. For a whole question also the calls to both chats, over aiohttp's client
and with text that is there already. Nothing that a product needs is in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from binascii import a2b_qp
from typing import Any

import aiohttp
from bench.floor import SETTLE, RawRedis, connect
from bench.parsing import HttpProtocol
from bench.telling import slack_message, telegram_message

ASKED = "lean:asked"
_API = "http://127.0.0.1:{}/"


class Lean:
    """Presses of both platforms; with ``chats``, a port, questions too."""

    def __init__(self, redis: RawRedis, script: bytes, secret: str, hook: str, chats: int) -> None:
        self._redis = redis
        self._script = script
        self._secret = secret.encode()
        self._hook = hook.encode()
        self._api = _API.format(chats) if chats else ""
        self._cards: dict[str, asyncio.Task[tuple[int, str, int]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession

    async def open(self) -> None:
        self._session = aiohttp.ClientSession()

    def taken(self, protocol: HttpProtocol) -> None:
        """A request, which is a press."""
        if protocol.path == "/slack/events":
            found = self._slack_press(protocol)
        else:
            found = self._telegram_press(protocol)
        if found is None:
            protocol.answer(status="401 Unauthorized")
            return
        question_id, by, query = found
        answer = json.dumps({"id": question_id, "by": by, "yes": True})
        key = "lean:" + question_id
        settled = self._redis.call("EVALSHA", self._script, 1, key, answer, "floor:inbox")
        settled.add_done_callback(lambda _: protocol.answer())
        if question_id in self._cards:
            task = asyncio.create_task(self._change(question_id, query))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def asked(self, question_id: bytes) -> None:
        """A question to show."""
        shown = question_id.decode()
        self._cards[shown] = asyncio.create_task(self._show(shown))

    def _slack_press(self, protocol: HttpProtocol) -> tuple[str, str, str] | None:
        body, stamp = protocol.body, protocol.headers[b"x-slack-request-timestamp"]
        if abs(time.time() - int(stamp)) > 300:
            return None
        base = b"v0:" + stamp + b":" + body
        expected = "v0=" + hmac.new(self._secret, base, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected.encode(), protocol.headers[b"x-slack-signature"]):
            return None
        # A form that is percent-encoded throughout is quoted-printable but for its signs.
        quoted = body.removeprefix(b"payload=").replace(b"+", b" ").replace(b"%", b"=")
        payload = json.loads(a2b_qp(quoted))
        return payload["actions"][0]["value"], payload["user"]["id"], ""

    def _telegram_press(self, protocol: HttpProtocol) -> tuple[str, str, str] | None:
        given = protocol.headers[b"x-telegram-bot-api-secret-token"]
        if not hmac.compare_digest(given, self._hook):
            return None
        query = json.loads(protocol.body)["callback_query"]
        question_id = query["data"].removeprefix("p1:").partition(":")[0]
        return question_id, str(query["from"]["id"]), query["id"]

    async def _show(self, question_id: str) -> tuple[int, str, int]:
        number = int(question_id.rpartition("-")[2])
        slack, telegram = await asyncio.gather(
            self._slack("chat.postMessage", slack_message(question_id, number)),
            self._telegram("sendMessage", telegram_message(question_id, number)),
        )
        return number, slack["ts"], telegram["result"]["message_id"]

    async def _change(self, question_id: str, query: str) -> None:
        number, stamp, message_id = await self._cards.pop(question_id)
        calls = [
            self._slack("chat.update", {**slack_message("", number), "ts": stamp}),
            self._telegram(
                "editMessageText", {**telegram_message("", number), "message_id": message_id}
            ),
        ]
        if query:
            toast = {"callback_query_id": query, "text": "Allowed"}
            calls.append(self._telegram("answerCallbackQuery", toast))
        await asyncio.gather(*calls)

    async def _slack(self, method: str, arguments: dict[str, Any]) -> Any:
        return await self._post(f"{self._api}api/{method}", arguments)

    async def _telegram(self, method: str, arguments: dict[str, Any]) -> Any:
        return await self._post(f"{self._api}bot1:bench/{method}", arguments)

    async def _post(self, url: str, arguments: dict[str, Any]) -> Any:
        headers = {"X-Sent": repr(time.perf_counter())}
        async with self._session.post(url, json=arguments, headers=headers) as response:
            return await response.json()


async def serve_lean(redis_path: str, port: int, secret: str, hook: str, chats: int) -> None:
    """Answer presses on a port, and show questions where there are chats, until cancelled."""
    redis = await connect(redis_path)
    lean = Lean(redis, await redis.call("SCRIPT", "LOAD", SETTLE), secret, hook, chats)
    await lean.open()
    if chats:
        asked = await connect(redis_path)
        await asked.call("SUBSCRIBE", ASKED)
        asked.pushed = lean.asked
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: HttpProtocol(lean.taken), "127.0.0.1", port)
    await asyncio.Event().wait()
