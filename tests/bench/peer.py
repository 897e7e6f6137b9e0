"""A process that waits for decisions, or makes them: ``python -m bench.peer WAY ADDRESS``.

It is told what to do by lines of JSON, and answers each with a line: ``wait`` for so many,
``decide`` them as fast as is said, or say when what waited went on (``gone``). Moments are of the
clock that all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from bench.peer_ways import GOES_ON_WHERE_DECIDED, WAYS, Way

_PATIENCE_SECONDS = 60.0
_AT_ONCE = 32


class Peer:
    """One way in one process."""

    def __init__(self, kind: str, address: str) -> None:
        self._gone: dict[str, float] = {}
        self._is_left = kind in GOES_ON_WHERE_DECIDED
        self._way: Way = WAYS[kind](address, self._went_on)
        self._waits: list[asyncio.Future[None]] = []

    def _went_on(self, name: str) -> None:
        self._gone[name] = time.perf_counter()

    async def run(self) -> None:
        """Do what the lines say until they end."""
        await self._way.open()
        self._say({})
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            names = [f"{asked['batch']}-{number}" for number in range(asked["count"])]
            do = {"wait": self._wait, "decide": self._decide, "gone": self._all_gone}[asked["do"]]
            self._say(await do(names, asked))

    @staticmethod
    def _say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), flush=True)

    async def _wait(self, names: list[str], asked: dict[str, Any]) -> dict[str, Any]:
        del asked
        if self._is_left:
            for start in range(0, len(names), _AT_ONCE):
                await asyncio.gather(*map(self._way.wait, names[start : start + _AT_ONCE]))
        else:
            self._waits = [asyncio.ensure_future(self._way.wait(name)) for name in names]
        await self._way.waiting(len(names))
        await asyncio.sleep(1.0)
        return {"cpu": time.process_time()}

    async def _decide(self, names: list[str], asked: dict[str, Any]) -> dict[str, Any]:
        await self._way.prepare()
        decided: dict[str, float] = {}
        used, loop = time.process_time(), asyncio.get_running_loop()
        start = loop.time()
        left = iter(enumerate(names))

        async def some() -> None:
            for number, name in left:
                if asked["per_second"]:
                    due = start + number / asked["per_second"]
                    await asyncio.sleep(max(due - loop.time(), 0))
                decided[name] = time.perf_counter()
                await self._way.decide(name)

        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
        return {"decided": decided, "gone": self._gone, "cpu": time.process_time() - used}

    async def _all_gone(self, names: list[str], asked: dict[str, Any]) -> dict[str, Any]:
        del asked
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await asyncio.gather(*self._waits)
        gone = {name: self._gone[name] for name in names if name in self._gone}
        return {"gone": gone, "cpu": time.process_time()}


if __name__ == "__main__":
    asyncio.run(Peer(*sys.argv[1:]).run())
