"""One proxy: what it knows of clients and requests, and how it answers each message."""

from __future__ import annotations

from dataclasses import dataclass, field

from sayso.agent.verdict import CheckResult
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Client, Flight, Server, ServerGoneError, Tell
from sayso_bots.mcp.guard import Guard
from sayso_bots.mcp.messages import CALL, CANCELLED, McpCall, Message, read_call


@dataclass
class Proxy:
    """Between the clients of one server and that server.

    A call goes to the guard, everything else through.
    """

    guard: Guard
    _flights: dict[tuple[str, str], Flight] = field(default_factory=dict)

    async def request(
        self, message: Message, client: Client, server: Server, tell: Tell
    ) -> bytes | None:
        """What a client reads in answer to its request; None where it wants nothing any more."""
        name = (client.connection, message.id)
        if name in self._flights:
            return messages.failure(
                message.id, messages.INVALID_REQUEST, "A request with this id is under way"
            )
        flight = self._flights[name] = Flight(is_running=message.method != CALL)
        try:
            if message.method == CALL:
                return await self.guard.explained(
                    message, lambda: self.called(message, client, server, tell, flight)
                )
            return await server.request(message.raw, message, tell)
        except ServerGoneError as error:
            return messages.failure(
                message.id, messages.INTERNAL_ERROR, f"The server cannot be reached: {error}"
            )
        finally:
            del self._flights[name]

    async def take(self, message: Message, client: Client, server: Server) -> None:
        """Take a notification, or an answer of the client's.

        Raises:
            ServerGoneError: the server cannot take it.
        """
        if message.method == CANCELLED:
            found = (message.params or {}).get("requestId")
            flight = self._flights.get((client.connection, messages.id_of(found)))
            if flight is not None and not flight.is_running:
                flight.withdrawn.set()
                return
        await server.send(message)

    def withdraw(self, connection: str, id_: str = "") -> None:
        """Nobody wants the answers of a connection any more, or the one to this request."""
        for (where, name), flight in self._flights.items():
            if where == connection and id_ in ("", name):
                flight.withdrawn.set()

    def waits(self, connection: str, id_: str) -> bool:
        """Whether a request waits here for its answer, and not at the server."""
        flight = self._flights.get((connection, id_))
        return flight is not None and not flight.is_running

    def read(self, message: Message) -> McpCall:
        """The call in a request.

        Raises:
            MalformedMessageError: it is not clear which one.
        """
        return read_call(message)

    async def called(
        self, message: Message, client: Client, server: Server, tell: Tell, flight: Flight
    ) -> bytes:
        """What a client reads in answer to a call; raises whatever keeps it from running."""
        asking = await self.guard.begin(self.read(message), client, tell, server, flight)
        try:
            said = await self.guard.asked(asking)
            if isinstance(said, CheckResult):
                return await self.guard.running.answer(asking, said)
            return await self.guard.answer(asking, said)
        finally:
            self.guard.approvals.forget(asking.ticket)
