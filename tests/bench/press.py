"""The way of a press, ours beside two floors: until the run goes on, and until the answer.

The chats are paper here: what a press itself takes. What the chats take is in ``bench.question``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import statistics
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from bench.floor import floor_inbox
from bench.load import a_request, run_presses
from bench.under_test import Server, UnderTest, reachable, under_test

from sayso import CheckResult, Gate, RunRef, ToolCall
from sayso.stores.connect import open_store

SETTLE_DOWN_SECONDS = 0.2
CONNECTIONS = 32
_ASKED_AT_ONCE = 200
Requests = tuple[list[bytes], list[asyncio.Future[float]]]


@dataclass(frozen=True)
class Load:
    """How many presses come in a round, and how fast; None is as fast as they are answered."""

    name: str
    count: int
    per_second: float | None


FULL = Load("full", 1_200, None)
LOADS = (Load("100/s", 150, 100), Load("1,000/s", 600, 1_000), FULL)
CURVE = (
    *(Load("100/s", 200, 100), Load("300/s", 300, 300), Load("1,000/s", 1_000, 1_000)),
    *(Load("2,000/s", 1_500, 2_000), Load("full", 2_000, None)),
)
WARM_UP = Load("warm-up", 200, None)


@dataclass(frozen=True)
class Result:
    """One round of one load: seconds, presses a second, and the server's seconds a press."""

    resumed: Sequence[float]
    answered: Sequence[float]
    per_second: float
    cpu: float


class Side(Protocol):
    """A process under test, and the runs that its presses let go on."""

    server: Server

    async def requests(self, count: int) -> Requests:
        """So many presses, and the moments at which their runs went on."""
        raise NotImplementedError


