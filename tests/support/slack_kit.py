"""What the Slack tests share: cards, a desk that only listens, callbacks and their signatures."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.test_utils import TestClient

from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.values import one_value
from sayso_slack import SlackConfig, SlackListener

FIXTURES = Path(__file__).parents[1] / "adapters" / "slack" / "fixtures"
SECRET = "a-signing-secret-of-this-test"
TOKEN = "xoxb-playground"
TEAM, APP = "T0ACME", "A0SAYSO"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"

ALLOW = Choice("allow", "Allow", "primary", needs_sight=True)
ALWAYS = Choice("always", "Always", stores="bash with exactly these arguments", needs_sight=True)
DENY = Choice("deny", "Deny", "danger")

Payload = dict[str, Any]
Client = TestClient[web.Request, web.Application]


def a_config(**changes: Any) -> SlackConfig:
    return SlackConfig(
        **{
            "bot_token": TOKEN,
            "signing_secrets": (SECRET,),
            "team_id": TEAM,
            "app_id": APP,
            # The played platform takes as many messages as there are.
            "per_channel": None,
            **changes,
        }
    )


def a_body(*, content: str = "command: git status", **changes: Any) -> CardBody:
    """The body of a card; ``content`` is its one value, without a name."""
    return CardBody(
        **{
            "title": "bash",
            "description": "Show the status",
            "values": one_value(content),
            "digest": "0123456789ab",
            "facts": (("Source", "shell"),),
            "choices": (ALLOW, ALWAYS, DENY),
            **changes,
        }
    )


def a_card(
    state: Open | Ended | None = None,
    *,
    handle: str = "h4ndle",
    asker: str = "deploy-bot › researcher",
    limit: int = 2_900,
    revealed: bool = False,
    **body: Any,
) -> Card:
    return Card(
        handle=handle,
        body=a_body(**body),
        asker=asker,
        expires_at=datetime(2027, 1, 15, 8, 10, tzinfo=UTC),
        limit=limit,
        reveal_limit=150_000,
        revealed=revealed,
        state=state or Open(),
    )


def an_ending(outcome: str = "approved", **changes: Any) -> Ended:
    at = datetime(2027, 1, 15, 8, 5, tzinfo=UTC)
    return Ended(**{"outcome": outcome, "at": at, "by": "alice", **changes})


def fixture(name: str) -> Payload:
    found: Payload = json.loads((FIXTURES / name).read_text())
    return found


def fixtures() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / "index.json").read_text())
    return found


def a_press(**changes: Any) -> Payload:
    """A press of Allow as Slack sends it; a change to ``...`` removes the field."""
    payload: Payload = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "username": "alice", "team_id": TEAM},
        "api_app_id": APP,
        "token": "PLACEHOLDER_VERIFICATION_TOKEN",
        "container": {
            "type": "message",
            "message_ts": "1700000000.000100",
            "channel_id": "C0OPS",
            "is_ephemeral": False,
        },
        "trigger_id": "1.2.PLACEHOLDER_TRIGGER",
        "team": {"id": TEAM, "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": "C0OPS", "name": "ops"},
        "message": {"type": "message", "ts": "1700000000.000100", "text": "May I?"},
        "state": {"values": {}},
        "response_url": "https://hooks.slack.com/actions/T0ACME/1/PLACEHOLDER_SECRET",
        "actions": [an_action()],
    }
    changed = {**payload, **changes}
    return {name: value for name, value in changed.items() if name not in changes or value != ...}


def an_action(**changes: Any) -> Payload:
    action: Payload = {
        "type": "button",
        "action_id": "sayso:allow",
        "block_id": "sayso:h4ndle",
        "text": {"type": "plain_text", "text": "Allow"},
        "value": "h4ndle",
        "action_ts": "1700000001.000000",
    }
    return {**action, **changes}


def on_the_wire(document: Payload, transport: str = "form-payload") -> tuple[str, bytes]:
    """Content type and body of a document, as its transport says."""
    if transport == "json":
        return JSON, json.dumps(document).encode()
    fields = document if transport == "form-fields" else {"payload": json.dumps(document)}
    return FORM, urlencode(fields).encode()


def signed(
    body: bytes, at: float, *, secret: str = SECRET, content_type: str = FORM
) -> dict[str, str]:
    """The headers that make these bytes Slack's."""
    timestamp = str(int(at))
    base = b"v0:" + timestamp.encode() + b":" + body
    signature = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": f"v0={signature}",
    }


def callback(
    document: Payload, at: float, transport: str = "form-payload"
) -> tuple[dict[str, str], bytes]:
    """Headers and body of a signed callback."""
    content_type, body = on_the_wire(document, transport)
    return signed(body, at, content_type=content_type), body


async def post(client: Client, headers: dict[str, str], body: bytes) -> tuple[int, str]:
    """Status and text of what the listener answers."""
    async with client.post("/slack/events", data=io.BytesIO(body), headers=headers) as answer:
        return answer.status, await answer.text()


@asynccontextmanager
async def served(listener: SlackListener) -> AsyncIterator[str]:
    """The listener as a server runs it; aiohttp's test server is harsher to its handlers."""
    app = web.Application()
    app.add_routes(listener.routes())
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()
