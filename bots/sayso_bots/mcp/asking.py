"""One call under way: whose it is, what it was asked under, and what may end it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from sayso.calls import RunRef, ToolCall, new_id
from sayso_bots.mcp.approvals import Ticket
from sayso_bots.mcp.calls import McpCall
from sayso_bots.mcp.messages import Message

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
    """Who calls. ``principal`` tells apart those who prove who they are; ``name`` is a claim."""

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

    @property
    def run(self) -> RunRef:
        """In which run it is asked about."""
        return self.ticket.run

    @property
    def tool_call(self) -> ToolCall:
        """The call as a gate takes it."""
        call = self.call
        return ToolCall(call.tool, call.arguments, call.call_id or new_id(), self.ticket.folder)
