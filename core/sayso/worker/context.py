"""The parts of a worker that everything which handles interactions shares."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sayso.chats.adapter import Adapter
from sayso.clock import Clock
from sayso.questions.refusals import Refusals
from sayso.stores.backend import Backend
from sayso.tasks import Background
from sayso.worker.activity_events import ActivityEvents, RejectedInteractions
from sayso.worker.authorization import Approvers
from sayso.worker.card_builder import CardBuilder, Localizer
from sayso.worker.update_cards import CardUpdater

# Under a load without a pause between presses, other work is begun so often all the same.
_LONGEST_SECONDS = 0.05


class InteractionPriority:
    """Knows whether presses are under way, and lets other work begin one at a time."""

    def __init__(self, *, longest_seconds: float = _LONGEST_SECONDS) -> None:
        self._longest_seconds = longest_seconds
        self._presses = 0
        self._is_calm = asyncio.Event()
        self._is_calm.set()
        self._turns = asyncio.Lock()

    @contextmanager
    def press(self) -> Iterator[None]:
        """A press is under way while the block runs."""
        self._presses += 1
        self._is_calm.clear()
        try:
            yield
        finally:
            self._presses -= 1
            if not self._presses:
                self._is_calm.set()

    async def turn(self) -> None:
        """Return when no press is under way, or a moment later; to one at a time."""
        async with self._turns:
            if self._presses:
                try:
                    async with asyncio.timeout(self._longest_seconds):
                        await self._is_calm.wait()
                except TimeoutError:
                    return
            # What has come in since is read before the next one begins.
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The parts of one desk, put together once."""

    backend: Backend
    adapters: Mapping[str, Adapter]
    approvers: Approvers
    delivery: CardUpdater
    calm: InteractionPriority
    maker: CardBuilder
    notices: ActivityEvents
    refused: RejectedInteractions
    refusals: Refusals
    clock: Clock
    background: Background
    speech: Localizer
