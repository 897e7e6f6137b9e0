"""The same two bots as people write them: bolt, python-telegram-bot and redis-py, as they come.

An agent pushes its question to a list and waits for the answer on another. One process shows it in
both chats, takes the press from either, lets the first one count and changes both messages. It
checks the signature and the secret; who may answer, expiry, audit and repeats are not looked at.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from typing import Any

from aiohttp import web
from bench.telling import slack_message, telegram_message
from redis.asyncio import Redis
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Update
from telegram.ext import Application, CallbackQueryHandler

ASKED = "everyday:asked"


def answer_key(question_id: str) -> str:
    """Where the answer to a question is pushed to."""
    return f"everyday:answer:{question_id}"


class Everyday:
    """Both bots in one process."""

    def __init__(self, redis: Redis, secret: str, hook: str, chats: int) -> None:
        self._redis = redis
        self._hook = hook
        api = f"http://127.0.0.1:{chats}"
        client = AsyncWebClient(token="xoxb-bench", base_url=f"{api}/api/")
        self._slack = AsyncApp(signing_secret=secret, client=client)
        self._telegram = (
            Application.builder().token("1:bench").base_url(f"{api}/bot").updater(None).build()
        )
        self._shown: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._slack.action("sayso:allow")(self._slack_pressed)
        self._telegram.add_handler(CallbackQueryHandler(self._telegram_pressed))

    async def run(self, port: int) -> None:
        """Take presses, and show what is asked, until cancelled."""
        app = web.Application()
        app.router.add_post("/slack/events", self._slack_in)
        app.router.add_post("/telegram/webhook", self._telegram_in)
        async with self._telegram:
            await self._telegram.start()
            runner = web.AppRunner(app)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            while True:
                found: Any = await self._redis.blpop([ASKED], timeout=0)
                asked = json.loads(found[1])
                self._shown[asked["question_id"]] = asyncio.create_task(self._show(**asked))

    async def _show(self, question_id: str, number: int) -> dict[str, Any]:
        slack, telegram = await asyncio.gather(
            self._slack.client.chat_postMessage(**slack_message(question_id, number)),
            self._telegram.bot.send_message(**telegram_message(question_id, number)),
        )
        return {"number": number, "slack": slack["ts"], "telegram": telegram.message_id}

    async def _slack_in(self, request: web.Request) -> web.Response:
        answered = await self._slack.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answered)

    async def _telegram_in(self, request: web.Request) -> web.Response:
        given = request.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        if not hmac.compare_digest(given, self._hook):
            return web.Response(status=401)
        update = Update.de_json(await request.json(), self._telegram.bot)
        await self._telegram.update_queue.put(update)
        return web.Response()

    async def _slack_pressed(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        await self._answer(body["actions"][0]["value"], f"slack:{body['user']['id']}")

    async def _telegram_pressed(self, update: Update, context: Any) -> None:
        query = update.callback_query
        if query is None or query.data is None:
            return
        await query.answer("Allowed")
        await self._answer(query.data.split(":")[1], f"telegram:{query.from_user.id}")

    async def _answer(self, question_id: str, by: str) -> None:
        answer = json.dumps({"id": question_id, "by": by, "approved": True})
        if not await self._redis.set(f"everyday:by:{question_id}", by, nx=True, ex=3600):
            return
        await self._redis.rpush(answer_key(question_id), answer)
        where = await self._shown.pop(question_id)
        number = where["number"]
        await asyncio.gather(
            self._slack.client.chat_update(ts=where["slack"], **slack_message("", number)),
            self._telegram.bot.edit_message_text(
                message_id=where["telegram"], **telegram_message("", number)
            ),
        )


async def serve_everyday(redis_path: str, port: int, secret: str, hook: str, chats: int) -> None:
    """Serve both bots until cancelled."""
    await Everyday(Redis(unix_socket_path=redis_path), secret, hook, chats).run(port)
