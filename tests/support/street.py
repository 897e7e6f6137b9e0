"""Lanes by a clock that the test moves, and what went through them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from support.timer import StoppedTimer

from sayso.chats.budgets import Budget
from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.protocols import KeyValueStore
from sayso.worker.send_queue import Rank, SendQueue

OPS = Place("slack", "C0OPS")


class Street:
    """Lanes, and what went through them: its name and when."""

    def __init__(self, budgets: KeyValueStore | None = None) -> None:
        self.timer = StoppedTimer()
        self.lanes = SendQueue(budgets or MemoryKeyValue(self.clock), self.timer)
        self.went: list[tuple[str, float]] = []
        self.at_once = self.most_at_once = 0
        self._begun = self.timer.now()
        self._tasks: list[asyncio.Task[None]] = []

    def send(
        self,
        name: str,
        place: Place = OPS,
        rank: Rank = Rank.NEW,
        budgets: Sequence[Budget] = (),
        *,
        agent: str = "",
        error: DeliveryError | None = None,
        takes: float = 0,
    ) -> asyncio.Task[None]:
        async def go() -> None:
            async with self.lanes.turn(place, rank, budgets, agent=agent):
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                self.went.append((name, self.timer.now() - self._begun))
                if takes:
                    await self.timer.wait(asyncio.Event(), takes)
                else:
                    await asyncio.sleep(0)
                self.at_once -= 1
                if error is not None:
                    raise error

        task = asyncio.create_task(go())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._tasks.append(task)
        return task

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.timer.now(), UTC)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.went]
