"""The longest time that one call keeps an event loop from everything else, in milliseconds.

``python -m bench.worst URL`` asks about each of the worst calls that are accepted, in an agent and
a desk with the rendering of both chats, shows it, shows it in full and allows it; a ticker on the
same loop measures the longest silence. The agent's policy has several patterns for each parameter.
Other work on the machine only adds to it: of several rounds, the quietest counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from support.worst_calls import worst_calls

from sayso.agent.gate import Gate
from sayso.calls import RunRef, ToolCall, new_id
from sayso.cards.card import SHOW_ALL, Card, CardBody, Choice
from sayso.cards.room import Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.desk.desk import Desk
from sayso.desk.routes import Route, Routes
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import Rule
from sayso.stores.connect import open_store
from sayso_bots.process.resources import collect_seldom
from sayso_slack.card.bundle import bundle_room as slack_room
from sayso_slack.card.everything import REVEAL_LIMIT, everything_modal
from sayso_slack.card.message import message as slack_message
from sayso_slack.card.presentable import CONTENT_LIMIT as SLACK_LIMIT
from sayso_telegram.card.bundle_message import bundle_room as telegram_room
from sayso_telegram.card.keyboard import keyboard
from sayso_telegram.card.message import CONTENT_LIMIT as TELEGRAM_LIMIT
from sayso_telegram.card.message import message as telegram_message

# Some are looked for in the whole value, some from its end: nothing of them is there.
PATTERNS = (
    "*one-that-is-nowhere*",
    "**/nowhere/**",
    "nowhere *",
    "*.nowhere",
    "[a-z]+[0-9]z",
)
POLICY = RulePolicy(
    deny=[
        Rule("bash", {name: pattern})
        for name in ("command", "ids", "text", "value")
        for pattern in PATTERNS
    ]
)

ROUNDS = 3
AIM_MS = 50.0
_TICK_SECONDS = 0.001


class PaperChat:
    """Renders as a chat does, and sends nothing."""

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.is_slack = platform == "slack"
        self.limits = Limits(
            content=SLACK_LIMIT if self.is_slack else TELEGRAM_LIMIT, reveal=REVEAL_LIMIT
        )
        self.shown: asyncio.Queue[tuple[MessageRef, Card]] = asyncio.Queue()

    def room(self, body: CardBody, count: int) -> Room | None:
        return slack_room(body, count) if self.is_slack else telegram_room(body, count)

    def render(self, cards: Sequence[Card]) -> None:
        if self.is_slack:
            json.dumps(slack_message(cards))
        else:
            json.dumps(telegram_message(cards[0]).text)
            keyboard(cards[0])

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        self.render(cards)
        ref = MessageRef(place, new_id())
        self.shown.put_nowait((ref, cards[0]))
        return ref

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        del ref
        self.render(cards)

    async def reveal(self, press: Press, card: Card) -> None:
        del press
        json.dumps(everything_modal(card))

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        raise NotImplementedError

    async def members(self, group: str) -> Collection[str]:
        del group
        return ()

    async def counts_in_groups(self, actor: str) -> bool:
        del actor
        return False


class Ticker:
    """The longest silence of the loop since it was asked last."""

    def __init__(self) -> None:
        self._longest = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = loop.time()
            self._longest = max(self._longest, now - before - _TICK_SECONDS)
            before = now

    def longest(self) -> float:
        found, self._longest = self._longest, 0.0
        return found * 1_000


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    ticker = Ticker()
    task = asyncio.create_task(ticker.run())
    try:
        yield ticker
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def pressed(desk: Desk, ref: MessageRef, card: Card, choice: str) -> None:
    """Somebody presses; what comes of it is the desk's."""
    await desk.press(Press(card.handle, choice, "slack:U0ALICE", ref, delivery=new_id()))


async def measured(url: str) -> dict[str, dict[str, float]]:
    """For each call the longest block while it is asked, shown, shown in full and decided."""
    chats = [PaperChat("slack"), PaperChat("telegram")]
    routes = Routes(
        [Route((Place("slack", "C0OPS"), Place("telegram", "-100")), approvers=("slack:U0ALICE",))]
    )
    found: dict[str, dict[str, float]] = {}
    async with (
        open_store(url) as backend,
        Gate.open(backend, run=RunRef("bench", "worst"), policy=POLICY, timeout=60) as gate,
        ticking() as ticker,
    ):
        desk = Desk(backend, chats, routes)
        working = asyncio.create_task(desk.run())
        collect_seldom()
        for name, arguments in worst_calls().items():
            figures: dict[str, float] = {}
            for _ in range(ROUNDS):
                one = await _one(gate, desk, chats, ticker, arguments)
                for step, block in one.items():
                    figures[step] = min(figures.get(step, block), block)
            found[name] = figures
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
    return found


async def _one(
    gate: Gate, desk: Desk, chats: Sequence[PaperChat], ticker: Ticker, arguments: dict[str, object]
) -> dict[str, float]:
    await asyncio.sleep(0.05)
    ticker.longest()
    question_id = await gate.submit(ToolCall("bash", arguments))
    assert isinstance(question_id, str)
    shown = [await chat.shown.get() for chat in chats]
    await asyncio.sleep(0.05)
    figures = {"asked and shown": ticker.longest()}
    for key in (SHOW_ALL.key, "allow", "deny"):
        await pressed(desk, *shown[0], key)
    await asyncio.sleep(0.05)
    figures["pressed"] = ticker.longest()
    await gate.resume(question_id, timeout=30)
    await asyncio.sleep(0.05)
    figures["resumed"] = ticker.longest()
    return figures


def main() -> None:
    """Print the figures as one line of JSON."""
    print(json.dumps(asyncio.run(measured(sys.argv[1]))))


if __name__ == "__main__":
    main()
