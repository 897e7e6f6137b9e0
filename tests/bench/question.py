"""A question in both chats, and a click: ours beside the same bots as people write them.

A question is asked by an agent, posted in both chats, allowed in one of them and changed in both.
``sayso serve`` is measured as it comes. Both sides meet the same chats, clicks and Redis, in turns.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Any, Protocol

import aiohttp
from bench.chats import Chats, Posted
from bench.clicks import a_click
from bench.everyday import ARGUMENTS, ASKED, answer_key
from bench.processes import Server, World
from redis.asyncio import Redis

from sayso import Gate, RunRef, ToolCall
from sayso.stores.connect import open_store

SAYSO, EVERYDAY = "Sayso", "as people write it"
AT_ONCE = "Sayso, together off"
PLATFORMS = ("slack", "telegram")
_SESSIONS = 150
_MOST_SECONDS = 60.0
# Nobody clicks at the moment that a card comes.
_THINKING_SECONDS = 0.02


class Side(Protocol):
    """An agent, and the bots that post its questions."""

    server: Server

    async def ask(self, number: int) -> float:
        """Ask, wait for the answer and return the moment of it."""


@dataclass
class Ours:
    """Calls that a gate checks, each in a session of its own: one session's share a card."""

    server: Server
    gates: asyncio.Queue[Gate]

    async def ask(self, number: int) -> float:
        gate = await self.gates.get()
        call = ToolCall("run_command", dict(ARGUMENTS))
        result = await gate.check(call, description=f"question-{number}-of-many")
        answered = time.perf_counter()
        self.gates.put_nowait(gate)
        if not result.approved:
            raise RuntimeError(result.as_tool_result())
        return answered


@dataclass
class Theirs:
    """A list for questions, and one for each answer."""

    server: Server
    redis: Redis

    async def ask(self, number: int) -> float:
        question_id = secrets.token_urlsafe(16)
        asked = {"question_id": question_id, "number": number}
        await self.redis.rpush(ASKED, json.dumps(asked))
        popped: Any = await self.redis.blpop([answer_key(question_id)], timeout=0)
        answered = time.perf_counter()
        if not json.loads(popped[1])["approved"]:
            raise RuntimeError(f"question {number} was not approved")
        return answered


@dataclass
class _Cards:
    """The cards of one question: as each chat got it, and whether it has changed."""

    posted: dict[str, Posted] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    are_posted: asyncio.Event = field(default_factory=asyncio.Event)
    have_changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, card: Posted) -> None:
        if card.is_new:
            self.posted[card.platform] = card
        else:
            self.changed.add(card.platform)
        if len(self.posted) == len(PLATFORMS):
            self.are_posted.set()
        if len(self.changed) == len(PLATFORMS):
            self.have_changed.set()


@dataclass
class _Asked:
    """A question that is under way."""

    number: int
    at: float
    cards: _Cards
    run: asyncio.Task[float]

    def to_card(self, platform: str) -> float:
        return self.cards.posted[platform].at - self.at


@dataclass(frozen=True)
class Clicks:
    """A round of clicks: seconds until each run went on, processor seconds of the bots for one."""

    resumed: Sequence[float]
    cpu: float


