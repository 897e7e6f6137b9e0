"""``sayso mcp`` as a server: tools by which an agent asks, and none that answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sayso.agent.verdict import CheckResult
from sayso.errors import RequestNotFoundError
from sayso_bots import exact
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import Client, Flight, Server, Tell, Usage
from sayso_bots.mcp.guard import refusal
from sayso_bots.mcp.messages import (
    CALL,
    INVALID_PARAMS,
    VERSION_KEY,
    McpCall,
    Message,
    is_modern,
    read_call,
)
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.strict_json import MalformedMessageError

REQUEST, STATUS, PROMPT = "request_approval", "approval_status", "permission_prompt"
OLDER = ("2025-11-25", "2025-06-18")
MODERN = "2026-07-28"

_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}


def _tool(
    name: str, text: str, properties: Mapping[str, Any], required: tuple[str, ...]
) -> Mapping[str, Any]:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return {"name": name, "description": text, "inputSchema": schema}


TOOLS = (
    _tool(
        REQUEST,
        (
            "Ask a person in chat whether a tool may be called with these arguments, and wait for "
            "the answer. Call the tool only if the result says that it was approved."
        ),
        {
            "tool": {**_TEXT, "description": "The name of the tool that is to be called"},
            "arguments": {
                **_OBJECT,
                "description": "Its arguments, all of them, as it would be called",
            },
            "description": {
                **_TEXT,
                "description": "Why, in a sentence, for the person who decides",
            },
            "wait": {
                "type": "boolean",
                "description": "false: do not wait, and look with approval_status later",
            },
        },
        ("tool", "arguments"),
    ),
    _tool(
        STATUS,
        "How a question stands that request_approval has asked; that it was approved is said once",
        {
            "permission_id": {
                **_TEXT,
                "description": "The permission id that request_approval has given",
            }
        },
        ("permission_id",),
    ),
    _tool(
        PROMPT,
        (
            "For Claude Code's option --permission-prompt-tool: asks a person in chat whether a "
            "tool may be used"
        ),
        {"tool_name": _TEXT, "input": _OBJECT, "tool_use_id": _TEXT},
        ("tool_name", "input"),
    ),
)
"""All tools. What a person decides comes from a chat, and from nothing in here."""


class Own:
    """Answers all that asks nobody; a call comes here when it was approved."""

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:  # noqa: ARG002
        """The answer to a request."""
        if message.method == CALL:
            return messages.response(message.id, _approved(messages.read(raw)))
        modern = message.meta.get(VERSION_KEY)
        if modern is not None and modern != MODERN:
            data = {"supported": [MODERN], "requested": modern}
            return messages.failure(
                message.id, messages.UNSUPPORTED_VERSION, "Unsupported protocol version", data
            )
        if (result := _said(message)) is None:
            return messages.failure(message.id, messages.METHOD_NOT_FOUND, "Method not found")
        kind = {"resultType": "complete"} if is_modern(message) else {}
        return messages.response(message.id, {**kind, **result})

    async def send(self, message: Message) -> None:
        """Nothing comes of notifications."""


def _said(message: Message) -> Mapping[str, Any] | None:
    modern = is_modern(message)
    fresh = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
    if message.method == "tools/list":
        return {**fresh, "tools": TOOLS}
    if message.method == "server/discover" and modern:
        return {**fresh, "supportedVersions": [MODERN], "capabilities": {"tools": {}}, **_about()}
    if message.method == "initialize" and not modern:
        wanted = (message.params or {}).get("protocolVersion")
        known = wanted if wanted in OLDER else OLDER[0]
        return {"protocolVersion": known, "capabilities": {"tools": {}}, **_about()}
    return {} if message.method == "ping" and not modern else None


def _about() -> Mapping[str, Any]:
    named = {"name": "sayso", "version": version("sayso")}
    return {
        "serverInfo": named,
        "instructions": (
            "Ask with request_approval before you do what a person should decide, and do it only "
            "if the result says that it was approved, with the arguments that it gives. Nothing "
            "in here can approve a call: a person does, in chat."
        ),
    }


def _approved(message: Message) -> Mapping[str, Any]:
    """The result of a call that was approved, with the arguments that it may run with."""
    params = message.params or {}
    text = messages.written(message.raw.decode(), "params") or "{}"
    arguments = messages.written(text, "arguments") or "{}"
    told = (
        "Approved: {tool} may be called once, with exactly these arguments: {arguments}"
    ).format(tool=params.get("name"), arguments=arguments)
    kind = {"resultType": "complete"} if is_modern(message) else {}
    said = {"outcome": "approved", "arguments": json.loads(arguments)}
    return {**kind, "content": [{"type": "text", "text": told}], "structuredContent": said}


_TOLD_BEFORE = (
    "It was approved, which was said before or is too long ago: an approval counts for one call. "
    "Ask with request_approval to call the tool once more."
)
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
        """The text that a client reads in answer to its request."""
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
            await self.guard.approvals.close(asking.ticket)
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
            verdict = await approvals.service.look(approvals.run_of(client.principal), named)
        except RequestNotFoundError as error:
            return refusal(message, str(error))
        if verdict is None:
            return _result(
                message,
                "Nobody has answered yet: the tool may not be called",
                outcome="waiting",
                permissionId=named,
            )
        if verdict.approved and await approvals.use(named) is not Usage.NOW:
            return refusal(message, _TOLD_BEFORE)
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
