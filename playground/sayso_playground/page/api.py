"""The page: a live picture of both chats, and the hands of its visitor."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import (
    CALLBACK,
    Changes,
    DeliverTwice,
    Delivery,
    DropConnection,
    Fault,
    RateLimited,
    ServerError,
    Slow,
)
from sayso_playground.slack.double import SlackDouble
from sayso_playground.slack.forms import HELD_BACK
from sayso_playground.slack.state import Json, SlackMessage, SlackView
from sayso_playground.telegram.double import TelegramDouble
from sayso_playground.telegram.state import TelegramMessage

_FILES = Path(__file__).parent / "files"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Action = Callable[[Json], Awaitable[Delivery | None]]


class PageApi:
    """Routes of the page. Only JSON bodies act, so no other site can make a browser press."""

    def __init__(
        self,
        config: PlaygroundConfig,
        changes: Changes,
        slack: SlackDouble,
        telegram: TelegramDouble,
    ) -> None:
        self._config = config
        self._changes = changes
        self._slack = slack
        self._telegram = telegram
        self._streams: set[asyncio.Task[Any] | None] = set()
        self._actions: dict[str, Action] = {
            "slack/press": self._slack_press,
            "slack/submit": self._slack_submit,
            "slack/close": self._slack_close,
            "telegram/press": self._telegram_press,
            "telegram/say": self._telegram_say,
            "telegram/correct": self._telegram_correct,
            "misbehave": self._misbehave,
        }

    @property
    def routes(self) -> list[web.RouteDef]:
        """The page, its files, its stream of pictures and its actions."""
        return [
            web.get("/", self._index),
            web.get("/page/{name}", self._file),
            web.get("/api/state", self._state),
            web.get("/api/stream", self._stream),
            web.get("/api/documents/{file_id}", self._document),
            web.post("/api/{action:.+}", self._act),
        ]

    async def stop(self, _: web.Application) -> None:
        """End the streams, so that the server can end."""
        streams = [stream for stream in self._streams if stream]
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)

    async def _index(self, request: web.Request) -> web.StreamResponse:
        self._check_host(request)
        return web.FileResponse(_FILES / "index.html", headers=_HEADERS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in {path.name for path in _FILES.iterdir()}:
            raise web.HTTPNotFound
        return web.FileResponse(_FILES / name, headers=_HEADERS)

    async def _state(self, request: web.Request) -> web.Response:
        self._check_host(request)
        return web.json_response(picture(self._config, self._slack, self._telegram))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the whole picture, now and after every change."""
        self._check_host(request)
        headers = {**_HEADERS, "Content-Type": "text/event-stream"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        task = asyncio.current_task()
        self._streams.add(task)
        try:
            version = -1
            while True:
                version = await self._changes.after(version)
                shown = json.dumps(picture(self._config, self._slack, self._telegram))
                await response.write(f"data: {shown}\n\n".encode())
        except (asyncio.CancelledError, ConnectionError):
            return response
        finally:
            self._streams.discard(task)

    async def _document(self, request: web.Request) -> web.Response:
        self._check_host(request)
        for message in self._telegram.messages():
            document = message.document
            if document and document.file_id == request.match_info["file_id"]:
                name = "".join(c if c.isalnum() or c in "._-" else "_" for c in document.name)
                headers = {"Content-Disposition": f'attachment; filename="{name}"', **_HEADERS}
                return web.Response(
                    body=document.content,
                    content_type="application/octet-stream",
                    headers=headers,
                )
        raise web.HTTPNotFound

    async def _act(self, request: web.Request) -> web.Response:
        self._check_host(request)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        action = self._actions.get(request.match_info["action"])
        if action is None:
            raise web.HTTPNotFound
        try:
            delivery = await action(await request.json())
        except (KeyError, LookupError, ValueError, TypeError) as error:
            return web.json_response({"error": str(error)}, status=400)
        if delivery is None:
            return web.json_response({})
        shown = {"error": delivery.error, "toast": delivery.toast, "alert": delivery.alert}
        return web.json_response({**shown, "status": delivery.status})

    def _check_host(self, request: web.Request) -> None:
        """A foreign name that resolves to this machine is refused: DNS rebinding."""
        name = request.url.host
        if self._config.host in _LOOPBACK and name not in _LOOPBACK:
            raise web.HTTPForbidden

    async def _slack_press(self, body: Json) -> Delivery:
        shown: SlackMessage | SlackView | None
        if "view" in body:
            shown = self._slack.view(body["by"])
        else:
            shown = self._slack.state.messages[body["channel"], body["ts"]]
        if shown is None:
            raise LookupError("there is no such form any more")
        # Several blocks can have a button of the same action_id.
        button = f"{body['block_id']}/{body['action_id']}"
        return await self._slack.press(shown, button, by=body["by"], choose=body.get("choose"))

    async def _slack_submit(self, body: Json) -> Delivery | None:
        view = self._slack.view(body["by"])
        if view is None:
            raise LookupError("there is no such form any more")
        delivery = await self._slack.submit(view, body["values"], by=body["by"])
        # What Slack's own client insists on is shown beside the inputs.
        return None if delivery.error == HELD_BACK else delivery

    async def _slack_close(self, body: Json) -> Delivery | None:
        view = self._slack.view(body["by"])
        return await self._slack.close_view(view, by=body["by"]) if view else None

    async def _telegram_press(self, body: Json) -> Delivery:
        message = self._telegram.state.messages[body["chat"], body["message_id"]]
        return await self._telegram.press_data(message, body["data"], by=body["by"], timeout=10)

    async def _telegram_say(self, body: Json) -> None:
        self._telegram.say(
            body["chat"],
            body["text"],
            by=body["by"],
            reply_to=body.get("reply_to"),
            thread_id=body.get("thread_id"),
        )

    async def _telegram_correct(self, body: Json) -> None:
        message = self._telegram.state.messages[body["chat"], body["message_id"]]
        if message.sender != self._config.member(body["by"]).telegram_id:
            raise ValueError("people edit their own messages only")
        self._telegram.correct(message, body["text"])

    async def _misbehave(self, body: Json) -> None:
        double = self._slack if body["platform"] == "slack" else self._telegram
        if body["fault"] == "none":
            double.behave()
            return
        number = int(body.get("number") or 3)
        faults: dict[str, Fault] = {
            "rate_limited": RateLimited(number),
            "server_error": ServerError(503),
            "slow": Slow(number),
            "drop": DropConnection(),
            "twice": DeliverTwice(),
        }
        fault = faults[body["fault"]]
        method = CALLBACK if isinstance(fault, DeliverTwice) else "*"
        double.misbehave(method, fault, times=int(body.get("times") or 1))


def picture(config: PlaygroundConfig, slack: SlackDouble, telegram: TelegramDouble) -> Json:
    """Both platforms as they stand now."""
    members = [
        {"name": m.name, "slack": m.slack_id, "telegram": m.telegram_id} for m in config.members
    ]
    return {
        "members": members,
        "slack": _slack(config, slack),
        "telegram": _telegram(config, telegram),
        "calls": _calls(slack, telegram),
    }


def _slack(config: PlaygroundConfig, slack: SlackDouble) -> Json:
    state = slack.state
    channels = [
        {
            "id": channel.id,
            "name": channel.name,
            "dm_with": channel.members[0] if channel.id[0] == "D" and channel.members else None,
            "bot_is_member": channel.is_member,
            "members": channel.members,
        }
        for channel in state.channels.values()
    ]
    views = {
        owner: {"id": view.id, "view": view.view, "errors": view.errors}
        for owner, view in state.views.items()
    }
    return {
        "team": config.slack_team_domain,
        "bot": {"id": config.slack_bot_user_id, "name": config.slack_bot_name},
        "channels": channels,
        "groups": {group.id: group.handle for group in config.slack_usergroups},
        "messages": [_slack_message(slack, message) for message in state.messages.values()],
        "views": views,
        "faults": slack.faults.planned(),
    }


def _slack_message(slack: SlackDouble, message: SlackMessage) -> Json:
    return {
        "channel": message.channel,
        "ts": message.ts,
        "user": message.user,
        "text": message.text,
        "blocks": message.blocks,
        "thread_ts": message.thread_ts,
        "only_for": message.only_for,
        "edited": message.edited,
        "error": slack.error_mark(message),
    }


def _telegram(config: PlaygroundConfig, telegram: TelegramDouble) -> Json:
    state = telegram.state
    chats = [
        {
            "id": chat.id,
            "kind": chat.kind,
            "title": chat.title,
            "topics": {str(number): name for number, name in chat.topics.items()},
            "migrated_to": chat.migrated_to,
            "bot_is_member": chat.bot_is_member,
        }
        for chat in state.chats.values()
    ]
    return {
        "bot": {"id": state.bot_id, "name": config.telegram_bot_name},
        "chats": chats,
        "messages": [_telegram_message(telegram, message) for message in state.messages.values()],
        "faults": telegram.faults.planned(),
    }


def _telegram_message(telegram: TelegramDouble, message: TelegramMessage) -> Json:
    document = message.document
    people = [member.telegram_id for member in telegram.config.members]
    return {
        "chat": message.chat,
        "id": message.id,
        "sender": message.sender,
        "date": message.date,
        "text": message.text,
        "entities": message.entities,
        "rows": message.rows,
        "force_reply": message.other_markup,
        "asks": [person for person in people if telegram.state.asks(message, person)],
        "thread_id": message.thread_id,
        "reply_to": message.reply_to,
        "edited": bool(message.edited),
        "service": message.service,
        "document": document
        and {"id": document.file_id, "name": document.name, "size": len(document.content)},
    }


def _calls(slack: SlackDouble, telegram: TelegramDouble) -> list[Json]:
    """The last calls of each platform: names and outcomes, no arguments."""
    return [
        {"platform": name, "method": call.method, "status": call.status, "error": call.error}
        for name, double in (("slack", slack), ("telegram", telegram))
        for call in double.calls[-20:]
    ]
