"""The way of a press, ours beside the floor: until the run goes on, and until the answer."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.floor import floor_inbox
from bench.load import press_body, run_presses, signed_request
from support.valkey_server import free_port

from sayso import Gate, PermissionRequestEvent, RunRef, ToolCall, Verdict
from sayso.stores.connect import open_backend
from sayso.stores.ports import Copy, Record

ROUNDS = 5
SETTLE_DOWN_SECONDS = 0.3
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Load:
    """How many presses come in a round, and how fast; None is as fast as they are answered."""

    name: str
    count: int
    per_second: float | None


LOADS = (Load("100/s", 300, 100), Load("1,000/s", 2_000, 1_000), Load("saturated", 4_000, None))


@dataclass(frozen=True)
class Result:
    """One round of one load: seconds, presses a second, and the server's seconds a press."""

    resumed: Sequence[float]
    answered: Sequence[float]
    per_second: float
    cpu: float


@dataclass(frozen=True)
class Server:
    """The process under test, on the last core."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid


def start_server(kind: str, store: str, secret: str) -> Server:
    """Start a process under test on a port of its own."""
    port = free_port()
    command = [sys.executable, "-m", "bench.serve", kind, store, str(port), secret]
    return Server(port, subprocess.Popen(command, cwd=_ROOT))


async def reachable(port: int) -> None:
    """Return when the port takes connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


class Floor:
    """Runs of the floor: a future for each id, resolved by one raw subscription."""

    def __init__(self, redis_path: str, secret: str) -> None:
        self._path = redis_path
        self._secret = secret
        self._waiting: dict[str, asyncio.Future[float]] = {}

    async def prepare(self) -> None:
        await floor_inbox(self._path, self._resolve)

    async def requests(self, count: int) -> tuple[list[bytes], list[asyncio.Future[float]]]:
        loop = asyncio.get_running_loop()
        handles = [secrets.token_urlsafe(16) for _ in range(count)]
        futures = [loop.create_future() for _ in handles]
        self._waiting.update(zip(handles, futures, strict=True))
        bodies = [press_body(handle, "1700000000.000001") for handle in handles]
        return [signed_request(body, self._secret) for body in bodies], futures

    def _resolve(self, question_id: str) -> None:
        future = self._waiting.pop(question_id)
        future.set_result(time.perf_counter())


class Ours:
    """Runs of ours: real checks of a gate, each asked and shown before it is pressed."""

    def __init__(self, gate: Gate, secret: str) -> None:
        self._gate = gate
        self._secret = secret

    async def requests(self, count: int) -> tuple[list[bytes], list[asyncio.Future[float]]]:
        runs = [asyncio.ensure_future(self._run(number)) for number in range(count)]
        shown: dict[int, Copy] = {}
        while len(shown) < count:
            await asyncio.sleep(0.1)
            for record in await self._gate.backend.watch.pending():
                for copy in record.copies:
                    if copy.place.platform == "slack" and copy.message_id:
                        shown[_number(record)] = copy
        bodies = [press_body(shown[n].handle, shown[n].message_id) for n in range(count)]
        return [signed_request(body, self._secret) for body in bodies], [*runs]

    async def _run(self, number: int) -> float:
        call = ToolCall("run_command", {"command": "terraform apply", "n": number})
        verdict: Verdict = await self._gate.check(call, description="deploy")
        resumed = time.perf_counter()
        if not verdict.approved:
            raise RuntimeError(verdict.as_tool_result())
        return resumed


def _number(record: Record) -> int:
    request = record.request
    if not isinstance(request, PermissionRequestEvent):
        raise TypeError(f"{type(request).__name__} is not what was asked")
    return int(request.arguments["n"])


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def one_round(server: Server, side: Floor | Ours, load: Load) -> Result:
    """One round of a load on one side."""
    requests, futures = await side.requests(load.count)
    await asyncio.sleep(SETTLE_DOWN_SECONDS)
    started, used = time.perf_counter(), cpu_seconds(server.pid)
    timings = await run_presses(
        server.port, requests, lambda number: futures[number], per_second=load.per_second
    )
    elapsed = max(timings.resumed) - started
    # What the server still does for these presses after they are answered counts as well.
    await asyncio.sleep(SETTLE_DOWN_SECONDS)
    return Result(
        [end - start for start, end in zip(timings.sent, timings.resumed, strict=True)],
        [end - start for start, end in zip(timings.sent, timings.answered, strict=True)],
        load.count / elapsed,
        (cpu_seconds(server.pid) - used) / load.count,
    )


async def measure(redis_path: str, *, rounds: int = ROUNDS) -> list[dict[str, object]]:
    """All loads, both sides interleaved, a row for each load."""
    secret = secrets.token_hex(16)
    url = f"unix://{redis_path}?namespace=bench"
    servers = {
        "floor": start_server("floor", redis_path, secret),
        "ours": start_server("ours", url, secret),
    }
    try:
        for server in servers.values():
            await reachable(server.port)
        async with (
            open_backend(url) as backend,
            Gate.open(backend, run=RunRef("bench", "press"), timeout=3_600) as gate,
        ):
            floor, ours = Floor(redis_path, secret), Ours(gate, secret)
            await floor.prepare()
            sides: dict[str, Floor | Ours] = {"floor": floor, "ours": ours}
            await _rounds(WARM_UP, servers, sides, 1)
            return [await _rounds(load, servers, sides, rounds) for load in LOADS]
    finally:
        for server in servers.values():
            server.process.terminate()
            server.process.wait()


WARM_UP = Load("warm-up", 200, None)


async def _rounds(
    load: Load, servers: dict[str, Server], sides: dict[str, Floor | Ours], rounds: int
) -> dict[str, object]:
    results: dict[str, list[Result]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            results[name].append(await one_round(servers[name], side, load))
    row: dict[str, object] = {"load": load.name}
    for figure, read in _FIGURES.items():
        medians = {side: statistics.median(map(read, those)) for side, those in results.items()}
        row[figure] = {**medians, "ratio": medians["ours"] / medians["floor"]}
    return row


def _quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)] * 1e6


_FIGURES: dict[str, Callable[[Result], float]] = {
    "resumed_p50_us": lambda result: _quantile(result.resumed, 0.50),
    "resumed_p99_us": lambda result: _quantile(result.resumed, 0.99),
    "answered_p50_us": lambda result: _quantile(result.answered, 0.50),
    "answered_p99_us": lambda result: _quantile(result.answered, 0.99),
    "server_cpu_us_a_press": lambda result: result.cpu * 1e6,
    "presses_per_second": lambda result: result.per_second,
}


if __name__ == "__main__":
    os.sched_setaffinity(0, {0})
    print(json.dumps(asyncio.run(measure(sys.argv[1])), indent=1))
