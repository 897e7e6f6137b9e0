"""What is tried: each target makes call number N of a seed, always the same one."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from fuzz.mutations import CANARY, from_schema, mangled, mutated, odd, written
from support.commands import WEBHOOK_SECRET
from support.slack_kit import signed

_FIXTURES = Path(__file__).parents[1] / "adapters"
# Slack would have uninstalled the app, and a chat moves where Telegram says so: both are true ones.
_MEANT = ("event_app_uninstalled", "event_tokens_revoked", "migrate")
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@dataclass(frozen=True)
class Call:
    """One call over HTTP; ``raw`` instead is what goes over the wire."""

    method: str = "POST"
    path: str = "/"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw: bytes = b""


@dataclass(frozen=True)
class Surroundings:
    """What a caller may know: secrets that it has, and what is open now."""

    signing_secret: str
    tokens: Sequence[str]
    description: Any
    buttons: Sequence[str]
    """Values of live buttons in Slack."""
    data: Sequence[str]
    """Callback data of live buttons in Telegram."""
    questions: Sequence[str]
    """Ids of open questions."""


Maker = Callable[[Random, Surroundings], Call]


def documents(platform: str) -> list[Any]:
    """The real payloads of a platform."""
    folder = _FIXTURES / platform / "fixtures"
    return [
        json.loads(path.read_text())
        for path in sorted(folder.glob("*.json"))
        if path.name != "index.json" and not any(word in path.name for word in _MEANT)
    ]


_SLACK, _TELEGRAM = documents("slack"), documents("telegram")
_HOME = {
    "team": {"id": "T0ACME", "domain": "acme"},
    "user": {"id": "U0MALLORY", "team_id": "T0ACME"},
    "api_app_id": "A0SAYSO",
    "channel": {"id": "C0OPS", "name": "ops"},
}


def slack_payload(rng: Random, there: Surroundings) -> Any:
    """A callback of Slack that is almost right, often for our own workspace."""
    payload = json.loads(json.dumps(rng.choice(_SLACK)))
    if rng.random() < 0.7:
        payload |= json.loads(json.dumps(_HOME))
    if rng.random() < 0.6 and there.buttons and isinstance(payload.get("actions"), list):
        for action in payload["actions"]:
            choice = rng.choice(("allow", "deny", "always", "edit", "reason", "more", "show"))
            value = rng.choice(there.buttons)
            action |= {"type": "button", "value": value, "action_id": f"sayso:{choice}"}
            action["block_id"] = f"sayso:{value}"
    words = (CANARY, "T0ACME", "A0SAYSO", "U0MALLORY", "C0OPS", *there.buttons[:5])
    return mutated(rng, payload, words) if rng.random() < 0.9 else payload


def telegram_update(rng: Random, there: Surroundings) -> Any:
    """An update of Telegram that is almost right, often a press of a live button."""
    update = json.loads(json.dumps(rng.choice(_TELEGRAM)))
    query = update.get("callback_query")
    if isinstance(query, dict) and there.data and rng.random() < 0.7:
        query["data"] = rng.choice(there.data)
        query["message"] = {"message_id": 1, "date": 0, "chat": {"id": -1001234567890}}
    words = (CANARY, 4343, -1001234567890, *there.data[:5])
    return mutated(rng, update, words) if rng.random() < 0.9 else update


def slack(rng: Random, there: Surroundings) -> Call:
    """The webhook of Slack, mostly signed."""
    payload = slack_payload(rng, there)
    content_type = rng.choice((FORM, FORM, FORM, JSON, "text/plain"))
    body = written(rng, payload)
    if content_type == FORM:
        text = body.decode("utf-8", "replace")
        body = urlencode({"payload": text} if rng.random() < 0.9 else {"a": text}).encode()
    if rng.random() < 0.05:
        body = mangled(rng, body)
    at = time.time() + rng.choice((0, 0, 0, 0, 0, 299, -299, 400, -400))
    headers = signed(body, at, secret=there.signing_secret, content_type=content_type)
    if rng.random() < 0.2:
        name = rng.choice(list(headers))
        headers[name] = _header(rng, headers[name])
    return Call(path="/slack/events", headers=headers, body=body)


def telegram(rng: Random, there: Surroundings) -> Call:
    """The webhook of Telegram, mostly with its secret."""
    body = written(rng, telegram_update(rng, there))
    headers = {"Content-Type": JSON, "X-Telegram-Bot-Api-Secret-Token": WEBHOOK_SECRET}
    if rng.random() < 0.15:
        name = rng.choice(list(headers))
        headers[name] = _header(rng, headers[name])
    return Call(path="/telegram/webhook", headers=headers, body=body)


def api(rng: Random, there: Surroundings) -> Call:
    """The hosted API: every route of its description, with bodies that fit it more or less."""
    paths = there.description["paths"]
    path = rng.choice(list(paths))
    operations = {name: of for name, of in paths[path].items() if name in ("get", "post", "delete")}
    method = rng.choice(list(operations))
    body = b""
    if content := operations[method].get("requestBody", {}).get("content"):
        schema = content[JSON]["schema"]
        value = from_schema(rng, schema, there.description)
        if rng.random() < 0.5:
            value = mutated(rng, value, (CANARY, *there.questions[:5]))
        if there.questions and isinstance(value, dict) and rng.random() < 0.6:
            for name in ("permissionId", "requestId", "continuationId"):
                if name in value:
                    value[name] = rng.choice(there.questions)
        body = written(rng, value)
    for part in ("agentId", "sessionId", "branchId", "requestId"):
        path = path.replace(f"{{{part}}}", _segment(rng, there))
    # Wrong ones are seldom: five a second are looked at.
    token = rng.choice(there.tokens) if rng.random() < 0.98 else CANARY
    headers = {"Content-Type": JSON, "Authorization": f"Bearer {token}"}
    if rng.random() < 0.1:
        name = rng.choice(("Content-Type", "Authorization", "Last-Event-ID", "Accept", "Origin"))
        headers[name] = _header(rng, headers.get(name, "x"))
    if method == "get" and rng.random() < 0.3:
        names = rng.sample(("lastEventId", "ticket", "wait", "strict"), 2)
        path += "?" + urlencode({name: _segment(rng, there) for name in names})
    if rng.random() < 0.05:
        method = rng.choice(("put", "patch", "delete", "options", "head", "post", "get"))
    return Call(method=method.upper(), path=path, headers=headers, body=body)


def raw(rng: Random, there: Surroundings) -> Call:
    """What is no HTTP any more, or hardly."""
    call = rng.choice((slack, telegram, api))(rng, there)
    head = [f"{call.method} {call.path} HTTP/1.1", "Host: x", f"Content-Length: {len(call.body)}"]
    for name, value in call.headers.items():
        head.append(f"{name}: {value}{_NO_TEXT if rng.random() < 0.1 else ''}")
    if rng.random() < 0.3:
        head.insert(rng.randrange(1, len(head)), rng.choice(_HEADS))
    written_head = "\r\n".join(head).encode("utf-8", "surrogatepass")
    if rng.random() < 0.5:
        written_head = mangled(rng, written_head)
    return Call(raw=written_head + b"\r\n\r\n" + call.body)


# Its bytes are no UTF-8.
_NO_TEXT = "\ud800"
_HEADS = (
    "Transfer-Encoding: chunked",
    "Connection: Upgrade\r\nUpgrade: websocket",
    "Expect: 100-continue",
    "Expect: nonsense",
    f"Expect: {_NO_TEXT}",
    f"Origin: {_NO_TEXT}",
    f"Last-Event-ID: {_NO_TEXT}",
    "Content-Encoding: gzip",
    "Host: y",
    f"X-Long: {'x' * 9_000}",
    "\r\n".join(f"X-{number}: y" for number in range(200)),
)
MAKERS: dict[str, Maker] = {"slack": slack, "telegram": telegram, "api": api, "raw": raw}


def _header(rng: Random, value: str) -> str:
    changed = rng.choice(
        (
            "",
            value[:-1],
            f"{value}x",
            value.upper(),
            f" {value} ",
            f"{value},{value}",
            "v0=" + "0" * 64,
            "9" * 12,
            "x" * 3_000,
            "é" * 20,
            base64.b64encode(rng.randbytes(20)).decode(),
            CANARY,
        )
    )
    return changed.encode("latin-1", "replace").decode("latin-1")


def _segment(rng: Random, there: Surroundings) -> str:
    if rng.random() < 0.8:
        return rng.choice(("deploy-bot", "s-42", "main", *there.questions[:5]))
    text = str(odd(rng))[:300]
    if rng.random() < 0.3:
        return rng.choice(("%ff", "%00", "%2e%2e", "%ED%A0%80", "%zz", "%", "a;b", "a+b"))
    return quote(text.encode("utf-8", "replace"), safe="") or "x"
