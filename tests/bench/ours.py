"""The bots as they are measured: with chats of paper, and as ``sayso serve`` runs them.

Every safety is on: signature, replay, workspace and app, handle and message, approvers, expiry,
rules, digest. On paper, cards are kept in memory instead of posted: that is the way of a press by
itself. ``sayso serve`` renders them and calls both platforms, as it does for anybody.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from aiohttp import web

from sayso.cards.card import Card, CardBody, Choice
from sayso.cards.room import Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.stores.connect import open_store
from sayso_slack import SlackAdapter, SlackConfig, SlackListener
from sayso_telegram import TelegramAdapter, TelegramConfig, TelegramListener

OPS = Place("slack", "C0OPS")
PHONE = Place("telegram", "-1001234567890")
_ALICE = ("slack:U0ALICE", "telegram:4242")
_NUMBER = re.compile(r"question-(\d+)-of-many")

_SETTINGS = """
[store]
url = "{store}"

[server]
host = "127.0.0.1"
port = {port}

[slack]
mode = "http"
team_id = "T0ACME"
app_id = "A0SAYSO"
api_url = "http://127.0.0.1:{chats}/api/"
per_channel = "off"

[telegram]
mode = "webhook"
api_url = "http://127.0.0.1:{chats}"
per_chat = "off"

[people.alice]
slack = "U0ALICE"
telegram = 4242

[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice"]
timeout = "1h"

[limits]
open_per_agent = "off"
open_per_token = "off"
"""


def settings_file(folder: Path, *, store: str, port: int, chats: int, more: str = "") -> Path:
    """Settings for ``sayso serve`` with both chats, whose paces do not hold it back."""
    path = folder / f"sayso-{port}.toml"
    path.write_text(_SETTINGS.format(store=store, port=port, chats=chats) + more)
    return path


def secrets_of(secret: str, hook: str) -> dict[str, str]:
    """The secrets of its environment."""
    return {
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "SLACK_SIGNING_SECRET": secret,
        "TELEGRAM_BOT_TOKEN": "1:bench",
        "TELEGRAM_WEBHOOK_SECRET": hook,
    }


class Paper:
    """A chat that takes every card at once and shows it to nobody; it says where each one is."""

    limits = Limits(content=2_000, reveal=100_000)

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.shown: list[tuple[int, str, str]] = []
        self._numbers = count(1)

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        number = next(self._numbers)
        message_id = f"{time.time():.0f}.{number:06d}" if self.platform == "slack" else str(number)
        found = _NUMBER.search(cards[0].body.description)
        self.shown.append((int(found[1]) if found else 0, cards[0].handle, message_id))
        return MessageRef(place, message_id)

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        del ref, cards

    def room(self, body: CardBody, count: int) -> Room | None:
        del body, count
        return Room(self.limits.content)

    async def reveal(self, press: Press, card: Card) -> None:
        del press, card

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        del press, card, choice

    async def members(self, group: str) -> Collection[str]:
        del group
        return ()

    async def counts_in_groups(self, actor: str) -> bool:
        del actor
        return False


class _NoAnswers(TelegramAdapter):
    """The adapter without its network: toasts go nowhere."""

    async def toast(self, query_id: str, text: str, alert: bool) -> None:
        del query_id, text, alert


async def serve_paper(url: str, port: int, secret: str, hook: str) -> None:
    """Answer presses of both platforms on a port until cancelled; say which cards there are."""
    slack = SlackConfig(
        bot_token="xoxb-bench", signing_secrets=(secret,), team_id="T0ACME", app_id="A0SAYSO"
    )
    telegram = TelegramConfig(bot_token="1:bench", webhook_secrets=(hook,))
    routes = Routes([Route((OPS, PHONE), approvers=("alice",))], {"alice": frozenset(_ALICE)})
    chats = {name: Paper(name) for name in ("slack", "telegram")}

    async def shown(request: web.Request) -> web.Response:
        """The cards that are new since the last time: number, handle and message."""
        chat = chats[request.match_info["platform"]]
        new, chat.shown = chat.shown, []
        return web.json_response(new)

    async with open_store(url) as backend:
        desk = Desk(backend, [*chats.values()], routes)
        app = web.Application()
        slack_in = SlackListener(slack, SlackAdapter(slack), desk, clock=lambda: datetime.now(UTC))
        telegram_in = TelegramListener(
            telegram, _NoAnswers(telegram, backend.drafts), desk, backend.leases, owner=desk.name
        )
        app.router.add_routes([*slack_in.routes(), *telegram_in.routes()])
        app.router.add_get("/shown/{platform}", shown)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        async with slack_in, telegram_in:
            await desk.run()
