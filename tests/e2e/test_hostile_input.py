"""Hostile calls at both webhooks, bytes that are hardly HTTP, and settings with anything wrong.

Nothing is answered with 5xx, no traceback, secret or body is logged, and afterwards an approver
still decides. The hosted API has such a test in ``bots/api/test_contract.py``.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import ROUTES, WEBHOOK_SECRET, env_of, process
from support.examples import examples
from support.playing import a_playground
from support.slack_kit import signed

from sayso import Gate, RunRef, ToolCall
from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_playground import Playground, SlackDouble, TelegramDouble

CANARY = "CANARY of these tests"
_TESTS = Path(__file__).parents[1]
_EXAMPLE = (_TESTS.parent / "deploy" / "sayso.example.toml").read_text()
# Slack would have uninstalled the app, and a chat moves where Telegram says so: both are true ones.
_TRUE = ("event_app_uninstalled", "event_tokens_revoked", "migrate", "index.json")
_HOME = {
    "team": {"id": "T0ACME", "domain": "acme"},
    "user": {"id": "U0MALLORY", "team_id": "T0ACME"},
    "api_app_id": "A0SAYSO",
    "channel": {"id": "C0OPS", "name": "ops"},
}
ODD = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    st.sampled_from(["", "\x00", "\ud800", "\u202e", "x" * 3_000, "<!channel>", "%00%ff", 10**400]),
    st.builds(copy.deepcopy, st.sampled_from([[], {}, [[]], [None] * 200, {"": ""}])),
    st.just("[" * 5_000),
)


def documents(platform: str) -> list[Any]:
    """Read the real payloads of a platform."""
    folder = _TESTS / "adapters" / platform / "fixtures"
    paths = [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(_TRUE)]
    return [
        json.loads(path.read_text())
        for path in paths
        if not any(word in path.name for word in _TRUE)
    ]


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    items = enumerate(value) if isinstance(value, list) else value.items()
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _slots(inner)


@st.composite
def almost(draw: st.DrawFn, payload: Any) -> Any:
    """A copy of a payload with up to four changes."""
    changed = copy.deepcopy(payload)
    for _ in range(draw(st.integers(0, 4))):
        if not (slots := list(_slots(changed))):
            break
        holder, key = slots[draw(st.integers(0, len(slots) - 1))]
        how = draw(st.sampled_from(["odd", "marked", "wrapped", "gone", "renamed"]))
        if how == "gone" and isinstance(holder, dict):
            del holder[key]
        elif how == "renamed" and isinstance(holder, dict):
            holder[draw(st.sampled_from(["x", "type", "id", ""]))] = holder.pop(key)
        elif how == "wrapped":
            holder[key] = [holder[key]]
        else:
            holder[key] = CANARY if how == "marked" else draw(ODD)
    return changed


@dataclass
class Bots:
    """``sayso serve`` with one open question, and all that it logged."""

    url: str
    playground: Playground
    store_url: str
    lines: list[str]
    button: str
    data: str

    def check_log(self, *secrets: str) -> None:
        """Assert that nothing is logged that must not be."""
        text = "\n".join(self.lines)
        assert "Traceback" not in text, text[-3_000:]
        assert " ERROR " not in text, text[-3_000:]
        for secret in (CANARY, WEBHOOK_SECRET, *secrets):
            assert secret not in text


async def ask_and_allow(playground: Playground, store_url: str) -> None:
    """Ask in both chats; the press of an approver counts, in each of them."""
    async with (
        open_store(store_url) as backend,
        Gate.open(backend, run=RunRef("deploy-bot", "s-42"), timeout=PATIENCE_SECONDS) as gate,
    ):
        for chat in (playground.slack, playground.telegram):
            tool = f"after_{time.monotonic_ns()}"
            asked = asyncio.create_task(gate.check(ToolCall(tool)))
            await press_allow(chat, tool)
            assert (await asked).approved


async def press_allow(chat: SlackDouble | TelegramDouble, tool: str) -> None:
    """Press Allow on the card of a tool."""
    if isinstance(chat, SlackDouble):
        card = await chat.message_where(lambda message: tool in message.all_text)
        await chat.press(card, "Allow", by="alice")
    else:
        shown = await chat.message_where(lambda message: tool in message.text)
        await chat.press(shown, "Allow", by="alice")


@pytest.fixture
async def bots(tmp_path: Path, store_url: str) -> AsyncIterator[Bots]:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    async with a_playground() as playground:
        env = env_of(playground, SAYSO_STORE_URL=store_url)
        async with process("serve", "--config", str(config), env=env) as serving:
            url = (await serving.line_with("serves on")).split()[3]
            playground.slack.deliver_to(f"{url}/slack/events")
            playground.telegram.deliver_to(f"{url}/telegram/webhook", secret_token=WEBHOOK_SECRET)
            lines: list[str] = []
            reading = asyncio.create_task(_read(serving.process.stderr, lines))
            async with (
                open_store(store_url) as backend,
                Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=600) as gate,
            ):
                await gate.submit(ToolCall("open", {"path": "/srv/open"}))
                card = await playground.slack.message_where(lambda m: "/srv/open" in m.all_text)
                shown = await playground.telegram.message_where(lambda m: "/srv/open" in m.text)
                [button, *_] = re.findall(r'"value": "([\w-]{16,200})"', json.dumps(card.blocks))
                [data, *_] = re.findall(r"[a-z]\d:[\w:!-]{16,60}", repr(shown))
                yield Bots(url, playground, store_url, lines, button, data)
            reading.cancel()


async def _read(stream: asyncio.StreamReader | None, lines: list[str]) -> None:
    assert stream is not None
    while line := await stream.readline():
        lines.append(line.decode("utf-8", "replace"))


def as_json(payload: Any) -> bytes:
    return json.dumps(payload).encode("utf-8", "surrogatepass")


def slack_calls(bots: Bots, send: Callable[[str, bytes, dict[str, str]], None]) -> None:
    """Send callbacks of Slack that are almost right, signed, often for our own workspace."""
    secret = bots.playground.config.slack_signing_secret

    @settings(max_examples=examples(400))
    @given(st.data(), st.sampled_from(documents("slack")), st.booleans(), st.booleans())
    def try_one(data: st.DataObject, document: Any, is_ours: bool, is_form: bool) -> None:
        payload = document | (_HOME if is_ours else {})
        if is_ours and isinstance(payload.get("actions"), list):
            for choice, action in zip(
                ("allow", "edit", "reason"), payload["actions"], strict=False
            ):
                action |= {"type": "button", "value": bots.button, "action_id": f"sayso:{choice}"}
                action["block_id"] = f"sayso:{bots.button}"
        body = as_json(data.draw(almost(payload)))
        if is_form:
            body = urlencode({"payload": body}).encode()
        kind = "application/x-www-form-urlencoded" if is_form else "application/json"
        at = time.time() + data.draw(st.sampled_from([0, 0, 0, 299, -400]))
        send("/slack/events", body, signed(body, at, secret=secret, content_type=kind))

    try_one()


def telegram_calls(bots: Bots, send: Callable[[str, bytes, dict[str, str]], None]) -> None:
    """Send updates of Telegram that are almost right, often a press of a live button."""
    headers = {
        "Content-Type": "application/json",
        "X-Telegram-Bot-Api-Secret-Token": WEBHOOK_SECRET,
    }

    @settings(max_examples=examples(400))
    @given(st.data(), st.sampled_from(documents("telegram")), st.booleans())
    def try_one(data: st.DataObject, document: Any, is_live: bool) -> None:
        update = copy.deepcopy(document)
        if is_live and isinstance(update.get("callback_query"), dict):
            update["callback_query"]["data"] = bots.data
        send("/telegram/webhook", as_json(data.draw(almost(update))), headers)

    try_one()


@pytest.mark.parametrize("calls", [slack_calls, telegram_calls])
async def test_callbacks_that_are_almost_right_break_nothing_and_decide_nothing(
    bots: Bots, calls: Callable[..., None]
) -> None:
    statuses: list[int] = []

    def send(path: str, body: bytes, headers: dict[str, str]) -> None:
        with requests.post(f"{bots.url}{path}", data=body, headers=headers, timeout=30) as response:
            statuses.append(response.status_code)
            assert response.status_code < 500, response.text
            assert WEBHOOK_SECRET not in response.text

    await asyncio.to_thread(calls, bots, send)

    assert 200 in statuses
    await ask_and_allow(bots.playground, bots.store_url)
    bots.check_log(bots.playground.config.slack_signing_secret)


_HEADS = (
    "Transfer-Encoding: chunked",
    "Connection: Upgrade\r\nUpgrade: websocket",
    "Expect: 100-continue",
    "Expect: nonsense",
    "Origin: \ud800",
    "Content-Encoding: gzip",
    "Host: y",
    "Content-Length: 7",
    f"X-Long: {'x' * 9_000}",
    "\r\n".join(f"X-{number}: y" for number in range(200)),
)


async def test_bytes_that_are_hardly_http_break_nothing(bots: Bots) -> None:
    address = urlsplit(bots.url).hostname, urlsplit(bots.url).port
    paths = ("/slack/events", "/telegram/webhook", "/healthz", "/nowhere", "*", "/%ff%00", "//")

    @settings(max_examples=examples(400))
    @given(
        st.sampled_from(["GET", "POST", "PRI", "g\x00t"]),
        st.sampled_from(paths),
        st.lists(st.sampled_from(_HEADS), max_size=3),
        st.binary(max_size=40),
        st.none() | st.tuples(st.integers(0, 60), st.binary(max_size=8)),
    )
    def try_one(
        method: str, path: str, heads: list[str], body: bytes, splice: tuple[int, bytes] | None
    ) -> None:
        head = "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *heads])
        data = head.encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body
        if splice is not None:
            at, piece = splice
            data = data[:at] + piece + data[at + 1 :]
        with socket.create_connection(address, timeout=30) as connection:
            answer = b""
            with suppress(ConnectionError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(65_536):
                    answer += piece
        assert not re.match(rb"HTTP/1\.[01] 5", answer), (data, answer)

    await asyncio.to_thread(try_one)

    await ask_and_allow(bots.playground, bots.store_url)
    bots.check_log()


_SECRET = "secret-of-these-tests"
_ENV = {
    "SLACK_BOT_TOKEN": f"xoxb-{_SECRET}",
    "SLACK_SIGNING_SECRET": _SECRET,
    "TELEGRAM_BOT_TOKEN": "123456789:" + "AAE" * 12,
    "TELEGRAM_WEBHOOK_SECRET": _SECRET,
    "SAYSO_STORE_URL": f"redis://:{_SECRET}@127.0.0.1/0",
}
_PIECES = st.sampled_from(
    [
        *("", "0", "-1", "1e400", "nan", "true", '""', "[]", "{}", "[" * 5_000, "{a=" * 200),
        *('"' + "x" * 5_000 + '"', '"\\ud800"', '"\\u001b[31m"', "\x1b[31m", '"slack:C0OPS"'),
        *('"1s"', '"999999999d"', "1979-05-27T07:32:00Z", "[route]", "[[route]]", "[[people]]"),
        *("9" * 5_000, "a." * 300 + "b = 1", 'tool = "***{a,b}[[:alpha:]"', f'"xoxb-{_SECRET}"'),
    ]
)


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.tuples(st.sampled_from(["value", "line", "insert"]), st.integers(0, 10_000), _PIECES),
        min_size=1,
        max_size=5,
    ),
    st.sets(st.sampled_from(sorted(_ENV))),
)
def test_settings_with_anything_wrong_are_read_or_refused_in_words(
    changes: list[tuple[str, int, str]], missing: set[str]
) -> None:
    lines = _EXAMPLE.split("\n")
    for how, number, piece in changes:
        at = number % len(lines)
        if how == "value" and "=" in lines[at]:
            lines[at] = f"{lines[at].partition('=')[0].lstrip('# ')}= {piece}"
        elif how == "line":
            lines[at] = piece
        else:
            cut = number % (len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + piece + lines[at][cut:]
    env = {name: value for name, value in _ENV.items() if name not in missing}

    try:
        build_settings(parse_source("\n".join(lines), env))
    except ConfigError as error:
        text = str(error)
        assert "\x1b" not in text
        assert _SECRET not in text
        assert len(text) < 100_000
