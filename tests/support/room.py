"""A room where tests ask: a store, an agent's gate, and a desk that shows cards in chats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from support.chat_double import ChatDouble, working

from sayso import CheckResult, Gate, Outcome, RunRef, ToolCall
from sayso.cards.card import Card, Open
from sayso.chats.places import MessageRef, Place
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import Rule
from sayso.stores.backend import Backend
from sayso.testing import a_request
from sayso.worker.worker import ApprovalWorker

RUN = RunRef("deploy-bot", "s-1")
OPS = Place("slack", "C0OPS")


@dataclass
class Room:
    """An agent at its gate and a desk at work; subclasses add what their tests do in it."""

    backend: Backend
    gate: Gate
    desk: ApprovalWorker

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        backend: Backend,
        desk: ApprovalWorker,
        gate: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> AsyncIterator[Self]:
        """The room while the block runs: options of the gate, and what a subclass has besides."""
        options = {"run": RUN, "timeout": 30, **(gate or {})}
        async with Gate.open(backend, **options) as opened, working(desk):
            yield cls(backend, opened, desk, **more)

    def ask(self, call: ToolCall, **options: Any) -> asyncio.Task[CheckResult]:
        """Ask about a call; the verdict to come."""
        return asyncio.create_task(self.gate.check(call, **options))

    async def settled(self) -> None:
        """Return when the desk has nothing under way any more."""
        await self.desk._background.settled()

    async def unanswered(self, call: ToolCall, run: RunRef = RUN) -> Outcome:
        """What becomes of a call that nobody answers; EXPIRED where it was asked about."""
        async with Gate.open(self.backend, run=run, timeout=0.2) as gate:
            return (await gate.check(call)).outcome

    async def offer(
        self, call: ToolCall, *wider: Rule, run: RunRef = RUN
    ) -> PermissionRequestEvent:
        """Ask about a call, with wider rules to choose from as well."""
        request = a_request(tool=call.name, arguments=call.arguments, run=run)
        rules = (*request.suggested_rules, *wider)
        request = request.model_copy(update={"suggested_rules": rules})
        await self.backend.store.open(request, seconds=30, inbox="", book=None)
        return request


@dataclass
class ChatRoom(Room):
    """A room whose cards stand in a chat of this process."""

    chat: ChatDouble

    async def asked(self, call: ToolCall) -> tuple[asyncio.Task[CheckResult], MessageRef, Card]:
        """Ask about a call; the verdict to come, and its open card."""
        waiting = self.ask(call)
        ref, card = await self.chat.card_where(
            lambda card: card.body.title == call.name and isinstance(card.state, Open)
        )
        return waiting, ref, card
