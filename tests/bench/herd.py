"""What it costs when all readers of a branch come back at once and read it from the beginning.

Run as a process of its own: ``python -m bench.herd REDIS_URL COUNT EVENTS SIZE``; prints JSON.
``SIZE`` is that of an event in bytes, roughly; with ``--stuck`` at the end the readers take
nothing. The readers are raw connections of another process, so that only the server is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import sys
import time

from bench.events import resident_bytes

from sayso import RunRef
from sayso.desk.routes import Route, Routes
from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request
from sayso_bots.api.api import hosted_api
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, hash_token, new_token
from sayso_bots.server.webserver import answering, taken_port, url_of

RUN = RunRef("deploy-bot", "s-42")
_BRANCH = "/agents/deploy-bot/sessions/s-42/branches/main"
_STUCK_SECONDS = 3.0


async def measure(url: str, count: int, events: int, size: int, *, stuck: bool) -> dict[str, float]:
    """How many readers are let in and how soon they have everything; how long a press waits."""
    token = new_token()
    settings = ApiSettings((ApiToken("bench", hash_token(token), ("*",)),), per_second=10_000)
    with taken_port("127.0.0.1", 0) as sockets:
        async with (
            open_store(url) as backend,
            hosted_api(settings, backend, Routes((Route(to=()),)), {}) as api,
            answering(sockets, api.routes()),
        ):
            for number in range(events):
                request = a_request(f"q-{number}", run=RUN)
                request = request.model_copy(update={"description": "x" * size})
                await backend.store.open(request, seconds=60, inbox="", book=None)
                await backend.log.append(RUN, request.question_id, "request", request)
            before = resident_bytes()
            looking = asyncio.create_task(_presses(backend))
            seen = await _herd(url_of(sockets), token, count, events, stuck=stuck)
            looking.cancel()
            worst, failed = await looking
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            api.streams.end()
    return {
        "clients": count,
        "events": events,
        "event_bytes": size,
        **seen,
        "press_worst_ms": 1e3 * worst,
        "press_failures": failed,
        "peak_bytes_more": peak - before,
    }


async def _presses(backend: Backend) -> tuple[float, int]:
    """What a press needs of the store, again and again: the longest it took, how many failed."""
    worst, failed = 0.0, 0
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            started = time.perf_counter()
            try:
                await backend.store.get("q-0")
            except StoreUnreachableError:
                failed += 1
            worst = max(worst, time.perf_counter() - started)
            await asyncio.sleep(0.01)
    return worst, failed


async def _herd(url: str, token: str, count: int, events: int, *, stuck: bool) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.herd",
        "--read",
        url,
        str(count),
        "0" if stuck else str(events),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "BENCH_TOKEN": token},
    )
    out, _ = await process.communicate()
    seen: dict[str, float] = json.loads(out)
    return seen


async def read(url: str, count: int, events: int) -> dict[str, float]:
    """The other process: connect all at once, and take all events or, for 0, nothing."""
    host, port = url.removeprefix("http://").split(":")
    head = (
        f"GET {_BRANCH}/events?lastEventId=0 HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {os.environ['BENCH_TOKEN']}\r\n\r\n"
    ).encode()

    async def taken(stream: asyncio.StreamReader) -> str:
        status = (await stream.readline()).split()[1].decode()
        if status != "200":
            return status
        await stream.readuntil(b"id: ")
        await stream.readuntil(b"\n\n")
        for _ in range(events):
            if b"stream-error" in await stream.readuntil(b"\n\n"):
                return "stream-error"
        return status

    async def one() -> str:
        stream, writer = await asyncio.open_connection(host, int(port), limit=2**21)
        writer.write(head)
        try:
            if events:
                return await taken(stream)
            await asyncio.sleep(_STUCK_SECONDS)
        except (OSError, asyncio.IncompleteReadError):
            return "broken"
        finally:
            writer.close()
        return "200"

    started = time.perf_counter()
    statuses = await asyncio.gather(*(one() for _ in range(count)))
    return {
        "complete": statuses.count("200"),
        "refused": sum(status.isdigit() and status != "200" for status in statuses),
        "cut_off": len([status for status in statuses if not status.isdigit()]),
        "all_read_seconds": time.perf_counter() - started,
    }


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if sys.argv[1] == "--read":
        figures = asyncio.run(read(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        numbers = [int(word) for word in sys.argv[2:5]]
        stuck_ones = "--stuck" in sys.argv
        figures = asyncio.run(measure(sys.argv[1], *numbers, stuck=stuck_ones))
    print(json.dumps(figures), flush=True)
