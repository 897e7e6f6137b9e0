"""Several calls of one run on their way, a desk that gathers them, and a chat that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.chat_double import ChatDouble, press_on
from support.room import OPS, ChatRoom

from sayso import CheckResult, RunRef, ToolCall
from sayso.cards.card import Card, Ended
from sayso.chats.places import Answer, MessageRef, Place
from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import _AT_ONCE, ApprovalWorker, WorkerOptions

PHONE = Place("telegram", "-1001")
APPROVERS = ("alice", "slack:U0BOB", "telegram:42")
PEOPLE = {"alice": frozenset({"slack:U0ALICE"})}
RUN = RunRef("deploy-bot", "s-1", run_id="run-1")
BOB = "slack:U0BOB"

Cards = tuple[Card, ...]


class Window:
    """The time in which calls gather: it is over when the test says so, again and again."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self._over.wait()

    def close(self) -> None:
        """From now on nobody waits for others."""
        self._over.set()


def a_call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments or {"command": f"do {name}"})


def states(cards: Sequence[Card]) -> dict[str, str]:
    """How each line stands, by its tool."""
    return {
        card.body.title: card.state.outcome if isinstance(card.state, Ended) else "open"
        for card in cards
    }


def all_ended(cards: Sequence[Card]) -> bool:
    return all(isinstance(card.state, Ended) for card in cards)


def line(cards: Sequence[Card], tool: str) -> Card:
    return next(card for card in cards if card.body.title == tool)


@dataclass
class BundleRoom(ChatRoom):
    """A room whose desk gathers calls for as long as its window is open."""

    window: Window
    checks: dict[str, asyncio.Task[CheckResult]] = field(default_factory=dict)

    def ask_about(self, *tools: str | ToolCall, **options: Any) -> None:
        """Ask about a call of each of these tools, all at once."""
        for tool in tools:
            call = a_call(tool) if isinstance(tool, str) else tool
            check = self.ask(call, **options)
            # Not every test waits for all of its answers.
            check.add_done_callback(lambda done: done.cancelled() or done.exception())
            self.checks[call.name] = check

    async def gathered(self, count: int) -> None:
        """Return when the desk has gathered so many calls that are not shown yet."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while sum(len(group.items) for group in self._groups()) < count:
                await asyncio.sleep(0.001)

    async def ends_taken(self, cards: Cards) -> None:
        """Return when the desk works on the endings of all of these cards."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while _AT_ONCE - self.desk._room._value < len(cards):
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.001)

    async def shown(
        self, *tools: str | ToolCall, chat: ChatDouble | None = None
    ) -> tuple[MessageRef, Cards]:
        """The message with calls of these tools, and of those asked about before."""
        self.ask_about(*tools)
        await self.gathered(len(self.checks))
        self.window.close()
        ref, cards = await (chat or self.chat).bundle_where()
        await self.settled()
        return ref, cards

    async def press(
        self,
        ref: MessageRef,
        card: Card,
        choice: str,
        by: str = "slack:U0ALICE",
        **more: Any,
    ) -> Answer:
        return await self.desk.press(press_on(ref, card, choice, by, **more))

    async def now(
        self, ref: MessageRef, wanted: Callable[[Cards], bool], chat: ChatDouble | None = None
    ) -> Cards:
        """The message's cards as soon as they fit."""
        shown = chat or self.chat
        await shown.bundle_where(lambda _: wanted(shown.bundles[ref]))
        return shown.bundles[ref]

    async def verdicts(self) -> Mapping[str, str]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return {tool: (await check).outcome.value for tool, check in self.checks.items()}

    def _groups(self) -> list[Any]:
        return list(self.desk._broadcast._gathering._groups.values())


@asynccontextmanager
async def a_room(
    backend: Backend, *chats: ChatDouble, routes: Routes | None = None, **gate: Any
) -> AsyncIterator[BundleRoom]:
    shown = chats or (ChatDouble(),)
    window = Window()
    to = {"slack": OPS, "telegram": PHONE}
    route = Route(tuple(to[chat.platform] for chat in shown), approvers=APPROVERS)
    desk = ApprovalWorker(
        backend,
        shown,
        routes or Routes([route], PEOPLE),
        WorkerOptions(bundle_window=timedelta(seconds=1)),
        pause=window,
    )
    async with BundleRoom.open(
        backend, desk, {"run": RUN, **gate}, chat=shown[0], window=window
    ) as room:
        yield room
