"""A task of ours: what the store has of it, and what clients read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import POLL_SECONDS
from sayso_bots.mcp.calls import TASKS, read_call
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.words import MCP_WORDS

PREFIX = "sayso-"


@dataclass(frozen=True, slots=True)
class Task:
    """What the store has of a task: whose it is, the call as it came, and its question."""

    id: str
    principal: str
    call: str
    key: str
    permission_id: str
    created: str
    seconds: float


def is_ours(id_: str) -> bool:
    """Whether an id is that of a task of ours, and not of one of the server's."""
    return id_.startswith(PREFIX)


def without_tasks(message: Message) -> bytes:
    """The answer to a client that wants something of tasks, and does not say that it takes them."""
    needs: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    return messages.failure(
        message.id, messages.MISSING_CAPABILITY, "Missing client capability", needs
    )


def id_in(message: Message) -> str:
    """Which task a message is about; empty where it names none."""
    found = (message.params or {}).get("taskId")
    return found if isinstance(found, str) else ""


def told(task: Task, status: str) -> dict[str, Any]:
    """A task as clients read it."""
    said: dict[str, Any] = {
        "taskId": task.id,
        "status": status,
        "createdAt": task.created,
        "lastUpdatedAt": task.created,
        "ttlMs": int(task.seconds * 1_000),
        "pollIntervalMs": int(POLL_SECONDS * 1_000),
    }
    if status == "working":
        tool = read_call(messages.read(task.call.encode())).tool
        said["statusMessage"] = MCP_WORDS.waiting.format(tool=on_one_line(tool))
    return said
