"""What stands before each call: held against the policy, asked about, and waited for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sayso.agent.verdict import CheckResult
from sayso.errors import SaysoError
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Approvals
from sayso_bots.mcp.asking import (
    PROGRESS_SECONDS,
    Asking,
    Client,
    Flight,
    RefusedError,
    Server,
    Tell,
    WithdrawnError,
)
from sayso_bots.mcp.calls import McpCall
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.running import Running, refusal
from sayso_bots.strict_json import MalformedMessageError

_log = logging.getLogger(__name__)


class Guard:
    """Answers calls: with what the server says once they are approved, else with why they ran not.

    ``server`` is what the server is called on cards; a client hears every ``progress`` seconds
    that its call still waits.
    """

    def __init__(
        self,
        approvals: Approvals,
        running: Running,
        server: str,
        progress: float = PROGRESS_SECONDS,
    ) -> None:
        self.approvals = approvals
        self.running = running
        self._server = server
        self._progress = progress

    async def begin(
        self, call: McpCall, client: Client, tell: Tell, server: Server, flight: Flight
    ) -> Asking:
        """The call with the key that it is asked under.

        Raises:
            StoreUnreachableError: the key cannot be read.
        """
        run = self.approvals.asker.run_of(client.principal)
        ticket = await self.approvals.ticket(run, call.mark)
        return Asking(call, client, ticket, tell, server, flight)

    async def asked(self, asking: Asking) -> CheckResult | str:
        """The verdict that needs nobody, or the id of the open question."""
        call = asking.call
        words = (
            ("{client} goes on with a call of the MCP server {server}, which wanted more of it")
            if call.goes_on
            else "{client} calls a tool of the MCP server {server}"
        )
        name = asking.client.name or "an MCP client"
        why = call.description or on_one_line(words.format(client=name, server=self._server))
        return await self.approvals.ask(asking.ticket, asking.tool_call, why)

    async def answer(self, asking: Asking, permission_id: str) -> bytes:
        """What a client reads whose call is asked about: it is held until somebody answers.

        Raises:
            WithdrawnError: nobody wants it any more; the question is withdrawn.
            WaitTimeoutError: the store does not say how the question ended.
        """
        run, tool = asking.run, asking.call.tool
        work = asyncio.create_task(self.approvals.verdict(run, tool, permission_id))
        gone = asyncio.create_task(asking.flight.withdrawn.wait())
        number = 0
        try:
            while not work.done() and not gone.done():
                number += 1
                await self._tell(asking, number)
                await asyncio.wait(
                    {work, gone}, timeout=self._progress, return_when=asyncio.FIRST_COMPLETED
                )
            if gone.done():
                await self.withdraw(asking, permission_id)
                raise WithdrawnError
            verdict = work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait({work, gone})
        return await self.running.answer(asking, verdict)

    async def withdraw(self, asking: Asking, permission_id: str) -> None:
        """Take the question and its cards back; that may fail."""
        try:
            await self.approvals.withdraw(
                asking.run, asking.call.tool, permission_id, "the client withdrew the call"
            )
            await self.approvals.done(asking.ticket)
        except SaysoError as error:
            _log.warning("a question stays open until it expires: %s", error)

    async def explained(
        self, message: Message, work: Callable[[], Awaitable[bytes | None]]
    ) -> bytes | None:
        """What comes of work on a call; a result that says why, whatever goes wrong.

        None where nobody wants it any more.
        """
        try:
            return await work()
        except WithdrawnError:
            return None
        except RefusedError as error:
            why = str(error)
        except MalformedMessageError as error:
            why = f"Sayso did not understand the call, so it did not run: {error}"
        except SaysoError as error:
            why = (
                "Sayso could not get an answer, so the call did not run: "
                f"{on_one_line(self.approvals.told(error))}"
            )
        except Exception as error:  # whatever it is, the call must not run
            _log.exception("a call could not be answered")
            broken = f"an error inside Sayso ({type(error).__name__})"
            why = f"Sayso could not get an answer, so the call did not run: {broken}"
        return refusal(message, why)

    async def _tell(self, asking: Asking, number: int) -> None:
        if (token := asking.call.progress) is None:
            return
        text = f"Waiting for an answer in chat: {on_one_line(asking.call.tool)}"
        news = {"progressToken": token, "progress": number, "message": text}
        await asking.tell(messages.notification("notifications/progress", news))
