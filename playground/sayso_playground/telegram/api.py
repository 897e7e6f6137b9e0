"""The HTTP side of the Telegram Bot API: token, bodies, faults and the record of calls."""

import asyncio
import json
from typing import Any

from aiohttp import web

from sayso_playground.config import PlaygroundConfig
from sayso_playground.faults import (
    Call,
    DropConnection,
    Fault,
    Faults,
    RateLimited,
    ServerError,
    Slow,
)
from sayso_playground.telegram.methods import TelegramMethods, Upload
from sayso_playground.telegram.state import Json, TelegramState
from sayso_playground.telegram.state import TelegramRefusalError as Refusal
from sayso_playground.telegram.updates import Updates

_SECRET = ("secret_token",)
# Parameters that come as JSON text in a form, as python-telegram-bot sends them.
_OBJECTS = (
    "allowed_updates",
    "entities",
    "caption_entities",
    "link_preview_options",
    "reply_markup",
    "reply_parameters",
)


class TelegramApi:
    """Answers ``/telegram/bot<token>/<method>``; method names in any case, as Telegram does."""

    def __init__(
        self,
        state: TelegramState,
        faults: Faults,
        calls: list[Call],
        methods: TelegramMethods,
        updates: Updates,
    ) -> None:
        self._config: PlaygroundConfig = state.config
        self._state = state
        self._faults = faults
        self._calls = calls
        self._methods = methods
        self._updates = updates

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one call; a refusal has its code as HTTP status too."""
        method = request.match_info["method"]
        fault = self._faults.take(method)
        arguments: Json = {}
        try:
            if request.match_info["token"] != self._config.telegram_bot_token:
                raise Refusal(401, "Unauthorized")  # noqa: TRY301 - refused like the rest
            arguments = await _arguments(request)
            if isinstance(fault, Slow):  # with the body read: the client may leave meanwhile
                await asyncio.sleep(fault.seconds)
            _misbehave(fault)
            body = {"ok": True, **await self._perform(method.lower(), arguments)}
            status, error = 200, None
        except Refusal as refusal:
            status, error = refusal.code, refusal.description
            body = {"ok": False, "error_code": status, "description": error}
            if refusal.parameters:
                body["parameters"] = refusal.parameters
        dropped = isinstance(fault, DropConnection)
        self._record(method, arguments, 0 if dropped else status, error)
        if dropped and request.transport:
            request.transport.abort()
        return web.json_response(body, status=status)

    def perform_reply(self, method: str, arguments: Json) -> None:
        """Do what a bot's answer to its webhook asks for; nobody learns how it went."""
        known = self._methods.table.get(method.lower())
        try:
            if known:
                known(arguments)
            status, error = 200, None
        except Refusal as refusal:
            status, error = refusal.code, refusal.description
        self._record(method, arguments, status, error)

    def _record(self, method: str, arguments: Json, status: int, error: str | None) -> None:
        shown = {name: value for name, value in arguments.items() if name not in _SECRET}
        self._calls.append(Call(method, shown, status, error))
        self._state.changed()

    async def _perform(self, method: str, arguments: Json) -> Json:
        if method == "getupdates":
            return {"result": await self._updates.poll(arguments)}
        if method == "setwebhook":
            return {"result": True, "description": self._updates.set_webhook(arguments)}
        if method == "deletewebhook":
            empty = {"url": "", "drop_pending_updates": arguments.get("drop_pending_updates")}
            return {"result": True, "description": self._updates.set_webhook(empty)}
        if method == "getwebhookinfo":
            return {"result": self._updates.webhook_info()}
        if method not in self._methods.table:
            raise Refusal(404, "Not Found: method not found")
        return {"result": self._methods.table[method](arguments)}


def _misbehave(fault: Fault | None) -> None:
    if isinstance(fault, RateLimited):
        text = f"Too Many Requests: retry after {fault.seconds}"
        raise Refusal(429, text, retry_after=fault.seconds)
    if isinstance(fault, ServerError):
        raise Refusal(fault.status, "Internal Server Error")


async def _arguments(request: web.Request) -> Json:
    """Query, form, multipart with files, or JSON."""
    arguments: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:
            raise Refusal(400, "Bad Request: can't parse request body as JSON object") from None
        if not isinstance(body, dict):
            raise Refusal(400, "Bad Request: can't parse request body as JSON object")
        return arguments | body
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            content = value.file.read()
            arguments[name] = Upload(value.filename, content, value.content_type)
        else:
            arguments[name] = _decode_object(str(value)) if name in _OBJECTS else value
    return arguments


def _decode_object(text: str) -> Any:
    """Decode a parameter of a form; the method refuses one that stays a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
