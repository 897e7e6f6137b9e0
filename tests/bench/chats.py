"""Slack and Telegram as far as a question needs them: canned answers, at once, to anybody.

They run beside the load, in another process than the bots, and answer as long as the platforms do.
What they are told is handed on as it comes: where a card stands, what it offers, when it changed.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from bench.parsing import HttpProtocol

_NUMBER = re.compile(r"question-(\d+)-of-many")
_TELEGRAM_PRESS = re.compile(r'"callback_data": ?"([^"]+:allow)"')
_TELEGRAM_GROUP = {"id": -1001234567890, "type": "supergroup", "title": "ops"}
_BOT = {"id": 1, "is_bot": True, "first_name": "Sayso", "username": "sayso_bench_bot"}

# What is asked before the first question, by method.
_SAID: Mapping[str, Mapping[str, Any]] = {
    "auth.test": {"team_id": "T0ACME", "team": "acme", "bot_id": "B0SAYSO", "user_id": "U0SAYSO"},
    "bots.info": {"bot": {"app_id": "A0SAYSO"}},
    "conversations.info": {"channel": {"id": "C0OPS", "is_member": True}},
    "users.info": {"user": {"id": "U0ALICE", "team_id": "T0ACME", "profile": {}}},
    "dnd.teaminfo": {"users": {}},
    "getme": _BOT,
    "getchat": _TELEGRAM_GROUP,
    "getchatmember": {"status": "member", "user": _BOT},
    "getwebhookinfo": {
        "url": "https://bots.example/telegram/webhook",
        "has_custom_certificate": False,
        "pending_update_count": 0,
    },
}


@dataclass(frozen=True)
class Shown:
    """A card that a chat was given, when, and what its button Allow sends; or its change."""

    platform: str
    number: int
    is_new: bool
    at: float
    message_id: str
    press: str
    sent_at: float | None


class Chats:
    """Both platforms on one port. ``told`` gets each card and each change of one."""

    def __init__(self, told: Callable[[Shown], None]) -> None:
        self._told = told
        self._ids = count(1)
        self._toasts = 0
        self._known: dict[str, int] = {}
        self.calls = 0

    async def start(self) -> int:
        """Listen, and say on which port."""
        server = await asyncio.get_running_loop().create_server(
            lambda: HttpProtocol(self._answered), "127.0.0.1", 0
        )
        return int(server.sockets[0].getsockname()[1])

    def _answered(self, protocol: HttpProtocol) -> None:
        at = time.perf_counter()
        self.calls += 1
        method = protocol.path.rpartition("/")[2].partition("?")[0]
        is_telegram = protocol.path.startswith("/bot")
        take = self._telegram if is_telegram else self._slack
        protocol.answer(take(method.lower(), protocol, at), "application/json")

    def _slack(self, method: str, protocol: HttpProtocol, at: float) -> bytes:
        if method not in ("chat.postmessage", "chat.update"):
            return json.dumps({"ok": True, **_SAID.get(method, {})}).encode()
        message = json.loads(protocol.body) if protocol.body.startswith(b"{") else _form(protocol)
        is_new = method == "chat.postmessage"
        stamp = f"1700000000.{next(self._ids):06d}" if is_new else str(message["ts"])
        self._tell("slack", is_new, stamp, protocol, at, _slack_press(message["blocks"]))
        told = {"ok": True, "channel": message["channel"], "ts": stamp}
        # As Slack does, the answer has the whole message.
        about = {"type": "message", "ts": stamp, "bot_id": "B0SAYSO", "blocks": message["blocks"]}
        return json.dumps({**told, "message": {**about, "text": message.get("text", "")}}).encode()

    def _telegram(self, method: str, protocol: HttpProtocol, at: float) -> bytes:
        if method not in ("sendmessage", "editmessagetext"):
            return json.dumps({"ok": True, "result": _SAID.get(method, True)}).encode()
        sent = _form(protocol)
        is_new = method == "sendmessage"
        message_id = next(self._ids) if is_new else int(sent["message_id"])
        press = _TELEGRAM_PRESS.search(sent.get("reply_markup", ""))
        self._tell("telegram", is_new, str(message_id), protocol, at, press[1] if press else "")
        result: dict[str, Any] = {
            "message_id": message_id,
            "from": _BOT,
            "chat": _TELEGRAM_GROUP,
            "date": 1700000000,
            "text": sent["text"],
        }
        for name in ("entities", "reply_markup"):
            if sent.get(name):
                result[name] = json.loads(sent[name])
        return json.dumps({"ok": True, "result": result}).encode()

    def _tell(
        self,
        platform: str,
        is_new: bool,
        message_id: str,
        protocol: HttpProtocol,
        at: float,
        press: str,
    ) -> None:
        key = f"{platform}:{message_id}"
        if is_new:
            found = _NUMBER.search(protocol.body.decode())
            if found is None:
                raise ValueError(f"no question of the bench is in {protocol.body!r}")
            self._known[key] = int(found[1])
        sent_at = protocol.headers.get(b"x-sent")
        self._told(
            Shown(
                platform,
                self._known[key],
                is_new,
                at,
                message_id,
                press,
                float(sent_at) if sent_at else None,
            )
        )


def _slack_press(blocks: Any) -> str:
    """What the button Allow of a message sends."""
    some = json.loads(blocks) if isinstance(blocks, str) else blocks
    for block in some:
        for element in block.get("elements", ()) if block["type"] == "actions" else ():
            if element["action_id"] == "sayso:allow":
                return str(element["value"])
    return ""


def _form(protocol: HttpProtocol) -> dict[str, str]:
    """The fields of a call: Telegram takes forms and JSON, Slack too."""
    if protocol.headers.get(b"content-type", b"").startswith(b"application/json"):
        fields = json.loads(protocol.body)
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in fields.items()
        }
    return dict(parse_qsl(protocol.body.decode()))
