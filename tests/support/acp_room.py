"""An editor and an agent on both sides of the proxy, and people in chat; all in one process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.clock import utc_now
from sayso.events import UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import until
from sayso_bots.acp.proxy import Proxy
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.store_settings import read_ask_settings

OPTIONS = (
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
)
POLICY = """
[store]
url = "redis://localhost:1"
[[policy]]
allow = [{ tool = "read" }]
deny = [{ tool = "delete" }]
"""
ALICE = "slack:U0ALICE"


def a_call(id_: str = "call-1", **changes: Any) -> dict[str, Any]:
    """A tool call as version 1 tells of it."""
    told = {"toolCallId": id_, "title": "Run it", "kind": "execute", "rawInput": {"command": "ls"}}
    return {**told, **changes}


def permission(id_: object = 1, session: str = "s-1", **params: Any) -> dict[str, Any]:
    """A request for a permission; version 1 unless told."""
    said = params or {"toolCall": a_call()}
    return {
        "jsonrpc": "2.0",
        "id": id_,
        "method": "session/request_permission",
        "params": {"sessionId": session, "options": list(OPTIONS), **said},
    }


def selected(option: str, id_: object = 1) -> dict[str, Any]:
    """An editor's answer."""
    return _answer(id_, {"outcome": {"outcome": "selected", "optionId": option}})


def cancelled(id_: object = 1) -> dict[str, Any]:
    """The answer that nobody decided."""
    return _answer(id_, {"outcome": {"outcome": "cancelled"}})


def _answer(id_: object, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


@dataclass
class Room:
    """What each side read, in order, and how either says something."""

    proxy: Proxy
    backend: Backend
    agent: list[bytes] = field(default_factory=list)
    editor: list[bytes] = field(default_factory=list)

    async def agent_says(self, message: Mapping[str, Any]) -> None:
        """The agent writes a message."""
        await self.proxy.from_agent(json.dumps(message).encode())

    async def editor_says(self, message: Mapping[str, Any]) -> None:
        """The editor writes a message."""
        await self.proxy.from_editor(json.dumps(message).encode())

    async def question(self, *, after: int = 0) -> UserInputRequest:
        """What people in chat are asked, as soon as they are."""

        async def asked() -> object:
            return len(await self.backend.store.list_requests()) > after

        await until(asked)
        return (await self.backend.store.list_requests())[-1].request

    async def editor_is_asked(self) -> dict[str, Any]:
        """What the editor reads, as soon as it does."""
        return await _last(self.editor)

    async def agent_reads(self) -> dict[str, Any]:
        """What the agent reads, as soon as it does."""
        return await _last(self.agent)

    async def allow(self, **how: Any) -> PermissionRequestEvent:
        """Somebody in chat allows what is asked."""
        request = await self.question()
        assert isinstance(request, PermissionRequestEvent)
        answer = request.approve(by=ALICE, at=utc_now(), **how)
        await self.backend.store.settle(request.question_id, answer)
        return request

    async def deny(self, request: UserInputRequest | None = None) -> None:
        """Somebody in chat denies it."""
        request = request or await self.question()
        assert isinstance(request, PermissionRequestEvent)
        answer = request.deny(by=ALICE, at=utc_now())
        await self.backend.store.settle(request.question_id, answer)

    async def ending(self, question_id: str) -> tuple[str, str | None, str]:
        """How a question ended, by whom and why."""

        async def ended() -> object:
            record = await self.backend.store.get(question_id)
            return record is not None and record.ending is not None

        await until(ended)
        record = await self.backend.store.get(question_id)
        assert record is not None
        assert record.ending is not None
        ending = record.ending
        return ending.outcome.value, ending.decided_by, ending.reason


async def _last(read: list[bytes]) -> dict[str, Any]:
    async def some() -> object:
        return read

    await until(some)
    found: dict[str, Any] = json.loads(read[-1])
    return found


def a_room(
    backend: Backend, folder: Path, *, chat_only: bool = False, policy: str = POLICY, **how: Any
) -> Room:
    """A room on a store."""
    config = folder / "sayso.toml"
    config.write_text(policy)
    asker = Requester("goose", how.get("seconds", 60.0), how.get("patience", 5.0))
    service = AskService(backend, read_ask_settings(str(config), {}), asker, "acp")
    agent: list[bytes] = []
    editor: list[bytes] = []

    async def to_agent(line: bytes) -> None:
        agent.append(line)

    async def to_editor(line: bytes) -> None:
        editor.append(line)

    proxy = Proxy(service, to_editor=to_editor, to_agent=to_agent, chat_only=chat_only)
    return Room(proxy, backend, agent, editor)
