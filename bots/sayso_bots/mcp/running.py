"""Approved calls: used once, forwarded as they came or as they were edited, and reported."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from sayso.agent.verdict import CheckResult
from sayso.digests import is_same_json
from sayso.errors import SaysoError
from sayso_bots.hook.edits import is_read_as_approved
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Approvals, Taken
from sayso_bots.mcp.asking import Asking, RefusedError, ServerGoneError, WithdrawnError
from sayso_bots.mcp.calls import is_modern
from sayso_bots.mcp.messages import Message

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
            await self._approvals.done(asking.ticket)
            return refusal(message, verdict.as_tool_result())
        changed = _changed(asking, verdict)
        if verdict.permission_id is not None:
            await self._take(asking, verdict.permission_id)
        await self._approvals.done(asking.ticket)
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
        taken = await self._approvals.take(permission_id)
        if taken is not Taken.NOW:
            await self._approvals.done(asking.ticket)
            late = taken is Taken.TOO_LATE
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
            await self._approvals.backend.store.report_outcome(
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
