"""The same two bots as people write them: bolt, python-telegram-bot and redis-py, as they come.

An agent pushes its question to a list and waits for the answer on another. One process posts it in
both chats, takes the click from either, lets the first one count and changes both messages. It
checks the signature and the secret; approvers, expiry, audit and repeats are not looked at.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import sys
from typing import Any

from aiohttp import web
from redis.asyncio import Redis
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Update
from telegram.ext import Application, CallbackQueryHandler

ASKED = "everyday:asked"
_COMMAND = "terraform apply -auto-approve -var environment=production -var region=eu-west-1"
_TARGETS = tuple(f"-target=module.service_{number}.aws_instance.web" for number in range(4))
ARGUMENTS = {"command": " ".join((_COMMAND, *_TARGETS)), "folder": "infra/production"}
"""The arguments of the call that both sides ask about."""


def answer_key(question_id: str) -> str:
    """Name the list that the answer to a question is pushed to."""
    return f"everyday:answer:{question_id}"


class Everyday:
    """Both bots in one process."""

    def __init__(self, redis: Redis, secret: str, hook: str, chats: str) -> None:
        self._redis = redis
        self._hook = hook
        client = AsyncWebClient(token="xoxb-bench", base_url=f"{chats}/api/")
        self._slack = AsyncApp(signing_secret=secret, client=client)
        self._telegram = (
            Application.builder().token("1:bench").base_url(f"{chats}/bot").updater(None).build()
        )
        self._posted: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._slack.action("sayso:allow")(self._slack_clicked)
        self._telegram.add_handler(CallbackQueryHandler(self._telegram_clicked))

    async def run(self, port: int) -> None:
        """Take clicks and post questions until cancelled."""
        app = web.Application()
        app.router.add_post("/slack/events", self._slack_in)
        app.router.add_post("/telegram/webhook", self._telegram_in)
        async with self._telegram:
            await self._telegram.start()
            runner = web.AppRunner(app)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            while True:
                popped: Any = await self._redis.blpop([ASKED], timeout=0)
                asked = json.loads(popped[1])
                self._posted[asked["question_id"]] = asyncio.create_task(self._post(**asked))

    async def _post(self, question_id: str, number: int) -> dict[str, Any]:
        slack, telegram = await asyncio.gather(
            self._slack.client.chat_postMessage(**_slack_message(question_id, number)),
            self._telegram.bot.send_message(**_telegram_message(question_id, number)),
        )
        return {"number": number, "slack": slack["ts"], "telegram": telegram.message_id}

    async def _slack_in(self, request: web.Request) -> web.Response:
        response = await self._slack.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(response)

    async def _telegram_in(self, request: web.Request) -> web.Response:
        given = request.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        if not hmac.compare_digest(given, self._hook):
            return web.Response(status=401)
        update = Update.de_json(await request.json(), self._telegram.bot)
        await self._telegram.update_queue.put(update)
        return web.Response()

    async def _slack_clicked(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        await self._answer(body["actions"][0]["value"], f"slack:{body['user']['id']}")

    async def _telegram_clicked(self, update: Update, context: Any) -> None:
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
        posted = await self._posted.pop(question_id)
        number = posted["number"]
        await asyncio.gather(
            self._slack.client.chat_update(ts=posted["slack"], **_slack_message("", number)),
            self._telegram.bot.edit_message_text(
                message_id=posted["telegram"], **_telegram_message("", number)
            ),
        )


def _text(number: int) -> str:
    return "\n".join((f"Reason given: question-{number}-of-many", *ARGUMENTS.values()))


def _slack_message(token: str, number: int) -> dict[str, Any]:
    """Build a card for Slack; without a token it has no buttons any more."""
    pre = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": _text(number)}]}
    state = "Waits" if token else "Allowed by alice"
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*deploy-bot* asks: `run_command`"}},
        {"type": "rich_text", "elements": [pre]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": state}]},
    ]
    if token:
        buttons = [
            {
                "type": "button",
                "action_id": f"sayso:{label.lower()}",
                "text": {"type": "plain_text", "text": label, "emoji": False},
                "value": token,
            }
            for label in ("Allow", "Deny")
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return {"channel": "C0OPS", "text": "deploy-bot asks", "blocks": blocks}


def _telegram_message(token: str, number: int) -> dict[str, Any]:
    """Build the same for Telegram."""
    head, text = "deploy-bot asks: run_command\n", _text(number)
    message: dict[str, Any] = {
        "chat_id": -1001234567890,
        "text": head + text,
        "entities": [
            {"type": "bold", "offset": 0, "length": 10},
            {"type": "pre", "offset": len(head), "length": len(text)},
        ],
    }
    if token:
        buttons = [
            {"text": label, "callback_data": f"p1:{token}:{label.lower()}"}
            for label in ("Allow", "Deny")
        ]
        message["reply_markup"] = {"inline_keyboard": [buttons]}
    return message


async def _main(redis_path: str, port: str, chats: str) -> None:
    secret, hook = os.environ["SLACK_SIGNING_SECRET"], os.environ["TELEGRAM_WEBHOOK_SECRET"]
    await Everyday(
        Redis(unix_socket_path=redis_path, socket_timeout=None), secret, hook, chats
    ).run(int(port))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
