"""Sayso itself as a server: tools to ask, none that answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Tell
from sayso_bots.mcp.calls import VERSION_KEY, is_modern
from sayso_bots.mcp.messages import CALL, Message

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
        "How a question stands that request_approval has asked",
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
