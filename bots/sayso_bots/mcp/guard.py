"""What stands before each call: held against the policy, asked about, and waited for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from sayso.agent.verdict import CheckResult
from sayso.errors import SaysoError
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import VALID_SECONDS, Approvals
from sayso_bots.mcp.asking import (
    Asking,
    Client,
    Flight,
    Forward,
    Limits,
    RefusedError,
    Tell,
    WithdrawnError,
)
from sayso_bots.mcp.calls import McpCall, is_modern, opens_urls
from sayso_bots.mcp.messages import Message, NotAMessageError
from sayso_bots.mcp.running import Running, refusal
from sayso_bots.mcp.state import State, is_like_ours
from sayso_bots.mcp.words import MCP_WORDS

_log = logging.getLogger(__name__)

_AT_ONCE = 0.05


class Guard:
    """Answers calls: with what the server says once they are approved, else with why they ran not.

    ``server`` is what the server is called on cards.
    """

    def __init__(self, approvals: Approvals, running: Running, server: str, limits: Limits) -> None:
        self.approvals = approvals
        self.running = running
        self._server = server
        self.limits = limits

    async def begin(
        self, call: McpCall, client: Client, tell: Tell, forward: Forward, flight: Flight
    ) -> Asking:
        """The call with the key that it is asked under.

        Raises:
            RefusedError: what the client carries is not what we gave it for this call.
            StoreUnreachableError: the key cannot be read.
        """
        run = self.approvals.asker.run_of(client.principal)
        state = await self._state(call, client)
        if state is not None:
            ticket = self.approvals.known(run, call.mark, state.key)
        else:
            ticket = await self.approvals.ticket(run, call.mark)
        return Asking(call, client, ticket, tell, forward, flight, state)

    async def asked(self, asking: Asking) -> CheckResult | str:
        """The verdict that needs nobody, or the id of the open question.

        Raises:
            RefusedError: the client carries something for a call that a person must answer first.
        """
        call, state = asking.call, asking.state
        if call.state is not None and state is None:
            # What the server itself gave the client, for a call that needed nobody.
            verdict = await self.approvals.unasked(asking.run, asking.tool_call)
            if verdict is None:
                raise RefusedError(MCP_WORDS.strange_state)
            return verdict
        where = MCP_WORDS.where.format(
            client=asking.client.name or MCP_WORDS.somebody, server=self._server
        )
        why = call.description or on_one_line(where)
        said = await self.approvals.ask(asking.ticket, asking.tool_call, why)
        if state is not None and state.inner is not None and said != state.permission_id:
            raise RefusedError(MCP_WORDS.old_state)  # what it goes on with is not known any more
        return said

    async def answer(self, asking: Asking, permission_id: str) -> bytes:
        """What a client reads whose call is asked about: held, until it must come back for it.

        Raises:
            WithdrawnError: nobody wants it any more.
        """
        message = asking.call.message
        url = self.limits.chat_url if asking.state is None and opens_urls(message) else ""
        hold = _AT_ONCE if url else self.limits.hold
        verdict = await self.waited(asking, permission_id, hold if is_modern(message) else None)
        if verdict is None:
            return await self._come_back(asking, permission_id, url)
        return await self.running.answer(asking, verdict)

    async def waited(
        self, asking: Asking, permission_id: str, hold: float | None
    ) -> CheckResult | None:
        """The verdict; None where it did not come while the call was held.

        Raises:
            WithdrawnError: nobody wants it any more; the question is withdrawn.
        """
        run, tool = asking.run, asking.call.tool
        most = self.approvals.seconds(run, tool) + VALID_SECONDS if hold is None else hold
        work = asyncio.create_task(self.approvals.within(run, tool, permission_id, most))
        gone = asyncio.create_task(asking.flight.withdrawn.wait())
        number = 0
        try:
            while not work.done() and not gone.done():
                number += 1
                await self._tell(asking, number)
                await asyncio.wait(
                    {work, gone},
                    timeout=self.limits.progress,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            if gone.done():
                await self.withdraw(asking, permission_id)
                raise WithdrawnError
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait({work, gone})

    async def withdraw(self, asking: Asking, permission_id: str) -> None:
        """Take the question and its cards back; that may fail."""
        try:
            await self.approvals.withdraw(
                asking.run, asking.call.tool, permission_id, MCP_WORDS.withdrawn
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
        except NotAMessageError as error:
            why = MCP_WORDS.refused.format(why=error)
        except SaysoError as error:
            why = MCP_WORDS.failed.format(why=on_one_line(self.approvals.told(error)))
        except Exception as error:  # whatever it is, the call must not run
            _log.exception("a call could not be answered")
            broken = MCP_WORDS.broken.format(kind=type(error).__name__)
            why = MCP_WORDS.failed.format(why=broken)
        return refusal(message, why)

    async def _tell(self, asking: Asking, number: int) -> None:
        if (token := asking.call.progress) is None:
            return
        text = MCP_WORDS.waiting.format(tool=on_one_line(asking.call.tool))
        news = {"progressToken": token, "progress": number, "message": text}
        await asking.tell(messages.notification("notifications/progress", news))

    async def _come_back(self, asking: Asking, permission_id: str, url: str) -> bytes:
        """The answer that lets a client make the same call again, and find its question."""
        state = self.approvals.state(asking, permission_id)
        result: dict[str, object] = {"resultType": "input_required"}
        if url:
            text = MCP_WORDS.open_chat.format(tool=on_one_line(asking.call.tool))
            asks = {"mode": "url", "url": url, "message": text}
            result["inputRequests"] = {"chat": {"method": "elicitation/create", "params": asks}}
        result["requestState"] = (await self.approvals.seals()).seal(state)
        return messages.response(asking.call.message.id, result)

    async def _state(self, call: McpCall, client: Client) -> State | None:
        """What the client carries for us; None where it carries nothing of ours.

        Raises:
            RefusedError: it is not what we gave it for this call, or too old.
        """
        if call.state is None:
            return None
        if not is_like_ours(call.state):
            return None
        state = (await self.approvals.seals()).opened(call.state)
        if state is None:
            raise RefusedError(MCP_WORDS.strange_state)
        if (state.mark, state.principal) != (call.mark, client.principal):
            raise RefusedError(MCP_WORDS.strange_state)
        if state.until <= time.time():
            raise RefusedError(MCP_WORDS.old_state)
        return state