class FloorRuns:
    """Runs of the floors: a future for each id, resolved by one raw subscription."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[float]] = {}

    async def listen(self, redis_path: str) -> None:
        """Resolve what is answered from now on."""
        await floor_inbox(redis_path, self._resolve)

    def expect(self, question_id: str) -> asyncio.Future[float]:
        """The moment at which the run of this id goes on."""
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting[question_id] = future
        return future

    def _resolve(self, question_id: str) -> None:
        # Others of the same run listen, too.
        if (future := self._waiting.pop(question_id, None)) is not None:
            future.set_result(time.perf_counter())


@dataclass
class Floor:
    """Presses of a floor: nobody asked before, any id will do."""

    server: Server
    tools: UnderTest
    runs: FloorRuns
    platform: str = "slack"

    async def requests(self, count: int) -> Requests:
        handles = [secrets.token_urlsafe(16) for _ in range(count)]
        futures = [self.runs.expect(handle) for handle in handles]
        message = "1700000000.000001" if self.platform == "slack" else "17"
        tools = self.tools
        return [
            a_request(self.platform, handle, message, tools.secret, tools.hook)
            for handle in handles
        ], futures


@dataclass
class Ours:
    """Presses of ours: real checks of a gate, each asked and shown before it is pressed."""

    server: Server
    tools: UnderTest
    gate: Gate
    platform: str = "slack"

    async def requests(self, count: int) -> Requests:
        runs: list[asyncio.Future[float]] = []
        shown: dict[int, tuple[str, str]] = {}
        while len(runs) < count:
            some = range(len(runs), min(len(runs) + _ASKED_AT_ONCE, count))
            runs += [asyncio.ensure_future(self._run(number)) for number in some]
            while len(shown) < len(runs):
                await asyncio.sleep(0.05)
                for number, handle, message_id in await self._new(self.platform):
                    shown[number] = handle, message_id
        for other in {"slack", "telegram"} - {self.platform}:
            await self._new(other)
        await quiet(self.server)
        tools = self.tools
        return [
            a_request(self.platform, *shown[number], tools.secret, tools.hook)
            for number in range(count)
        ], runs

    async def _new(self, platform: str) -> list[Any]:
        found = []
        for port in self.server.ports:
            url = f"http://127.0.0.1:{port}/shown/{platform}"
            found += await asyncio.to_thread(_read, url)
        return found

    async def _run(self, number: int) -> float:
        call = ToolCall("run_command", {"command": "terraform apply", "n": number})
        said = f"question-{number}-of-many"
        verdict: CheckResult = await self.gate.check(call, description=said)
        resumed = time.perf_counter()
        if not verdict.approved:
            raise RuntimeError(verdict.as_tool_result())
        return resumed


def _read(url: str) -> Any:
    with urllib.request.urlopen(url) as response:
        return json.load(response)


async def quiet(server: Server) -> None:
    """Return when a server has nothing left to do: its work after an answer counts as well."""
    before = server.cpu_seconds
    while True:
        await asyncio.sleep(SETTLE_DOWN_SECONDS)
        now = server.cpu_seconds
        if now - before < 0.02 * SETTLE_DOWN_SECONDS * len(server.processes):
            return
        before = now


async def one_round(side: Side, load: Load, *, connections: int = CONNECTIONS) -> Result:
    """One round of a load on one side."""
    return (await rounds_at_once([side], load, connections=connections))[0]


async def rounds_at_once(
    sides: Sequence[Side], load: Load, *, connections: int = CONNECTIONS
) -> list[Result]:
    """A round of the same load on each of several sides, all at the same time."""
    ready = await asyncio.gather(*(side.requests(load.count) for side in sides))
    await asyncio.sleep(SETTLE_DOWN_SECONDS)
    pairs = zip(sides, ready, strict=True)
    return await asyncio.gather(*(_pressed(side, load, some, connections) for side, some in pairs))


async def _pressed(side: Side, load: Load, ready: Requests, connections: int) -> Result:
    requests, futures = ready
    started, used = time.perf_counter(), side.server.cpu_seconds
    timings = await run_presses(
        side.server.ports,
        requests,
        lambda number: futures[number],
        per_second=load.per_second,
        connections=connections,
    )
    elapsed = max(timings.resumed) - started
    await quiet(side.server)
    return Result(
        [end - start for start, end in zip(timings.sent, timings.resumed, strict=True)],
        [end - start for start, end in zip(timings.sent, timings.answered, strict=True)],
        load.count / elapsed,
        (side.server.cpu_seconds - used) / load.count,
    )


async def rounds_of(load: Load, sides: Mapping[str, Side], rounds: int) -> dict[str, Any]:
    """The figures of each side, and its ratios to the tight floor of the same platform.

    Sides take turns, each ratio is of one turn, and the median of those counts: what else the
    machine does meets both.
    """
    results: dict[str, list[Result]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            results[name].append(await one_round(side, load))
    row: dict[str, Any] = {"load": load.name, "per_second": load.per_second, "sides": {}}
    for name, those in results.items():
        base = results[f"tight floor, {name.rpartition(', ')[2]}"]
        row["sides"][name] = {
            figure: {
                "value": statistics.median(map(read, those)),
                "ratio": statistics.median(
                    read(one) / read(other) for one, other in zip(those, base, strict=True)
                ),
            }
            for figure, read in FIGURES.items()
        }
    return row


async def measure(
    redis_path: str, *, loads: Sequence[Load] = LOADS, rounds: int = 3, only: str = ""
) -> list[dict[str, Any]]:
    """A row for each load; ``only`` one platform where it is named."""
    with under_test(redis_path) as tools:
        async with AsyncExitStack() as stack:
            sides = await press_sides(tools, stack)
            sides = {name: side for name, side in sides.items() if name.endswith(only)}
            await rounds_of(WARM_UP, sides, 1)
            return [await rounds_of(load, sides, rounds) for load in loads]


async def press_sides(
    tools: UnderTest,
    stack: AsyncExitStack,
    *,
    name: str = "press",
    floors: Sequence[str] = ("tight floor", "aiohttp floor"),
    desks: int = 1,
) -> dict[str, Side]:
    """The floors and ours, in so many processes on the store ``name``, by side and platform."""
    url = tools.url(name)
    kinds = {"tight floor": "lean", "aiohttp floor": "floor"}
    servers = {kind: tools.start(kinds[kind], tools.redis_path) for kind in floors}
    paper = tools.start("paper", url, processes=desks)
    for server in (*servers.values(), paper):
        await reachable(server)
    runs = FloorRuns()
    await runs.listen(tools.redis_path)
    gate = await stack.enter_async_context(a_gate(url))
    sides: dict[str, Side] = {}
    for platform in ("Slack", "Telegram"):
        for kind, server in servers.items():
            if platform == "Slack" or kind == "tight floor":
                sides[f"{kind}, {platform}"] = Floor(server, tools, runs, platform.lower())
        sides[f"Sayso, {platform}"] = Ours(paper, tools, gate, platform.lower())
    return sides


@asynccontextmanager
async def a_gate(url: str) -> AsyncIterator[Gate]:
    """An agent's gate on a store, while the block runs."""
    async with (
        open_store(url) as backend,
        Gate.open(backend, run=RunRef("bench", "press"), timeout=3_600) as gate,
    ):
        yield gate


def quantile(values: Sequence[float], part: float) -> float:
    """In microseconds."""
    return sorted(values)[min(int(len(values) * part), len(values) - 1)] * 1e6


FIGURES: dict[str, Callable[[Result], float]] = {
    "resumed_p50_us": lambda result: quantile(result.resumed, 0.50),
    "resumed_p99_us": lambda result: quantile(result.resumed, 0.99),
    "answered_p50_us": lambda result: quantile(result.answered, 0.50),
    "answered_p99_us": lambda result: quantile(result.answered, 0.99),
    "server_cpu_us_a_press": lambda result: result.cpu * 1e6,
    "presses_per_second": lambda result: result.per_second,
}