class Asker:
    """Asks, sees the cards, and clicks Allow."""

    def __init__(self, world: World, session: aiohttp.ClientSession) -> None:
        self._world = world
        self._session = session
        self._numbers = count(1)
        self._cards: dict[int, _Cards] = {}
        self.chats = Chats(self._note)

    async def questions_cpu(self, side: Side, most: int, *, at_once: int = 16) -> float:
        """Return the processor seconds of the bots for a question, several at once."""
        await side.server.quiet()
        used, left = side.server.cpu_seconds, iter(range(most))

        async def some() -> None:
            for _ in left:
                await self._whole(side)

        async with asyncio.timeout(_MOST_SECONDS):
            await asyncio.gather(*(some() for _ in range(at_once)))
        await side.server.quiet()
        return (side.server.cpu_seconds - used) / most

    async def to_card(self, side: Side, most: int) -> dict[str, float]:
        """Return the seconds until a card is in each chat, one question after the other."""
        async with asyncio.timeout(_MOST_SECONDS):
            asked = [await self._whole(side) for _ in range(most)]
        return {name: median(one.to_card(name) for one in asked) for name in PLATFORMS}

    async def clicks(self, side: Side, platform: str, most: int, *, per_second: float) -> Clicks:
        """Ask so many questions, then allow them in one chat, so many a second."""
        asked = [self._ask(side) for _ in range(most)]
        async with asyncio.timeout(_MOST_SECONDS):
            await asyncio.gather(*(one.cards.are_posted.wait() for one in asked))
            await side.server.quiet()
            used, started = side.server.cpu_seconds, time.perf_counter()
            sending = []
            for number, one in enumerate(asked):
                await asyncio.sleep(max(started + number / per_second - time.perf_counter(), 0))
                sending.append(asyncio.create_task(self._click(side, one.cards.posted[platform])))
            clicked = await asyncio.gather(*sending)
            resumed = await asyncio.gather(*(one.run for one in asked))
            await asyncio.gather(*(one.cards.have_changed.wait() for one in asked))
            await side.server.quiet()
        for one in asked:
            del self._cards[one.number]
        cpu = (side.server.cpu_seconds - used) / most
        return Clicks([end - start for start, end in zip(clicked, resumed, strict=True)], cpu)

    async def _whole(self, side: Side) -> _Asked:
        """One question, clicked in Slack and in Telegram in turn, until both cards have changed."""
        asked = self._ask(side)
        await asked.cards.are_posted.wait()
        await asyncio.sleep(_THINKING_SECONDS)
        await self._click(side, asked.cards.posted[PLATFORMS[asked.number % 2]])
        await asked.run
        await asked.cards.have_changed.wait()
        del self._cards[asked.number]
        return asked

    def _ask(self, side: Side) -> _Asked:
        number = next(self._numbers)
        cards = self._cards[number] = _Cards()
        return _Asked(number, time.perf_counter(), cards, asyncio.create_task(side.ask(number)))

    async def _click(self, side: Side, card: Posted) -> float:
        world = self._world
        path, body, headers = a_click(
            card.platform, card.token, card.message_id, world.secret, world.hook
        )
        url, clicked = f"http://127.0.0.1:{side.server.port}{path}", time.perf_counter()
        async with self._session.post(url, data=body, headers=headers) as response:
            if response.status != 200:
                raise RuntimeError(f"the click on {card} was answered {response.status}")
        return clicked

    def _note(self, card: Posted) -> None:
        # A card may change once more after its question is over here.
        if (cards := self._cards.get(card.number)) is not None:
            cards.note(card)


@asynccontextmanager
async def asking(
    world: World, kinds: Sequence[str] = (SAYSO, AT_ONCE, EVERYDAY)
) -> AsyncIterator[tuple[Asker, dict[str, Side]]]:
    """Start the chats and both sides; each has asked and answered a few questions."""
    async with AsyncExitStack() as stack:
        connector = aiohttp.TCPConnector(limit=32)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        asker = Asker(world, session)
        address = await asker.chats.start()
        stack.push_async_callback(asker.chats.close)
        sides = {kind: await _side(kind, world, address, stack) for kind in kinds}
        for side in sides.values():
            await side.server.reachable()
            await asker.questions_cpu(side, 32)
        yield asker, sides


async def _side(kind: str, world: World, address: str, stack: AsyncExitStack) -> Side:
    if kind == EVERYDAY:
        redis = Redis(unix_socket_path=world.redis_path, socket_timeout=None)
        stack.push_async_callback(redis.aclose)
        return Theirs(world.start_everyday(address), redis)
    url = world.url(kind.replace(" ", "-").replace(",", ""))
    more = '[questions]\ntogether = "off"\n' if kind == AT_ONCE else ""
    server = world.start_sayso(url, address, more)
    backend = await stack.enter_async_context(open_store(url))
    gates: asyncio.Queue[Gate] = asyncio.Queue()
    for number in range(_SESSIONS):
        gate = Gate.open(backend, run=RunRef("bench", f"session-{number}"), timeout=3_600)
        gates.put_nowait(await stack.enter_async_context(gate))
    return Ours(server, gates)
