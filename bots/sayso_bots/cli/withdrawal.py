"""What came of a question whose asker was stopped: said once the question is withdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from sayso.calls import ToolCall
from sayso.errors import SaysoError
from sayso.events import Event, Outcome, Resolution, UserInputRequest
from sayso.stores.backend import Backend
from sayso_bots.cli.records import ended_text

_LOOK_SECONDS = 2.0


class Withdrawal:
    """Follows one question, so that a command that is stopped can say what became of it."""

    def __init__(self) -> None:
        self._request: UserInputRequest | None = None
        self._ending: Resolution | None = None

    def hear(self, event: Event) -> None:
        """The gate asked, or something ended."""
        if isinstance(event, UserInputRequest):
            self._request = event

    @asynccontextmanager
    async def looking(self, backend: Backend) -> AsyncIterator[None]:
        """Look how the question ended when the block is cancelled, and has tidied up."""
        try:
            yield
        except asyncio.CancelledError:
            await self._look(backend)
            raise

    async def _look(self, backend: Backend) -> None:
        if self._request is None:
            return
        with suppress(SaysoError, TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                record = await backend.store.get(self._request.question_id)
                self._ending = None if record is None else record.ending

    def in_words(self) -> str:
        """One line for a person."""
        if self._request is None:
            return "stopped; nobody was asked"
        if self._ending is None:
            return "stopped; the question could not be withdrawn and stays open until it expires"
        if self._ending.outcome is Outcome.CANCELLED:
            return "withdrawn; the cards say so"
        return f"stopped; the question was already {ended_text(self._ending)}"

    def as_json(self, call: ToolCall) -> Mapping[str, Any]:
        """A verdict that lets nothing run, with the fields of any other."""
        return {
            "outcome": Outcome.CANCELLED.value,
            "approved": False,
            "requestId": self._request.question_id if self._request else None,
            "tool": call.name,
            "arguments": dict(call.arguments),
            "decidedBy": None,
            "decidedAt": None,
            "decidedLine": None,
            "reason": self.in_words(),
        }
