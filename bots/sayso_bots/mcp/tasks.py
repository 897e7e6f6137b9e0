"""Calls that wait as tasks: a client asks how they stand, also of a process that began later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sayso.calls import RunRef, new_id
from sayso.errors import StoreUnreachableError, UnknownRequestError
from sayso.events import Outcome
from sayso.tasks import Background
from sayso.text.visible import on_one_line
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Asking, Client, Forward, WithdrawnError
from sayso_bots.mcp.calls import CAPABILITIES_KEY, TASKS, has_tasks, read_call
from sayso_bots.mcp.guard import Guard
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.words import MCP_WORDS

METHODS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})

_PREFIX = "sayso-"
_POLL_MS = 2_000
_LEASE_SECONDS = 30.0
_OVER_SECONDS = 0.01
_KEPT_SECONDS = 3_600.0


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


class Tasks:
    """The tasks of calls that people are asked about. What came of one is kept in the store."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._approvals = guard.approvals
        self._documents = guard.approvals.backend.documents
        self._owner = new_id()
        self._working: dict[str, Asking] = {}
        self._background = Background("tasks of MCP clients")

    def is_ours(self, message: Message) -> bool:
        """Whether the message is about one of our tasks, and not of one of the server's."""
        return message.method in METHODS and self._id(message).startswith(_PREFIX)

    async def begin(self, asking: Asking, permission_id: str) -> bytes:
        """The task that a call has become; it can be asked for before this is answered."""
        now = await self._approvals.patiently(self._documents.now)
        seconds = self._approvals.seconds(asking.run, asking.call.tool) + _KEPT_SECONDS
        task = Task(
            f"{_PREFIX}{new_id()}",
            asking.client.principal,
            asking.call.message.raw.decode(),
            asking.ticket.key,
            permission_id,
            now.isoformat(timespec="milliseconds"),
            seconds,
        )
        written = json.dumps([getattr(task, name) for name in Task.__slots__])
        await self._keep(f"mcp:task:{task.id}", written, seconds)
        await self._start(task, asking.client, asking.forward)
        return messages.response(
            asking.call.message.id, {"resultType": "task", **_told(task, "working")}
        )

    async def answer(self, message: Message, client: Client, forward: Forward) -> bytes:
        """What a client reads of one of our tasks."""
        if not has_tasks(message):
            needs: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            return messages.failure(
                message.id, messages.MISSING_CAPABILITY, "Missing client capability", needs
            )
        task = await self._task(self._id(message))
        if task is None or task.principal != client.principal:
            return messages.failure(message.id, messages.INVALID_PARAMS, "Task not found")
        if message.method == "tasks/cancel":
            await self._cancel(task, client)
        if message.method != "tasks/get":
            return messages.response(message.id, {"resultType": "complete"})
        said = await self._said(task, client, forward)
        return messages.response(message.id, {"resultType": "complete", **said})

    async def finish(self) -> None:
        """Give up what is under way: whoever asks for a task from now on goes on with it."""
        working = tuple(self._working)
        await self._background.cancel()
        for task_id in working:
            with suppress(StoreUnreachableError):
                await self._hold(task_id, _OVER_SECONDS)

    async def _said(self, task: Task, client: Client, forward: Forward) -> Mapping[str, Any]:
        ended = await self._ended(task)
        if ended is not None:
            return {**_told(task, ended["status"]), **ended}
        if task.id not in self._working:
            await self._start(task, client, forward)
        return _told(task, "working")

    async def _cancel(self, task: Task, client: Client) -> None:
        if await self._ended(task) is not None:
            return
        run, tool = self._run(client), self._tool(task)
        try:
            outcome = await self._approvals.withdraw(
                run, tool, task.permission_id, MCP_WORDS.withdrawn
            )
        except UnknownRequestError:
            return
        if outcome is Outcome.CANCELLED:
            await self._end(task, {"status": "cancelled"})

    async def _start(self, task: Task, client: Client, forward: Forward) -> None:
        """Work on a task, unless another process does."""
        if not await self._hold(task.id, _LEASE_SECONDS):
            return
        asking = self._asking(task, client, forward)
        self._working[task.id] = asking
        self._background.start(self._work(task, asking))

    def _asking(self, task: Task, client: Client, forward: Forward) -> Asking:
        """The call of a task, as one that wants nothing of its client while it runs."""
        message = messages.read(task.call.encode())
        alone = message.with_meta(**{CAPABILITIES_KEY: "{}", "progressToken": None})
        raw = messages.edited(alone.decode(), {"id": json.dumps(task.id)})
        call = read_call(messages.read(raw.encode()))
        ticket = self._approvals.known(self._run(client), call.mark, task.key)
        return Asking(call, client, ticket, _nothing, forward)

    async def _work(self, task: Task, asking: Asking) -> None:
        async def work() -> bytes:
            verdict = await self._guard.waited(asking, task.permission_id, None)
            if verdict is None:
                raise WithdrawnError
            return await self._guard.running.answer(asking, verdict)

        try:
            async with self._held(task):
                said = await self._guard.explained(asking.call.message, work)
                if said is not None:
                    await self._end(task, _ending(said))
        finally:
            self._working.pop(task.id, None)

    @asynccontextmanager
    async def _held(self, task: Task) -> AsyncIterator[None]:
        """Nobody else works on the task in the block."""

        async def hold() -> None:
            while True:
                await asyncio.sleep(_LEASE_SECONDS / 3)
                with suppress(StoreUnreachableError):
                    await self._hold(task.id, _LEASE_SECONDS)

        async with self._background.during(hold()):
            yield

    async def _hold(self, task_id: str, seconds: float) -> bool:
        return await self._approvals.backend.leases.hold(
            f"mcp:{task_id}", self._owner, seconds=seconds
        )

    async def _end(self, task: Task, ended: Mapping[str, Any]) -> None:
        """Keep what came of a task; the first end counts."""
        await self._keep(f"mcp:result:{task.id}", json.dumps(ended), task.seconds)

    async def _ended(self, task: Task) -> dict[str, Any] | None:
        name = f"mcp:result:{task.id}"
        kept = await self._approvals.patiently(lambda: self._documents.read(name))
        found: dict[str, Any] | None = None if kept is None else json.loads(kept)
        return found

    async def _task(self, task_id: str) -> Task | None:
        name = f"mcp:task:{task_id}"
        kept = await self._approvals.patiently(lambda: self._documents.read(name))
        return None if kept is None else Task(*json.loads(kept))

    async def _keep(self, name: str, text: str, seconds: float) -> None:
        await self._approvals.keep(name, None, text, seconds=seconds)

    def _run(self, client: Client) -> RunRef:
        return self._approvals.asker.run_of(client.principal)

    def _tool(self, task: Task) -> str:
        return read_call(messages.read(task.call.encode())).tool

    def _id(self, message: Message) -> str:
        found = (message.params or {}).get("taskId")
        return found if isinstance(found, str) else ""


def _told(task: Task, status: str) -> dict[str, Any]:
    """A task as clients read it."""
    told: dict[str, Any] = {
        "taskId": task.id,
        "status": status,
        "createdAt": task.created,
        "lastUpdatedAt": task.created,
        "ttlMs": int(task.seconds * 1_000),
        "pollIntervalMs": _POLL_MS,
    }
    if status == "working":
        tool = read_call(messages.read(task.call.encode())).tool
        told["statusMessage"] = MCP_WORDS.waiting.format(tool=on_one_line(tool))
    return told


def _ending(said: bytes) -> Mapping[str, Any]:
    """What an answer to a call makes of its task: a denial has completed, an error has failed."""
    found = json.loads(said)
    if "error" in found:
        return {"status": "failed", "error": found["error"]}
    return {"status": "completed", "result": found["result"]}


async def _nothing(_: bytes) -> None:
    """A task has no news before its end."""
