"""Requests of integrations: hooks, MCP, editors and the command line ask through this service.

An integration translates its protocol; the rest is decided here once: which policy counts, that its
decisions are audited, how long a route lets a request wait, whose name a cancellation bears.
Not here: any protocol.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from sayso.agent.gate import Gate
from sayso.agent.patience import Patience
from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS
from sayso.agent.verdict import CheckResult
from sayso.calls import RunRef, ToolCall
from sayso.errors import SaysoError, StoreUnreachableError
from sayso.events import Event
from sayso.rules.rule import Rule
from sayso.stores.backend import Backend
from sayso.tasks import Background
from sayso.where import Where
from sayso_bots.config.store_settings import AskSettings, get_route_seconds

if TYPE_CHECKING:
    from sayso.questions.text_approval import ApproveText

Warn = Callable[[str], None]
"""Tells a person what to know before the response."""

GRACE_SECONDS = 300.0
"""A response is waited for, and an approval counts, so long after the request's deadline."""

NO_WORKERS = "no bots are running on this store, so nobody can see this question"

_RECONNECT_SECONDS = 0.2
# A policy has decided by then, and nobody had to see a card.
_FIRST_LOOK_SECONDS = 1.0
_NEXT_LOOK_SECONDS = 5.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Requester:
    """As whom an integration asks, how long at most, and how long it waits for a store."""

    agent: str
    max_seconds: float = math.inf
    patience: float = DEFAULT_PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class AskService:
    """Asks for one integration on an open store, by the policy and routes of the settings.

    Args:
        integration: its name, such as ``hook``: a cancellation bears it.
        requested_by: the actor who wants the calls, and may not approve them.
        locate: finds where the agent works, for the card.
        observe: is told at once what is asked and how it ended.
        cancelled_by: whom a cancellation names; the agent, unless told.
    """

    store: Backend
    settings: AskSettings
    requester: Requester
    integration: str
    requested_by: str | None = None
    locate: Callable[[], Where | None] | None = None
    observe: Callable[[Event], None] | None = None
    cancelled_by: str = ""

    def timeout_seconds(self, run: RunRef, tool: str) -> float:
        """Return how long a request waits: as its route says, never longer than the requester."""
        routed = get_route_seconds(self.settings.routes, run.agent_id, tool)
        seconds = min(routed or math.inf, self.requester.max_seconds)
        return DEFAULT_TIMEOUT_SECONDS if seconds == math.inf else seconds

    @asynccontextmanager
    async def open_gate(self, run: RunRef, tool: str = "") -> AsyncIterator[Gate]:
        """Open a gate for one call of a tool."""
        policies = self.settings.policies
        async with Gate.open(
            self.store,
            run=run,
            policy=policies,
            requested_by=self.requested_by,
            observe=self.observe,
            withdrawn_by=f"{self.integration}:{self.cancelled_by or run.agent_id}",
            audit_rules=policies.audits(run.agent_id, tool),
            patience=self.requester.patience,
            where=self.locate,
        ) as gate:
            yield gate

    async def check(
        self,
        run: RunRef,
        call: ToolCall,
        *,
        timeout: float | None = None,
        key: str | None = None,
        description: str = "",
        source_name: str | None = None,
        path: tuple[str, ...] = (),
        suggest: Sequence[Rule] = (),
    ) -> CheckResult:
        """Decide on a call: by the policy, else by a person, who is waited for.

        Args:
            timeout: seconds; without them, those of the route and the requester.
            key: the idempotency key; a call that comes again joins its request.

        Raises:
            IdempotencyConflictError: another call has this key.
            StoreUnreachableError: the store was away for too long; nothing was approved.
        """
        async with self.open_gate(run, call.name) as gate:
            return await gate.check(
                call,
                timeout=self.timeout_seconds(run, call.name) if timeout is None else timeout,
                key=key,
                description=description,
                source_name=source_name,
                path=path,
                suggest=suggest,
            )

    async def submit(
        self,
        run: RunRef,
        asked: ToolCall | ApproveText,
        *,
        key: str | None = None,
        description: str = "",
    ) -> CheckResult | str:
        """Ask without waiting: the policy's result, or the id of the request.

        Raises:
            IdempotencyConflictError, StoreUnreachableError: as for ``check``.
        """
        tool = asked.name if isinstance(asked, ToolCall) else ""
        seconds = self.timeout_seconds(run, tool)
        async with self.open_gate(run, tool) as gate:
            if isinstance(asked, ToolCall):
                return await gate.submit(asked, timeout=seconds, key=key, description=description)
            return await gate.submit(asked, timeout=seconds)

    @overload
    async def wait(self, run: RunRef, tool: str, request_id: str) -> CheckResult: ...
    @overload
    async def wait(self, run: RunRef, tool: str, request_id: str, expect: type[_T]) -> _T: ...
    async def wait(
        self, run: RunRef, tool: str, request_id: str, expect: type[Any] = CheckResult
    ) -> Any:
        """Wait until a request ends; a store that restarts is waited for.

        Raises:
            StoreUnreachableError: it is away for longer than the requester's patience.
            WaitTimeoutError: the request should have ended long ago.
        """
        now = asyncio.get_running_loop().time
        ends_at, away_since = now() + self.timeout_seconds(run, tool) + GRACE_SECONDS, None
        async with self.open_gate(run, tool) as gate:
            while True:
                began = now()
                try:
                    left = max(ends_at - began, 0.01)
                    return await gate.resume(request_id, timeout=left, expect=expect)
                except StoreUnreachableError as error:
                    if error.lost_request_id:
                        raise
                    was_there = now() - began > self.requester.patience
                    away_since = now() if was_there or away_since is None else away_since
                    if now() - away_since > self.requester.patience:
                        raise
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def look(self, run: RunRef, request_id: str) -> CheckResult | None:
        """Return how a request ended; None while it is open.

        Raises:
            RequestNotFoundError: the session asked no such request.
        """
        async with self.open_gate(run) as gate:
            found = await gate.resume(request_id, wait=False)
        return found if isinstance(found, CheckResult) else None

    async def cancel(self, run: RunRef, request_id: str, reason: str) -> None:
        """End a request, unless it has ended."""
        async with self.open_gate(run) as gate:
            await gate.cancel(request_id, reason=reason)

    async def retry(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Repeat what may be repeated while the store is away, as long as the patience lasts."""
        return await Patience(self.requester.patience, self.store.inbox.troubles)(attempt)

    def explain(self, error: SaysoError) -> str:
        """Say what went wrong, in terms of the settings."""
        if isinstance(error, StoreUnreachableError) and not error.lost_request_id:
            return self.settings.store.explain_unreachable(error)
        return str(error)

    async def has_no_workers(self) -> bool:
        """Return True if nobody can see a request, as far as the store says."""
        with suppress(SaysoError):
            return await self.store.outbox.count_workers() == 0
        return False

    @asynccontextmanager
    async def warning_without_workers(self, warn: Warn) -> AsyncIterator[None]:
        """Warn once that no workers run, where that is so while the block runs."""
        background = Background("looking whether bots run")
        async with background.during(self._look_for_workers(warn)):
            yield

    async def _look_for_workers(self, warn: Warn) -> None:
        seconds = _FIRST_LOOK_SECONDS
        while True:
            await asyncio.sleep(seconds)
            if await self.has_no_workers():
                return warn(f"Sayso: {NO_WORKERS}; `sayso serve` starts them")
            seconds = _NEXT_LOOK_SECONDS
