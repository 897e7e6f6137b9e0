"""Slack and Telegram as far as a question needs them: canned responses, at once, to anybody.

They run beside the load, in another process than the bots. Each card is handed on as it comes: its
message, the button Allow that it offers, and when it changed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from aiohttp import web
from support.ports import free_port

_NUMBER = re.compile(r"question-(\d+)-of-many")
_TELEGRAM_ALLOW = re.compile(r'"callback_data": ?"([^"]+:allow)"')
_GROUP = {"id": -1001234567890, "type": "supergroup", "title": "ops"}
_BOT = {"id": 1, "is_bot": True, "first_name": "Sayso", "username": "sayso_bench_bot"}

# Calls that come before the first question, by method.
_CANNED: Mapping[str, Mapping[str, Any]] = {
    "auth.test": {"team_id": "T0ACME", "team": "acme", "bot_id": "B0SAYSO", "user_id": "U0SAYSO"},
    "bots.info": {"bot": {"app_id": "A0SAYSO"}},
    "conversations.info": {"channel": {"id": "C0OPS", "is_member": True}},
    "users.info": {"user": {"id": "U0ALICE", "team_id": "T0ACME", "profile": {}}},
    "dnd.teaminfo": {"users": {}},
    "getme": _BOT,
    "getchat": _GROUP,
    "getchatmember": {"status": "member", "user": _BOT},
    "getwebhookinfo": {
        "url": "https://bots.example/telegram/webhook",
        "has_custom_certificate": False,
        "pending_update_count": 0,
    },
}


@dataclass(frozen=True)
class Posted:
    """A card as a chat got it, or a change of it."""

    platform: str
    number: int
    is_new: bool
    at: float
    message_id: str
    token: str


class Chats:
    """Both platforms on one port; ``on_card`` gets each card and each change of one."""

    def __init__(self, on_card: Callable[[Posted], None]) -> None:
        self._on_card = on_card
        self._ids = count(1)
        self._numbers: dict[str, int] = {}
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """Listen, and return the address."""
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._slack)
        app.router.add_route("*", "/bot{token}/{method}", self._telegram)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        port = free_port()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        return f"http://127.0.0.1:{port}"

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _slack(self, request: web.Request) -> web.Response:
        method = request.match_info["method"].lower()
        if method not in ("chat.postmessage", "chat.update"):
            return web.json_response({"ok": True, **_CANNED.get(method, {})})
        fields = await _fields(request)
        is_new = method == "chat.postmessage"
        stamp = f"1700000000.{next(self._ids):06d}" if is_new else str(fields["ts"])
        blocks = json.loads(fields["blocks"])
        self._tell("slack", is_new, stamp, fields["blocks"], _slack_token(blocks))
        message = {"type": "message", "ts": stamp, "bot_id": "B0SAYSO", "blocks": blocks}
        response = {"ok": True, "channel": fields["channel"], "ts": stamp}
        return web.json_response({**response, "message": {**message, "text": fields["text"]}})

    async def _telegram(self, request: web.Request) -> web.Response:
        method = request.match_info["method"].lower()
        if method not in ("sendmessage", "editmessagetext"):
            return web.json_response({"ok": True, "result": _CANNED.get(method, True)})
        fields = await _fields(request)
        is_new = method == "sendmessage"
        message_id = next(self._ids) if is_new else int(fields["message_id"])
        allow = _TELEGRAM_ALLOW.search(fields.get("reply_markup", ""))
        token = allow[1].split(":")[1] if allow else ""
        self._tell("telegram", is_new, str(message_id), fields["text"], token)
        result = {"message_id": message_id, "from": _BOT, "chat": _GROUP, "date": 1700000000}
        result["text"] = fields["text"]
        for name in ("entities", "reply_markup"):
            if fields.get(name):
                result[name] = json.loads(fields[name])
        return web.json_response({"ok": True, "result": result})

    def _tell(self, platform: str, is_new: bool, message_id: str, text: str, token: str) -> None:
        at, key = time.perf_counter(), f"{platform}:{message_id}"
        if is_new:
            named = _NUMBER.search(text)
            if named is None:
                raise ValueError(f"no question of the bench is in {text!r}")
            self._numbers[key] = int(named[1])
        self._on_card(Posted(platform, self._numbers[key], is_new, at, message_id, token))


async def _fields(request: web.Request) -> dict[str, str]:
    """Read the fields of a call: both platforms take forms and JSON."""
    if request.content_type != "application/json":
        return {name: str(value) for name, value in (await request.post()).items()}
    fields = await request.json()
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in fields.items()
    }


def _slack_token(blocks: list[dict[str, Any]]) -> str:
    """Return what the button Allow of a message sends."""
    for block in blocks:
        for element in block.get("elements", ()) if block["type"] == "actions" else ():
            if element["action_id"] == "sayso:allow":
                return str(element["value"])
    return ""
