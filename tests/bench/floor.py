"""The least that a press costs behind aiohttp: signature, decode, one script on a raw connection.

No authorisation, no expiry, no cards, no audit, no errors: nothing that a product needs. It is
here to be measured beside ours in the same run, because absolute times drift between machines.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections import deque
from typing import Any

import hiredis
from aiohttp import web
from yarl import URL

SETTLE = (
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', 3600) then "
    "redis.call('PUBLISH', ARGV[2], ARGV[1]) return 1 end return 0"
)


class RawRedis(asyncio.Protocol):
    """A pipelining connection without a client library."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self.pushed: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            if self.pushed is not None and isinstance(reply, list) and reply[0] == b"message":
                self.pushed(reply[2])
            elif self._waiting:
                future = self._waiting.popleft()
                if not future.done():
                    future.set_result(reply)

    def call(self, *words: str | bytes | int) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._transport.write(hiredis.pack_command(words))  # type: ignore[attr-defined,arg-type]
        return future


async def connect(path: str) -> RawRedis:
    """A raw connection to the server at a unix socket."""
    _, protocol = await asyncio.get_running_loop().create_unix_connection(RawRedis, path)
    return protocol


async def serve_floor(redis_path: str, port: int, secret: str) -> None:
    """Answer signed Slack presses on a port until cancelled."""
    redis = await connect(redis_path)
    script = await redis.call("SCRIPT", "LOAD", SETTLE)
    key = secret.encode()

    async def press(request: web.Request) -> web.Response:
        body = await request.read()
        stamp = request.headers["X-Slack-Request-Timestamp"]
        if abs(time.time() - int(stamp)) > 300:
            return web.Response(status=401)
        base = b"v0:" + stamp.encode() + b":" + body
        expected = "v0=" + hmac.new(key, base, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, request.headers["X-Slack-Signature"]):
            return web.Response(status=401)
        payload = json.loads(URL("/?" + body.decode(), encoded=True).query["payload"])
        question_id = payload["actions"][0]["value"]
        answer = json.dumps({"id": question_id, "by": payload["user"]["id"], "yes": True})
        await redis.call("EVALSHA", script, 1, "floor:" + question_id, answer, "floor:inbox")
        return web.Response()

    app = web.Application()
    app.router.add_post("/slack/events", press)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


async def floor_inbox(redis_path: str, resolve: Any) -> RawRedis:
    """One subscription; ``resolve`` is called with the id of each answer."""
    redis = await connect(redis_path)
    await redis.call("SUBSCRIBE", "floor:inbox")
    redis.pushed = lambda message: resolve(json.loads(message)["id"])
    return redis
