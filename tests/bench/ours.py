"""The bots' process as it is measured: the real listener, desk and store; only the chat is paper.

Every safety is on: signature, replay, workspace and app, handle and message, approvers, expiry,
rules, digest. Cards are kept in memory instead of posted: how fast a platform takes messages is
not ours to measure, and a decision never waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from itertools import count

from aiohttp import web

from sayso.cards.card import Card, CardBody, Choice, Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.stores.connect import open_backend
from sayso_bots.process.resources import collect_seldom
from sayso_slack import SlackAdapter, SlackConfig, SlackListener
from sayso_telegram import TelegramAdapter, TelegramConfig, TelegramListener

OPS = Place("slack", "C0OPS")
PHONE = Place("telegram", "-1001234567890")
WEBHOOK_SECRET = "bench-webhook-secret"


class Paper:
    """A chat that takes every card at once and shows it to nobody."""

    limits = Limits(content=2_000, reveal=100_000)

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self._numbers = count(1)

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        del cards
        if self.platform == "slack":
            return MessageRef(place, f"{time.time():.0f}.{next(self._numbers):06d}")
        return MessageRef(place, str(next(self._numbers)))

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


async def serve_ours(url: str, port: int, secret: str) -> None:
    """Answer presses of both platforms on a port until cancelled."""
    slack = SlackConfig(
        bot_token="xoxb-bench", signing_secrets=(secret,), team_id="T0ACME", app_id="A0SAYSO"
    )
    telegram = TelegramConfig(bot_token="1:bench", webhook_secrets=(WEBHOOK_SECRET,))
    routes = Routes([Route((OPS, PHONE), approvers=("alice",))], {"alice": frozenset(_ALICE)})
    async with open_backend(url) as backend:
        desk = Desk(backend, [Paper("slack"), Paper("telegram")], routes)
        app = web.Application()
        slack_in = SlackListener(slack, SlackAdapter(slack), desk, clock=lambda: datetime.now(UTC))
        telegram_in = TelegramListener(
            telegram, _NoAnswers(telegram, backend.drafts), desk, backend.leases, owner=desk.name
        )
        app.router.add_routes([*slack_in.routes(), *telegram_in.routes()])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        collect_seldom()
        async with slack_in, telegram_in:
            await desk.run()


_ALICE = ("slack:U0ALICE", "telegram:4242")
