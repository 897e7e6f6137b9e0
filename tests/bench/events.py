"""What many readers of one branch cost: memory each, and how long an event takes to all of them.

Run as a process of its own: ``python -m bench.events REDIS_URL COUNT``; prints JSON. The readers
are raw connections of another process, so that only the server's side is measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path

from sayso import RunRef
from sayso.desk.routes import Route, Routes
from sayso.stores.connect import open_store
from sayso.testing import a_request
from sayso_bots.api.api import hosted_api
from sayso_bots.config.api_tokens import ApiSettings, ApiToken, hash_token, new_token
from sayso_bots.server.webserver import answering, taken_port, url_of

RUN = RunRef("deploy-bot", "s-42")
EVENTS = 21
_PAGE = resource.getpagesize()
_BRANCH = "/agents/deploy-bot/sessions/s-42/branches/main"


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


async def measure(url: str, count: int) -> dict[str, float]:
    """Memory a client, and the time from writing an event to its arrival at the last client."""
    token = new_token()
    settings = ApiSettings((ApiToken("bench", hash_token(token), ("*",)),), per_second=10_000)
    routes = Routes((Route(to=()),))
    with taken_port("127.0.0.1", 0) as sockets:
        async with (
            open_store(url) as backend,
            hosted_api(settings, backend, routes, {}) as api,
            answering(sockets, api.routes()),
        ):
            readers = await _readers(url_of(sockets), token)
            try:
                await _open(readers, 50)
                before = resident_bytes()
                await _open(readers, count)
                after = resident_bytes()
                cpu = time.process_time()
                await asyncio.sleep(5)
                idle = (time.process_time() - cpu) / 5
                times = []
                for number in range(EVENTS):
                    request = a_request(f"q-{number}", run=RUN)
                    await backend.store.open(request, seconds=60, inbox="", book=None)
                    started = time.perf_counter()
                    await backend.log.append(RUN, request.question_id, "request", request)
                    arrived = [float(time_) for time_ in (await _line(readers)).split()]
                    times.append((arrived[0] - started, arrived[1] - started))
            finally:
                readers.kill()
                await readers.wait()
                api.streams.end()
    firsts, lasts = zip(*times[1:], strict=True)
    return {
        "clients": count,
        "resident_bytes_a_client": (after - before) / (count - 50),
        "idle_cpu_percent": 100 * idle,
        "first_client_ms": 1e3 * statistics.median(firsts),
        "last_client_ms": 1e3 * statistics.median(lasts),
        "last_client_worst_ms": 1e3 * max(lasts),
    }


async def _readers(url: str, token: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.events",
        "--read",
        url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "BENCH_TOKEN": token},
    )


async def _open(readers: asyncio.subprocess.Process, count: int) -> None:
    assert readers.stdin is not None
    readers.stdin.write(f"{count}\n".encode())
    await readers.stdin.drain()
    await _line(readers)


async def _line(readers: asyncio.subprocess.Process) -> str:
    assert readers.stdout is not None
    async with asyncio.timeout(60):
        line = await readers.stdout.readline()
    if not line:
        raise RuntimeError("the readers have ended")
    return line.decode()


async def read(url: str) -> None:
    """The other process: open as many streams as is said, then tell when each event came."""
    host, port = url.removeprefix("http://").split(":")
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    arrived: list[float] = []
    streams: list[asyncio.StreamReader] = []
    head = (
        f"GET {_BRANCH}/events HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {os.environ['BENCH_TOKEN']}\r\n\r\n"
    ).encode()

    async def follow(stream: asyncio.StreamReader) -> None:
        while await stream.readuntil(b"\n\n"):
            arrived.append(time.perf_counter())
            if len(arrived) == len(streams):
                print(min(arrived), max(arrived), flush=True)
                arrived.clear()

    tasks = []
    while line := await stdin.readline():
        while len(streams) < int(line):
            stream, writer = await asyncio.open_connection(host, int(port))
            writer.write(head)
            await stream.readuntil(b"id: ")
            await stream.readuntil(b"\n\n")
            streams.append(stream)
            tasks.append((asyncio.create_task(follow(stream)), writer))
        print("open", flush=True)


if __name__ == "__main__":
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if sys.argv[1] == "--read":
        asyncio.run(read(sys.argv[2]))
    else:
        print(json.dumps(asyncio.run(measure(sys.argv[1], int(sys.argv[2])))), flush=True)
