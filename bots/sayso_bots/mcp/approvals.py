"""Calls held against the policy and asked about, so that each approval is used once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import TypeVar

from sayso.agent.gate import Gate
from sayso.agent.patience import Patience
from sayso.agent.place import here
from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS
from sayso.agent.verdict import CheckResult
from sayso.calls import Folder, RunRef, ToolCall, new_id
from sayso.errors import (
    RequestNotFoundError,
    SaysoError,
    StoreUnreachableError,
)
from sayso.stores.backend import Backend
from sayso.stores.protocols import Use
from sayso_bots.config.ask_settings import AskSettings, get_route_seconds
from sayso_bots.mcp.messages import marked
from sayso_bots.unasked import unasked

VALID_SECONDS = 300.0
"""How long after the deadline of its question an approval can still be used."""

_DONE_SECONDS = 1.0
_AGAIN_SECONDS = 0.2
_T = TypeVar("_T")


class Taken(Enum):
    """What came of the attempt to use an approval."""

    NOW = "now"
    BEFORE = "before"
    TOO_LATE = "too late"


@dataclass(frozen=True, slots=True)
class Asker:
    """As whom a proxy or a server asks, for how long at most, and how long it waits for a store.

    ``folder`` is that of the project, where the calls are those of an agent that works here.
    """

    run: RunRef
    seconds: float | None = None
    patience: float = DEFAULT_PATIENCE_SECONDS
    folder: Folder | None = None

    def run_of(self, principal: str) -> RunRef:
        """The run of a client: those who call as somebody else remember nothing for each other."""
        session = self.run.session_id
        return replace(self.run, session_id=f"{session}/{principal}") if principal else self.run


@dataclass(slots=True)
class Ticket:
    """Under which key a call is asked about; ``name`` is where that is noted for its next try.

    ``is_found`` says that an earlier try noted it, which nobody here knows anything of.
    """

    run: RunRef
    key: str
    name: str = ""
    noted: str | None = None
    folder: Folder | None = None
    is_found: bool = False

    @property
    def is_noted(self) -> bool:
        """Whether the next try of the call would find it."""
        return self.noted == self.key


@dataclass
class Approvals:
    """Asks about the calls of all clients of one process."""

    backend: Backend
    settings: AskSettings
    asker: Asker
    _waiting: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def gate(self, run: RunRef, tool: str) -> AsyncIterator[Gate]:
        """A gate for one call of a tool."""
        policies = self.settings.policies
        async with Gate.open(
            self.backend,
            run=run,
            policy=policies,
            withdrawn_by=f"mcp:{run.agent_id}",
            audit_rules=policies.audits(run.agent_id, tool),
            patience=self.asker.patience,
            where=here,
        ) as gate:
            yield gate

    def seconds(self, run: RunRef, tool: str) -> float:
        """How long a question about a tool waits."""
        routed = get_route_seconds(self.settings.routes, run.agent_id, tool)
        given = [one for one in (routed, self.asker.seconds) if one is not None]
        return min(given, default=DEFAULT_TIMEOUT_SECONDS)

    def told(self, error: SaysoError) -> str:
        """What to say of a failure, such as that the store is away."""
        if isinstance(error, StoreUnreachableError):
            return self.settings.store.explain_unreachable(error)
        return str(error)

    async def ticket(self, run: RunRef, mark: str) -> Ticket:
        """The key of a call: that of the same call which nobody here waits for any more, or new.

        So whoever calls again after a process was killed finds the card that is still open.
        """
        name = _name(run, mark)
        if name in self._waiting:
            return Ticket(run, new_id(), folder=self.asker.folder)
        self._waiting.add(name)
        try:
            noted = await self.patiently(lambda: self.backend.key_value.get(name))
        except BaseException:
            self._waiting.discard(name)
            raise
        folder = self.asker.folder
        return Ticket(run, noted or new_id(), name, noted, folder, is_found=bool(noted))

    async def unasked(self, run: RunRef, call: ToolCall) -> CheckResult | None:
        """The verdict where nobody is needed, else None."""
        policies = self.settings.policies
        audits = policies.audits(run.agent_id, call.name)
        return await self.patiently(
            lambda: unasked(self.backend, run, policies, call, audit_rules=audits)
        )

    async def ask(self, ticket: Ticket, call: ToolCall, description: str) -> CheckResult | str:
        """The verdict that needs nobody, or the id of the question, which may have ended."""
        seconds = self.seconds(ticket.run, call.name)
        if ticket.is_found:
            said = await self._submitted(ticket, call, description, seconds)
            if isinstance(said, CheckResult) or not await self._is_used(said):
                return said
            # That was another call, which ended when nobody could note it.
            ticket.key = new_id()
        if not ticket.is_noted:
            verdict = await self.unasked(ticket.run, call)
            if verdict is not None:
                return verdict
            await self._note(ticket, seconds)
        return await self._submitted(ticket, call, description, seconds)

    async def _note(self, ticket: Ticket, seconds: float) -> None:
        """Let the next try of the call find its question, before there is one."""
        life = seconds + VALID_SECONDS
        if ticket.name and await self._keep(ticket.name, ticket.noted, ticket.key, seconds=life):
            ticket.noted = ticket.key

    async def _submitted(
        self, ticket: Ticket, call: ToolCall, description: str, seconds: float
    ) -> CheckResult | str:
        async with self.gate(ticket.run, call.name) as gate:
            return await gate.submit(call, key=ticket.key, description=description, timeout=seconds)

    async def _is_used(self, permission_id: str) -> bool:
        record = await self.patiently(lambda: self.backend.store.get(permission_id))
        return record is not None and record.use is not None

    async def looked(self, run: RunRef, permission_id: str) -> CheckResult | None:
        """The verdict, None while the question is open.

        Raises:
            RequestNotFoundError: the session asked no such question.
        """
        async with self.gate(run, "") as gate:
            found = await gate.resume(permission_id, wait=False)
        return found if isinstance(found, CheckResult) else None

    async def verdict(self, run: RunRef, tool: str, permission_id: str) -> CheckResult:
        """What somebody answered; a store that restarts is waited for.

        Raises:
            StoreUnreachableError: it is away for longer than that.
            WaitTimeoutError: the question should have ended long ago.
        """
        now = asyncio.get_running_loop().time
        ends_at, away_since = now() + self.seconds(run, tool) + VALID_SECONDS, None
        async with self.gate(run, tool) as gate:
            while True:
                began = now()
                try:
                    return await gate.resume(permission_id, timeout=max(ends_at - began, 0.01))
                except StoreUnreachableError as error:
                    if error.lost_request_id:
                        raise
                    heard = now() - began > self.asker.patience
                    away_since = now() if heard or away_since is None else away_since
                    if now() - away_since > self.asker.patience:
                        raise
                await asyncio.sleep(_AGAIN_SECONDS)

    async def withdraw(self, run: RunRef, tool: str, permission_id: str, reason: str) -> None:
        """End the question, unless it has ended."""
        async with self.gate(run, tool) as gate:
            await gate.cancel(permission_id, reason=reason)

    async def take(self, permission_id: str) -> Taken:
        """Use an approval, which can be done once, by one of all processes.

        Raises:
            RequestNotFoundError: the store does not know it any more.
        """
        record = await self.patiently(lambda: self.backend.store.get(permission_id))
        if record is None:
            raise RequestNotFoundError(permission_id)
        key, until = new_id(), record.request.expires_at + timedelta(seconds=VALID_SECONDS)
        use = await self.patiently(
            lambda: self.backend.store.consume_approval(permission_id, key, until=until)
        )
        if not isinstance(use, Use):
            return Taken.TOO_LATE
        return Taken.NOW if use.key == key else Taken.BEFORE

    async def done(self, ticket: Ticket) -> None:
        """Whoever makes the same call from now on is asked about anew."""
        self._waiting.discard(ticket.name)
        if ticket.is_noted:
            await self._keep(ticket.name, ticket.key, "", seconds=_DONE_SECONDS)

    async def _keep(self, name: str, before: str | None, after: str, *, seconds: float) -> bool:
        """Keep a text beside a session's questions, in the place of another one."""
        swap = self.backend.key_value.compare_and_set
        return await self.patiently(lambda: swap(name, before, after, seconds=seconds))

    async def patiently(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What comes of something that may be tried again, while the store is waited for."""
        return await Patience(self.asker.patience, self.backend.inbox.troubles)(attempt)

    def forget(self, ticket: Ticket) -> None:
        """Nobody here waits for it any more; whoever makes the same call finds its question."""
        self._waiting.discard(ticket.name)


def _name(run: RunRef, mark: str) -> str:
    """Where it is noted under which key a call of a run is asked about."""
    return f"document:mcp:call:{marked(json.dumps([run.agent_id, run.session_id, mark]))}"
