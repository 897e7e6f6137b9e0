"""What a question from the shell costs: the processor time of ``sayso ask`` until it stands.

``python -m bench.asked [ROUNDS]`` starts a store, asks, and prints milliseconds,
beside an interpreter that does nothing and one that loads pydantic and makes a model.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support.valkey_server import Valkey

from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url

_MODEL = "import pydantic\nclass Model(pydantic.BaseModel):\n    number: int"
_PATIENCE_SECONDS = 30.0


def asked(url: str, rounds: int) -> dict[str, float]:
    """The medians, in milliseconds of processor time."""
    with TemporaryDirectory() as folder:
        ask = [_until_it_stands(url, Path(folder)) for _ in range(rounds)]
    return {
        "an empty program": _median("pass", rounds),
        "pydantic with a model": _median(_MODEL, rounds),
        "sayso ask until its question stands": statistics.median(ask),
    }


def _until_it_stands(url: str, folder: Path) -> float:
    command = [str(Path(sys.executable).parent / "sayso"), "ask", "bash", "--arg", "command=ls"]
    env = {**os.environ, "SAYSO_STORE_URL": url, "HOME": str(folder)}
    before = asyncio.run(_open(url))
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=env, stdout=quiet, stderr=quiet) as process:
        until = time.monotonic() + _PATIENCE_SECONDS
        while asyncio.run(_open(url)) == before:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("sayso ask did not ask")
            time.sleep(0.02)
        spent = _used(process.pid)
        process.send_signal(signal.SIGKILL)
    return spent


async def _open(url: str) -> int:
    client = Client(read_url(url))
    try:
        return int(await client.command("ZCARD", client.keys.due))
    finally:
        await client.aclose()


def _used(process: int) -> float:
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def _median(code: str, rounds: int) -> float:
    waiting = f"{code}\nimport sys\nprint(flush=True)\nsys.stdin.read()"
    found = []
    for _ in range(rounds):
        with subprocess.Popen(
            [sys.executable, "-c", waiting], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            found.append(_used(process.pid))
            process.kill()
    return statistics.median(found)


if __name__ == "__main__":
    server = Valkey(unixsocket="valkey.sock", unixsocketperm="700", password="")
    server.start()
    try:
        path = f"unix://{server.folder / 'valkey.sock'}?namespace=asked"
        for name, spent in asked(path, int((sys.argv[1:] or ["7"])[0])).items():
            print(f"{name:36} {spent:6.0f} ms")
    finally:
        server.close()
