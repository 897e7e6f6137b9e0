"""Calls held until the policy or a person decides, then run once, as approved, and reported."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sayso.agent.verdict import CheckResult
from sayso.digests import is_same_json
from sayso.errors import SaysoError
from sayso.text.visible import on_one_line
from sayso_bots.exact import is_read_as_approved
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import (
    PROGRESS_SECONDS,
    Approvals,
    Asking,
    Client,
    Flight,
    RefusedError,
    Server,
    ServerGoneError,
    Tell,
    Usage,
    WithdrawnError,
)
from sayso_bots.mcp.messages import McpCall, Message, is_modern
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
        run = self.approvals.run_of(client.principal)
        ticket = await self.approvals.open_ticket(run, call.mark)
        return Asking(call, client, ticket, tell, server, flight, self.approvals.folder)

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
        work = asyncio.create_task(self.approvals.service.wait(run, tool, permission_id))
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
            await self.approvals.service.cancel(
                asking.run, permission_id, "the client withdrew the call"
            )
            await self.approvals.close(asking.ticket)
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
                f"{on_one_line(self.approvals.service.explain(error))}"
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


_log = logging.getLogger(__name__)


class Running:
    """Lets calls run on the server, on verdicts that approve them."""

    def __init__(self, approvals: Approvals, *, reports: bool = True) -> None:
        self._approvals = approvals
        self._reports = reports

    async def answer(self, asking: Asking, verdict: CheckResult) -> bytes:
        """The server's answer to an approved call, or why there is none.

        Raises:
            RefusedError: the approval was used already, or is too old.
            StoreUnreachableError: it cannot be used now.
        """
        message = asking.call.message
        if not verdict.approved:
            await self._approvals.close(asking.ticket)
            return refusal(message, verdict.as_tool_result())
        changed = _changed(asking, verdict)
        if verdict.permission_id is not None:
            await self._take(asking, verdict.permission_id)
        await self._approvals.close(asking.ticket)
        if asking.flight.withdrawn.is_set():
            raise WithdrawnError
        asking.flight.is_running = True
        raw = message.raw
        if changed is not None:
            raw = message.changed(arguments=json.dumps(changed, ensure_ascii=False))
        try:
            said = await asking.server.request(raw, message, asking.tell)
        except ServerGoneError as error:
            said = refusal(
                message,
                (
                    f"The MCP server ended before it answered ({error}): whether the "
                    "call ran is not known."
                ),
            )
        if verdict.permission_id is not None and self._reports:
            await self._report(verdict.permission_id, said)
        return said if changed is None else _with_note(said, changed)

    async def _take(self, asking: Asking, permission_id: str) -> None:
        """Use the approval."""
        usage = await self._approvals.use(permission_id)
        if usage is not Usage.NOW:
            await self._approvals.close(asking.ticket)
            late = usage is Usage.TOO_LATE
            raise RefusedError(
                ("The call was approved, but too long ago, so it did not run. Call it again.")
                if late
                else (
                    "This approval was used already, so the call did not run again. Whether the "
                    "first one ran to its end is not known: look before you call the tool once "
                    "more."
                )
            )

    async def _report(self, permission_id: str, said: bytes) -> None:
        """Tell how the call went, for its card; that may fail."""
        result = _result(said)
        if result is not None and result.get("resultType", "complete") != "complete":
            return
        failed = result is None or result.get("isError") is True
        try:
            await self._approvals.service.store.store.report_outcome(
                permission_id, "failed" if failed else "succeeded"
            )
        except SaysoError as error:
            _log.warning("a card does not say how its call went: %s", error)


def refusal(message: Message, why: str) -> bytes:
    """The result of a call that did not run: an error to the model, none of the protocol."""
    return messages.response(message.id, refusal_result(message, why))


def refusal_result(message: Message, why: str) -> dict[str, Any]:
    """The result alone."""
    kind = {"resultType": "complete"} if is_modern(message) else {}
    return {**kind, "content": [{"type": "text", "text": why}], "isError": True}


def _changed(asking: Asking, verdict: CheckResult) -> Mapping[str, Any] | None:
    """The arguments to run with, where they are others than the client's.

    Raises:
        RefusedError: the server would read them otherwise than they were approved.
    """
    arguments = dict(verdict.arguments)
    if is_same_json(arguments, dict(asking.call.arguments)):
        return None
    if not is_read_as_approved(arguments):
        raise RefusedError(
            "The arguments were changed, and the server would not read them as they were approved "
            "(a number has too many digits, or they are nested too deeply), so the call did not "
            "run. These "
            f"were approved: {json.dumps(arguments)}"
        )
    return arguments


def _with_note(said: bytes, changed: Mapping[str, Any]) -> bytes:
    """The server's answer, which tells the model with which arguments the call ran."""
    text = said.decode()
    result = messages.written(text, "result")
    content = None if result is None else messages.written(result, "content")
    if result is None or content is None or not content.startswith("["):
        return said
    note = (
        "The arguments were changed before the call ran; these ran: "
        f"{json.dumps(changed, ensure_ascii=False)}"
    )
    block = json.dumps({"type": "text", "text": note})
    head = content[:-1].rstrip()
    more = f"{head}{'' if head == '[' else ','}{block}]"
    inner = messages.edited(result, {"content": more})
    return messages.edited(text, {"result": inner}).encode()


def _result(said: bytes) -> Mapping[str, Any] | None:
    found = json.loads(said)
    result = found.get("result") if isinstance(found, dict) else None
    return result if isinstance(result, dict) else None
