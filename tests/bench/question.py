"""A whole question in both chats, asked, shown, answered and shown as answered.

What it takes of the bots' processor, and how long it is until the card is there. ``sayso serve`` is
what is measured, as it comes. Beside it are the least that the same calls cost, and the same two
bots as people write them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from bench.chats import Chats, Shown
from bench.everyday import ASKED as EVERYDAY_ASKED
from bench.everyday import answer_key
from bench.floor import RawRedis, connect
from bench.lean import ASKED as LEAN_ASKED
from bench.load import Connection, a_request, connected
from bench.press import FloorRuns, quantile, quiet
from bench.telling import ARGUMENTS
from bench.under_test import Server, UnderTest, reachable, under_test
from redis.asyncio import Redis

from sayso import Gate, RunRef, ToolCall
from sayso.stores.connect import open_store

AIM_CPU_MS = 2.0
AIM_CARD = 3.0
"""Milliseconds of the bots' processor for a question; time to card against a bare POST."""

LEAN, SAYSO = "tight floor", "Sayso"
AT_ONCE = "Sayso, together off"
EVERYDAY = "bolt, python-telegram-bot, redis-py"
_NO_WINDOW = '[questions]\ntogether = "off"\n'

QUESTIONS_AT_ONCE = 16
_PAUSE_SECONDS = 0.03
_PATIENCE_SECONDS = 60.0
# Nobody presses at the moment that a card comes.
_THINKING_SECONDS = 0.02
_PLATFORMS = ("slack", "telegram")


class Side(Protocol):
    """Who asks, and the bots that show it."""

    server: Server

    async def ask(self, number: int) -> None:
        """Ask the question of this number, and return when the run may go on."""


@dataclass
class Ours:
    """A gate's check, of one session after the other: what one asks at once is one message."""

    server: Server
    gates: asyncio.Queue[Gate]

    async def ask(self, number: int) -> None:
        call = ToolCall("run_command", dict(ARGUMENTS))
        gate = await self.gates.get()
        verdict = await gate.check(call, description=f"question-{number}-of-many")
        self.gates.put_nowait(gate)
        if not verdict.approved:
            raise RuntimeError(verdict.as_tool_result())


@dataclass
class Lean:
    """The least: a publication, and an inbox."""

    server: Server
    redis: RawRedis
    runs: FloorRuns

    async def ask(self, number: int) -> None:
        question_id = f"{secrets.token_urlsafe(16).replace('-', '_')}-{number}"
        answered = self.runs.expect(question_id)
        await self.redis.call("PUBLISH", LEAN_ASKED, question_id)
        await answered


@dataclass
class Everyday:
    """Two lists, as people write it."""

    server: Server
    redis: Redis

    async def ask(self, number: int) -> None:
        question_id = secrets.token_urlsafe(16)
        asked = {"question_id": question_id, "number": number}
        await self.redis.rpush(EVERYDAY_ASKED, json.dumps(asked))
        found: Any = await self.redis.blpop([answer_key(question_id)], timeout=0)
        if not json.loads(found[1])["approved"]:
            raise RuntimeError(f"question {number} was not approved")


@dataclass
class _Cards:
    """The cards of one question: what each chat was given, and whether it has changed."""

    shown: dict[str, Shown] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    are_shown: asyncio.Event = field(default_factory=asyncio.Event)
    have_changed: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self, card: Shown) -> None:
        if card.is_new:
            self.shown[card.platform] = card
        else:
            self.changed.add(card.platform)
        if len(self.shown) == len(_PLATFORMS):
            self.are_shown.set()
        if len(self.changed) == len(_PLATFORMS):
            self.have_changed.set()


@dataclass(frozen=True)
class Times:
    """Seconds until a card was in each chat, and until its press let the run go on."""

    to_card: Mapping[str, float]
    to_post: Mapping[str, float]
    to_resume: float


class Asker:
    """Asks, sees the cards, presses Allow on one of them and waits until both have changed."""

    def __init__(self, tools: UnderTest) -> None:
        self._tools = tools
        self._numbers = count(1)
        self._cards: dict[int, _Cards] = {}
        self.chats = Chats(self._told)

    async def one(self, side: Side, idle: asyncio.Queue[Connection]) -> Times:
        """One question, pressed in Slack and in Telegram in turn."""
        number = next(self._numbers)
        cards = self._cards[number] = _Cards()
        asked = time.perf_counter()
        run = asyncio.ensure_future(side.ask(number))
        await cards.are_shown.wait()
        card = cards.shown[_PLATFORMS[number % 2]]
        await asyncio.sleep(_THINKING_SECONDS)
        handle = card.press.removeprefix("p1:").partition(":")[0]
        connection = await idle.get()
        tools = self._tools
        pressed = time.perf_counter()
        status = await connection.send(
            a_request(card.platform, handle, card.message_id, tools.secret, tools.hook)
        )
        idle.put_nowait(connection)
        if status != 200:
            raise RuntimeError(f"the press on {card} was answered {status}")
        await run
        resumed = time.perf_counter()
        await cards.have_changed.wait()
        del self._cards[number]
        return Times(
            {name: one.at - asked for name, one in cards.shown.items()},
            {name: one.at - (one.sent_at or asked) for name, one in cards.shown.items()},
            resumed - pressed,
        )

    def _told(self, card: Shown) -> None:
        # A card may change once more after its question is over here.
        if (cards := self._cards.get(card.number)) is not None:
            cards.told(card)


