"""``sayso mcp``: an agent asks by a tool, and is told what a person said of the call it named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.agent.verdict import CheckResult
from sayso.errors import RequestNotFoundError
from sayso_bots import exact
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Client, Flight, Server, Tell
from sayso_bots.mcp.calls import McpCall, is_modern, read_call
from sayso_bots.mcp.messages import CALL, INVALID_PARAMS, Message
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.mcp.running import refusal
from sayso_bots.mcp.servers.own import PROMPT, REQUEST, STATUS
from sayso_bots.strict_json import MalformedMessageError

_WAIT, _WHY, _CALL_ID = "sayso/wait", "sayso/description", "sayso/callId"
_ASKS = {
    REQUEST: ("tool", "arguments", {"description": _WHY, "wait": _WAIT}),
    PROMPT: ("tool_name", "input", {"tool_use_id": _CALL_ID}),
}


class Asked(Proxy):
    """The tools of our own server. The call that an agent names stands in place of its own."""

    async def request(
        self, message: Message, client: Client, server: Server, tell: Tell
    ) -> bytes | None:
        """What a client reads in answer to its request."""
        if message.method != CALL:
            return await super().request(message, client, server, tell)
        name = (message.params or {}).get("name")
        if name == STATUS:
            return await self.guard.explained(message, lambda: self._status(message, client))
        if name not in _ASKS:
            return messages.failure(message.id, INVALID_PARAMS, "Unknown tool")
        try:
            named = _named(message, *_ASKS[name])
        except MalformedMessageError as error:
            said: bytes | None = refusal(
                message, f"Sayso did not understand the call, so it did not run: {error}"
            )
        else:
            said = await super().request(named, client, server, tell)
        return _as_prompt(said) if name == PROMPT and said is not None else said

    def read(self, message: Message) -> McpCall:
        """The call that the agent has named."""
        meta = message.meta
        why, call_id = meta.get(_WHY), meta.get(_CALL_ID)
        return read_call(
            message,
            description=why if exact.is_text(why) else "",
            call_id=call_id if exact.is_text(call_id) else "",
        )

    async def called(
        self, message: Message, client: Client, server: Server, tell: Tell, flight: Flight
    ) -> bytes:
        """Ask, and wait unless the agent comes back for the answer itself."""
        if message.meta.get(_WAIT) is not False:
            return await super().called(message, client, server, tell, flight)
        asking = await self.guard.begin(self.read(message), client, tell, server, flight)
        try:
            said = await self.guard.asked(asking)
            if isinstance(said, CheckResult):
                return await self.guard.running.answer(asking, said)
            await self.guard.approvals.done(asking.ticket)
            text = (
                f"A person is asked whether {asking.call.tool} may be called; it may not yet. "
                f"Look with approval_status, permission_id {said}"
            )
            return _result(message, text, outcome="waiting", permissionId=said)
        finally:
            self.guard.approvals.forget(asking.ticket)

    async def _status(self, message: Message, client: Client) -> bytes:
        call = read_call(message)
        named = call.arguments.get("permission_id")
        if not isinstance(named, str) or len(call.arguments) > 1:
            raise MalformedMessageError("it names no permission_id, or more than that")
        approvals = self.guard.approvals
        try:
            verdict = await approvals.looked(approvals.asker.run_of(client.principal), named)
        except RequestNotFoundError as error:
            return refusal(message, str(error))
        if verdict is None:
            return _result(
                message,
                "Nobody has answered yet: the tool may not be called",
                outcome="waiting",
                permissionId=named,
            )
        outcome = verdict.outcome.value
        more = {"arguments": dict(verdict.arguments)} if verdict.approved else {}
        text = verdict.as_tool_result()
        return _result(message, text, outcome=outcome, permissionId=named, **more)


def _named(message: Message, tool: str, arguments: str, claims: Mapping[str, str]) -> Message:
    """The call that an agent names in the arguments of its own, as if it made that one.

    Raises:
        MalformedMessageError: it names none clearly.
    """
    read_call(message)
    text = messages.written(message.raw.decode(), "params") or "{}"
    given = (message.params or {}).get("arguments") or {}
    if unknown := sorted(set(given) - {tool, arguments, *claims}):
        raise MalformedMessageError(f"there is no argument {unknown[0]!r:.40}")
    if not exact.is_text(given.get(tool)) or not isinstance(given.get(arguments), dict):
        raise MalformedMessageError(f"it needs {tool}, a text, and {arguments}, an object")
    written = messages.written(text, "arguments") or "{}"
    meta = messages.edited(
        messages.written(text, "_meta") or "{}",
        {key: messages.written(written, name) for name, key in claims.items()},
    )
    changed = message.changed(
        name=messages.written(written, tool),
        arguments=messages.written(written, arguments),
        _meta=meta,
    )
    return messages.read(changed)


def _as_prompt(said: bytes) -> bytes:
    """The answer as Claude Code reads it: one block of text, with what it may do or not."""
    found = json.loads(said)
    result = found.get("result")
    if not isinstance(result, dict) or "content" not in result:
        return said
    decided: dict[str, Any] = {
        "behavior": "deny",
        "message": "\n".join(block["text"] for block in result["content"]),
    }
    arguments = result.pop("structuredContent", {}).get("arguments")
    if not result.pop("isError", False) and isinstance(arguments, dict):
        decided = {"behavior": "allow", "updatedInput": arguments}
    result["content"] = [{"type": "text", "text": json.dumps(decided)}]
    return json.dumps(found).encode()


def _result(message: Message, text: str, **said: Any) -> bytes:
    kind = {"resultType": "complete"} if is_modern(message) else {}
    content = [{"type": "text", "text": text}]
    return messages.response(message.id, {**kind, "content": content, "structuredContent": said})
