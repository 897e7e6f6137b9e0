"""A proxy in this process, a server that notes what reaches it, and people who answer."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sayso.calls import RunRef
from sayso.policy.policy_file import PlacedRule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import PatternRule
from sayso.stores.backend import Backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.routing import Routes
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.store_settings import AskSettings, StoreSettings
from sayso_bots.mcp.approvals import Approvals, Client, ServerGoneError, Tell
from sayso_bots.mcp.guard import Guard, Running
from sayso_bots.mcp.messages import VERSION_KEY, Message, read
from sayso_bots.mcp.proxy import Proxy

ALICE = "slack:U0ALICE"
TESTS = Client(name="tests")
RUN = RunRef("files", "tester@laptop", run_id="r-1")
READS = Section(
    allow=(PlacedRule(PatternRule("look"), ""),),
    deny=(PlacedRule(PatternRule("explode"), ""),),
)


def request(
    method: str, params: Mapping[str, Any] | None = None, id_: int | str = 1
) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": dict(params or {})}


def call(
    tool: str = "write",
    id_: int | str = 1,
    *,
    arguments: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A call of a tool, as older clients make it."""
    given = {"path": "/srv/a"} if arguments is None else dict(arguments)
    params = {"name": tool, "arguments": given, **more}
    if meta is not None:
        params["_meta"] = dict(meta)
    return request("tools/call", params, id_)


def modern(**capabilities: Any) -> dict[str, Any]:
    """What a client of 2026-07-28 says with each of its requests."""
    able = {"io.modelcontextprotocol/clientCapabilities": capabilities}
    return {VERSION_KEY: "2026-07-28", **able}


def raw(message: Mapping[str, Any]) -> bytes:
    """A message as bytes."""
    return json.dumps(message).encode()


def is_error(said: Mapping[str, Any]) -> bool:
    """Whether a result is that of a call that did not run, or failed."""
    assert "error" not in said, said
    return said["result"].get("isError") is True


def text(said: Mapping[str, Any]) -> str:
    """What the model reads."""
    return "\n".join(block["text"] for block in said["result"]["content"])


@dataclass
class Inner:
    """A server; ``ran`` are the calls that reached it, byte by byte."""

    ran: list[bytes] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    is_gone: bool = False
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_answer.set()

    async def request(self, raw: bytes, message: Message, tell: Tell) -> bytes:
        """Note it, and answer."""
        noted = self.ran if json.loads(raw)["method"] == "tools/call" else self.others
        noted.append(raw)
        await self.may_answer.wait()
        if self.is_gone:
            raise ServerGoneError("it has ended")
        result = self.answers.pop(0) if self.answers else done()
        said = result if "error" in result else {"result": result}
        return json.dumps({"jsonrpc": "2.0", "id": json.loads(message.id), **said}).encode()

    async def send(self, message: Message) -> None:
        """Note it."""
        self.others.append(message.raw)

    @property
    def arguments(self) -> list[Any]:
        """With which arguments calls ran."""
        return [json.loads(one)["params"].get("arguments") for one in self.ran]


def done() -> dict[str, Any]:
    """The result of a call that ran."""
    return {"content": [{"type": "text", "text": "it ran"}], "resultType": "complete"}


@dataclass
class McpRoom:
    """One proxy on a store. Another room on the same store is another process."""

    backend: Backend
    sections: Sequence[Section] = (READS,)
    inner: Inner = field(default_factory=Inner)
    told: list[dict[str, Any]] = field(default_factory=list)
    patience: float = 1.0
    seconds: float | None = 60.0
    run: RunRef = RUN

    def __post_init__(self) -> None:
        settings = AskSettings(
            StoreSettings("redis://the-store"), ServerPolicy(self.sections), Routes(())
        )
        requester = Requester(self.run.agent_id, self.seconds or math.inf, self.patience)
        approvals = Approvals(AskService(self.backend, settings, requester, "mcp"), self.run)
        self.proxy = Proxy(Guard(approvals, Running(approvals), "files", progress=0.05))

    async def tell(self, line: bytes) -> None:
        """Note what a client hears before its answer."""
        self.told.append(json.loads(line))

    async def ask(self, message: Mapping[str, Any] | bytes, client: Client = TESTS) -> Any:
        """What a client reads in answer; None where it reads nothing."""
        line = message if isinstance(message, bytes) else raw(message)
        async with asyncio.timeout(PATIENCE_SECONDS):
            said = await self.proxy.request(read(line), client, self.inner, self.tell)
        return None if said is None else json.loads(said)

    async def notify(self, method: str, params: Mapping[str, Any], client: Client = TESTS) -> None:
        """A notification of a client."""
        line = raw({"jsonrpc": "2.0", "method": method, "params": dict(params)})
        await self.proxy.take(read(line), client, self.inner)

    async def card(self) -> PermissionRequestEvent:
        """The open question, when there is one."""
        return await open_question(self.backend)

    async def decided(
        self,
        *,
        approved: bool = True,
        reason: str = "",
        edited: Mapping[str, Any] | None = None,
    ) -> str:
        """Let somebody answer the open question; its id."""
        asked = await self.card()
        at = datetime.now(UTC)
        if approved:
            answer = asked.approve(by=ALICE, at=at, reason=reason, modified_arguments=edited)
        else:
            answer = asked.deny(by=ALICE, at=at, reason=reason)
        await self.backend.store.settle(asked.permission_id, answer)
        return asked.permission_id

    async def open(self) -> int:
        """How many questions are open."""
        return len(await self.backend.store.list_requests())

    async def outcome(self, permission_id: str) -> str:
        """How a question has ended."""
        record = await self.backend.store.get(permission_id)
        assert record is not None
        assert record.ending is not None
        return record.ending.outcome.value


async def open_question(backend: Backend) -> PermissionRequestEvent:
    """The open question, when there is one."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (waiting := await backend.store.list_requests()):
            await asyncio.sleep(0.01)
    asked = waiting[0].request
    record = await backend.store.get(asked.question_id)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    return record.request
