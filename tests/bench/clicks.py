"""Clicks on Allow as both platforms send them: about 3 KB, signed or with the secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from itertools import count
from typing import Any
from urllib.parse import quote_plus

_UPDATES = count(1)
_WORDS = "terraform apply -auto-approve -var environment=production "


def a_click(
    platform: str, token: str, message_id: str, secret: str, hook: str
) -> tuple[str, bytes, dict[str, str]]:
    """Build the path, the body and the headers of a click, signed now."""
    if platform == "telegram":
        headers = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": hook}
        body = json.dumps(_telegram_update(token, message_id)).encode()
        return "/telegram/webhook", body, headers
    payload = json.dumps(_slack_payload(token, message_id), separators=(",", ":"))
    body = f"payload={quote_plus(payload)}".encode()
    stamp = str(int(time.time()))
    base = b"v0:" + stamp.encode() + b":" + body
    return (
        "/slack/events",
        body,
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": "v0="
            + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest(),
        },
    )


def _slack_payload(token: str, message_id: str) -> dict[str, Any]:
    pre = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": _WORDS * 8}]}
    blocks = [{"type": "rich_text", "block_id": name, "elements": [pre]} for name in ("a", "b")]
    return {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "username": "alice", "name": "alice", "team_id": "T0ACME"},
        "api_app_id": "A0SAYSO",
        "token": "placeholder",
        "container": {"type": "message", "message_ts": message_id, "channel_id": "C0OPS"},
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
            "blocks": blocks,
        },
        "state": {"values": {}},
        "response_url": "https://hooks.slack.example/actions/placeholder",
        "actions": [
            {
                "action_id": "sayso:allow",
                "block_id": f"sayso:{token}",
                "text": {"type": "plain_text", "text": "Allow", "emoji": False},
                "value": token,
                "style": "primary",
                "type": "button",
                "action_ts": "1700000000.000001",
            }
        ],
    }


def _telegram_update(token: str, message_id: str) -> dict[str, Any]:
    text = _WORDS * 30
    buttons = [
        {"text": label, "callback_data": f"p1:{token}:{label.lower()}"}
        for label in ("Allow", "Deny")
    ]
    message = {
        "message_id": int(message_id),
        "from": {"id": 1, "is_bot": True, "first_name": "Sayso", "username": "sayso_bench_bot"},
        "chat": {"id": -1001234567890, "title": "ops", "type": "supergroup"},
        "date": 1700000000,
        "text": text,
        "entities": [{"type": "pre", "offset": 0, "length": len(text)}],
        "reply_markup": {"inline_keyboard": [buttons]},
    }
    query = {
        "id": secrets.token_hex(9),
        "from": {"id": 4242, "is_bot": False, "first_name": "Alice", "language_code": "en"},
        "message": message,
        "chat_instance": "4242424242",
        "data": buttons[0]["callback_data"],
    }
    return {"update_id": next(_UPDATES), "callback_query": query}
