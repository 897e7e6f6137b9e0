"""Calls asked about so that each approval is used once, and a call made again finds its request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import Protocol

from sayso.agent.verdict import CheckResult
from sayso.calls import Folder, RunRef, ToolCall, new_id
from sayso.errors import RequestNotFoundError
from sayso.stores.protocols import Use
from sayso_bots.asking.service import GRACE_SECONDS, AskService
from sayso_bots.mcp.messages import McpCall, Message, hash_text

_DONE_SECONDS = 1.0


class Usage(Enum):
    """Outcome of an attempt to use an approval."""

    NOW = "now"
    BEFORE = "before"
    TOO_LATE = "too late"


@dataclass(slots=True)
class Ticket:
    """The idempotency key of a call; ``name`` is the store's entry that leads its next try to it.

    ``is_found`` says that an earlier try left the entry, which nobody here knows anything of.
    """

    run: RunRef
    key: str
    name: str = ""
    stored: str | None = None
    is_found: bool = False

    @property
    def is_stored(self) -> bool:
        """Return True if the next try of the call would find it."""
        return self.stored == self.key


PROGRESS_SECONDS = 10.0
"""How often a client hears that its call still waits."""

Tell = Callable[[bytes], Awaitable[None]]
"""Sends a message to the client before the answer."""


class RefusedError(Exception):
    """The call does not run, for the reason that the model is told."""


class WithdrawnError(Exception):
    """Nobody wants the answer any more."""


class ServerGoneError(Exception):
    """The server ended, or could not be reached, before it answered."""


class Server(Protocol):
    """The server behind, as one client speaks to it."""

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:
        """Its answer to the bytes of a request, or of its edit; what it says before goes to tell.

        Raises:
            ServerGoneError: it gives none.
        """
        ...

    async def send(self, message: Message) -> None:
        """Hand it what needs no answer.

        Raises:
            ServerGoneError: it cannot take it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Client:
    """The caller. ``principal`` tells those apart who prove who they are; ``name`` is a claim."""

    connection: str = ""
    principal: str = ""
    name: str = ""


@dataclass
class Flight:
    """A request that is not answered yet.

    ``withdrawn`` is set when nobody wants its answer any more; whether the server
    has it, or it waits here, says ``is_running``.
    """

    withdrawn: asyncio.Event = field(default_factory=asyncio.Event)
    is_running: bool = False


@dataclass
class Asking:
    """One call under way."""

    call: McpCall
    client: Client
    ticket: Ticket
    tell: Tell
    server: Server
    flight: Flight
    folder: Folder | None = None

    @property
    def run(self) -> RunRef:
        """In which run it is asked about."""
        return self.ticket.run

    @property
    def tool_call(self) -> ToolCall:
        """The call as a gate takes it."""
        call = self.call
        return ToolCall(call.tool, call.arguments, call.call_id or new_id(), self.folder)


@dataclass
class Approvals:
    """Asks about the calls of all clients of one process, in a run of this process.

    ``folder`` is that of the project, where the calls are those of an agent that works here.
    """

    service: AskService
    run: RunRef
    folder: Folder | None = None
    _waiting: set[str] = field(default_factory=set)

    def run_of(self, principal: str) -> RunRef:
        """Return a client's run: those who prove to be others share no memory."""
        session = self.run.session_id
        return replace(self.run, session_id=f"{session}/{principal}") if principal else self.run

    async def open_ticket(self, run: RunRef, mark: str) -> Ticket:
        """Return the key of the same call that nobody here waits for any more, or a new one.

        So whoever calls again after a process was killed finds the card that is still open.
        """
        name = f"document:mcp:call:{hash_text(json.dumps([run.agent_id, run.session_id, mark]))}"
        if name in self._waiting:
            return Ticket(run, new_id())
        self._waiting.add(name)
        try:
            stored = await self.service.retry(lambda: self.service.store.key_value.get(name))
        except BaseException:
            self._waiting.discard(name)
            raise
        return Ticket(run, stored or new_id(), name, stored, is_found=bool(stored))

    async def ask(self, ticket: Ticket, call: ToolCall, description: str) -> CheckResult | str:
        """Return the policy's result, or the id of the request, which may have ended."""
        submitted = await self._submit(ticket, call, description)
        if ticket.is_found and isinstance(submitted, str) and await self._is_used(submitted):
            # That was another call, which ended when nobody could say so.
            ticket.key = new_id()
            submitted = await self._submit(ticket, call, description)
        return submitted

    async def _submit(self, ticket: Ticket, call: ToolCall, description: str) -> CheckResult | str:
        """Submit a call, whose next try finds its request before there is one."""
        service, run = self.service, ticket.run
        if ticket.name and not ticket.is_stored:
            life = service.timeout_seconds(run, call.name) + GRACE_SECONDS
            if await self._swap(ticket.name, ticket.stored, ticket.key, seconds=life):
                ticket.stored = ticket.key
        return await service.submit(run, call, key=ticket.key, description=description)

    async def use(self, request_id: str) -> Usage:
        """Use an approval, which can be done once, by one of all processes.

        Raises:
            RequestNotFoundError: the store does not know it any more.
        """
        store = self.service.store
        record = await self.service.retry(lambda: store.store.get(request_id))
        if record is None:
            raise RequestNotFoundError(request_id)
        key, until = new_id(), record.request.expires_at + timedelta(seconds=GRACE_SECONDS)
        use = await self.service.retry(
            lambda: store.store.consume_approval(request_id, key, until=until)
        )
        if not isinstance(use, Use):
            return Usage.TOO_LATE
        return Usage.NOW if use.key == key else Usage.BEFORE

    async def close(self, ticket: Ticket) -> None:
        """End a call: the same call is asked about anew from now on."""
        self._waiting.discard(ticket.name)
        if ticket.is_stored:
            await self._swap(ticket.name, ticket.key, "", seconds=_DONE_SECONDS)

    def forget(self, ticket: Ticket) -> None:
        """Wait no more for a call; the same call finds its request."""
        self._waiting.discard(ticket.name)

    async def _is_used(self, request_id: str) -> bool:
        record = await self.service.retry(lambda: self.service.store.store.get(request_id))
        return record is not None and record.use is not None

    async def _swap(self, name: str, before: str | None, after: str, *, seconds: float) -> bool:
        swap = self.service.store.key_value.compare_and_set
        return await self.service.retry(lambda: swap(name, before, after, seconds=seconds))