async def ask_many(
    asker: Asker, side: Side, most: int, *, at_once: int = QUESTIONS_AT_ONCE
) -> tuple[float, float]:
    """Milliseconds of the bots' processor a question, and questions a second, several at once."""
    idle = await connected(side.server.ports, at_once)
    used, started = side.server.cpu_seconds, time.perf_counter()
    left = iter(range(most))

    async def some() -> None:
        for _ in left:
            await asker.one(side, idle)

    async with asyncio.timeout(_PATIENCE_SECONDS):
        await asyncio.gather(*(some() for _ in range(at_once)))
    per_second = most / (time.perf_counter() - started)
    await quiet(side.server)
    while not idle.empty():
        idle.get_nowait().close()
    return (side.server.cpu_seconds - used) / most * 1e3, per_second


async def paced_round(asker: Asker, side: Side, most: int) -> list[Times]:
    """One question after the other, with pauses between them."""
    idle = await connected(side.server.ports, 1)
    found = []
    for _ in range(most):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            found.append(await asker.one(side, idle))
        await asyncio.sleep(_PAUSE_SECONDS)
    idle.get_nowait().close()
    return found


async def measure(
    redis_path: str, *, rounds: int = 3, most: int = 100, paced: int = 20
) -> dict[str, Any]:
    """What each side takes, and how many times the least that is; sides take turns."""
    with under_test(redis_path) as tools:
        asker = Asker(tools)
        async with AsyncExitStack() as stack:
            sides = await question_sides(tools, await asker.chats.start(), stack)
            for side in sides.values():
                await ask_many(asker, side, 50)
            cpu: dict[str, list[float]] = {name: [] for name in sides}
            times: dict[str, list[list[Times]]] = {name: [] for name in sides}
            for _ in range(rounds):
                for name, side in sides.items():
                    cpu[name].append((await ask_many(asker, side, most))[0])
                for name, side in sides.items():
                    times[name].append(await paced_round(asker, side, paced))
    return {"sides": {name: _figures(name, cpu, times) for name in cpu}}


def _figures(
    name: str, cpu: Mapping[str, list[float]], times: Mapping[str, list[list[Times]]]
) -> dict[str, dict[str, float]]:
    """Each figure with its ratio: to the tight floor, and time to card to its bare POST."""
    rows = {"bots_cpu_ms_a_question": _row(cpu[name], cpu[LEAN])}
    posts = [_p50([one.to_post["slack"] for one in turn]) for turn in times[LEAN]]
    for platform in _PLATFORMS:
        mine = [_p50([one.to_card[platform] for one in turn]) for turn in times[name]]
        rows[f"to_card_in_{platform}_p50_us"] = _row(mine, posts)
    resumed, least = (
        [_p50([one.to_resume for one in turn]) for turn in times[side]] for side in (name, LEAN)
    )
    rows["press_to_resumed_p50_us"] = _row(resumed, least)
    if name == LEAN:
        rows["bare_post_p50_us"] = _row(posts, posts)
    return rows


def _p50(seconds: list[float]) -> float:
    return quantile(seconds, 0.5)


def _row(values: list[float], base: list[float]) -> dict[str, float]:
    ratios = [one / other for one, other in zip(values, base, strict=True)]
    return {"value": statistics.median(values), "ratio": statistics.median(ratios)}


async def question_sides(
    tools: UnderTest,
    chats: int,
    stack: AsyncExitStack,
    *,
    name: str = "questions",
    only: Sequence[str] = (LEAN, SAYSO, AT_ONCE, EVERYDAY),
    processes: int = 1,
) -> dict[str, Side]:
    """Who asks, by side; ``chats`` is the port of both platforms, ``name`` that of our stores.

    Ours is so many ``processes``.
    """
    runs = FloorRuns()
    await runs.listen(tools.redis_path)
    redis = Redis(unix_socket_path=tools.redis_path)
    stack.push_async_callback(redis.aclose)
    sides: dict[str, Side] = {}
    for kind in only:
        if kind == LEAN:
            server = tools.start("lean", tools.redis_path, chats=chats)
            sides[kind] = Lean(server, await connect(tools.redis_path), runs)
        elif kind == EVERYDAY:
            server = tools.start("everyday", tools.redis_path, chats=chats)
            sides[kind] = Everyday(server, redis)
        else:
            url = tools.url(f"{name}-{len(sides)}")
            more = _NO_WINDOW if kind == AT_ONCE else ""
            server = tools.start_sayso(url, chats=chats, more=more, processes=processes)
            at_once = QUESTIONS_AT_ONCE * processes
            sides[kind] = Ours(server, await _gates(url, stack, at_once))
    for side in sides.values():
        await reachable(side.server)
    return sides


async def _gates(url: str, stack: AsyncExitStack, at_once: int) -> asyncio.Queue[Gate]:
    backend = await stack.enter_async_context(open_store(url))
    gates: asyncio.Queue[Gate] = asyncio.Queue()
    for number in range(at_once):
        gate = Gate.open(backend, run=RunRef("bench", f"session-{number}"), timeout=3_600)
        gates.put_nowait(await stack.enter_async_context(gate))
    return gates
