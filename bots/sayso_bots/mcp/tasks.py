"""Calls that wait as tasks: a client asks how they stand, also of a process that began later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from sayso.calls import RunRef, new_id
from sayso.errors import RequestNotFoundError, StoreUnreachableError
from sayso.events import Outcome
from sayso.tasks import Background
from sayso_bots.mcp import messages
from sayso_bots.mcp.approvals import VALID_SECONDS
from sayso_bots.mcp.asking import (
    Asking,
    Client,
    Flight,
    Forward,
    RefusedError,
    WithdrawnError,
)
from sayso_bots.mcp.calls import CAPABILITIES_KEY, TASKS, has_tasks, read_call
from sayso_bots.mcp.guard import Guard
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.rounds import Round, wanted
from sayso_bots.mcp.rounds import read as read_round
from sayso_bots.mcp.running import refusal
from sayso_bots.mcp.task import PREFIX, Task, id_in, is_ours, told, without_tasks
from sayso_bots.mcp.words import MCP_WORDS

METHODS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})

_LEASE_SECONDS = 30.0
_OVER_SECONDS = 0.01
_KEPT_SECONDS = 3_600.0


class Tasks:
    """The tasks of calls that people are asked about. What came of one is kept in the store."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._approvals = guard.approvals
        self._owner = new_id()
        self._poll = guard.limits.poll
        self._working: dict[str, asyncio.Event] = {}
        self._background = Background("tasks of MCP clients")

    def is_ours(self, message: Message) -> bool:
        """Whether the message is about one of our tasks, and not of one of the server's."""
        return message.method in METHODS and is_ours(id_in(message))

    async def begin(self, asking: Asking, permission_id: str) -> bytes:
        """The task that a call has become; it can be asked for before this is answered."""
        documents = self._approvals.backend.at(asking.run).documents
        now = await self._approvals.patiently(documents.now)
        seconds = self._approvals.seconds(asking.run, asking.call.tool) + _KEPT_SECONDS
        task = Task(
            f"{PREFIX}{new_id()}",
            asking.client.principal,
            asking.call.message.raw.decode(),
            asking.ticket.key,
            permission_id,
            now.isoformat(timespec="milliseconds"),
            seconds,
        )
        written = json.dumps([getattr(task, name) for name in Task.__slots__])
        await self._keep(task, "task", None, written)
        await self._start(task, asking.client, asking.forward)
        return messages.response(
            asking.call.message.id, {"resultType": "task", **told(task, "working")}
        )

    async def answer(self, message: Message, client: Client, forward: Forward) -> bytes:
        """What a client reads of one of our tasks."""
        if not has_tasks(message):
            return without_tasks(message)
        task = await self.known(id_in(message), client)
        if task is None:
            return messages.failure(message.id, messages.INVALID_PARAMS, "Task not found")
        if message.method == "tasks/cancel":
            await self._cancel(task, client)
        if message.method == "tasks/update":
            await self._update(task, message)
        if message.method != "tasks/get":
            return messages.response(message.id, {"resultType": "complete"})
        said = await self.said(task, client, forward)
        return messages.response(message.id, {"resultType": "complete", **said})

    async def finish(self) -> None:
        """Give up what is under way: whoever asks for a task from now on goes on with it."""
        working = tuple(self._working)
        await self._background.cancel()
        for task_id in working:
            with suppress(StoreUnreachableError):
                await self._hold(task_id, _OVER_SECONDS)

    async def known(self, id_: str, client: Client) -> Task | None:
        """The task of this client; None where it has none of this id."""
        kept = await self._approvals.read(self._run(client.principal), f"mcp:task:{id_}")
        task = None if kept is None else Task(*json.loads(kept))
        return None if task is None or task.principal != client.principal else task

    async def said(self, task: Task, client: Client, forward: Forward) -> Mapping[str, Any]:
        """How a task stands, with what came of it, or what is wanted of the client."""
        ended = await self._ended(task)
        if ended is not None:
            return {**told(task, ended["status"]), **ended}
        if task.id not in self._working:
            await self._start(task, client, forward)
        round_ = await self._round(task)
        if round_ is not None and round_.open:
            return {**told(task, "input_required"), "inputRequests": round_.open}
        return told(task, "working")

    async def _update(self, task: Task, message: Message) -> None:
        """Take what the client answers a server; that approves nothing."""
        given = (message.params or {}).get("inputResponses")
        while isinstance(given, dict) and (before := await self._round(task)) is not None:
            after = before.answered(given)
            if after == before or await self._keep_round(task, before, after):
                break
        if task.id in self._working:
            self._working[task.id].set()

    async def _cancel(self, task: Task, client: Client) -> None:
        if await self._ended(task) is not None:
            return
        round_ = await self._round(task)
        if round_ is not None and round_.open:
            # Its approval is used, and nothing is under way: the server waits for nobody.
            await self._end(task, {"status": "cancelled"})
            if task.id in self._working:
                self._working[task.id].set()
            return
        run, tool = self._run(client.principal), self._tool(task)
        try:
            outcome = await self._approvals.withdraw(
                run, tool, task.permission_id, MCP_WORDS.withdrawn
            )
        except RequestNotFoundError:
            return
        if outcome is Outcome.CANCELLED:
            await self._end(task, {"status": "cancelled"})

    async def _start(self, task: Task, client: Client, forward: Forward) -> None:
        """Work on a task, unless another process does."""
        if not await self._hold(task.id, _LEASE_SECONDS):
            return
        self._working[task.id] = asyncio.Event()
        self._background.start(self._work(task, client, forward))

    async def _work(self, task: Task, client: Client, forward: Forward) -> None:
        """Let the call run once it is approved, and go on for as long as the server wants more."""
        call = _alone(task)
        try:
            async with self._held(task):
                while await self._is_answered(task, client):
                    round_ = await self._round(task)
                    said = await self._guard.explained(
                        call, partial(self._went_on, task, call, round_, client, forward)
                    )
                    if said is None or not await self._wants_more(task, call, round_, said):
                        return
        finally:
            self._working.pop(task.id, None)

    async def _wants_more(
        self, task: Task, call: Message, before: Round | None, said: bytes
    ) -> bool:
        """Whether the server wants more of the client; else the task has ended."""
        try:
            more = wanted(said, before)
        except ValueError:
            more, said = None, refusal(call, MCP_WORDS.strange_input)
        if more is None:
            await self._end(task, _ending(said))
            return False
        return await self._keep_round(task, before, more)

    async def _went_on(
        self, task: Task, call: Message, round_: Round | None, client: Client, forward: Forward
    ) -> bytes:
        """What the server says to the call, or to the client's answers to what it wanted."""
        if round_ is None:
            made = read_call(call)
            ticket = self._approvals.known(self._run(client.principal), made.mark, task.key)
            asking = Asking(made, client, ticket, _nothing, forward)
        else:
            made = read_call(messages.read(round_.call(call)))
            asking = await self._guard.begin(made, client, _nothing, forward, Flight())
            if await self._guard.asked(asking) != task.permission_id:
                raise RefusedError(MCP_WORDS.old_state)
        verdict = await self._guard.waited(asking, task.permission_id, None)
        if verdict is None:
            raise WithdrawnError
        return await self._guard.running.answer(asking, verdict)

    async def _is_answered(self, task: Task, client: Client) -> bool:
        """Wait until the client has answered all that the server wants; False where it will not."""
        tool, news = self._tool(task), self._working[task.id]
        most = self._approvals.seconds(self._run(client.principal), tool) + VALID_SECONDS
        ends_at = asyncio.get_running_loop().time() + most
        while await self._ended(task) is None:
            news.clear()
            round_ = await self._round(task)
            if round_ is None or (round_.asks and not round_.open):
                return True
            if not round_.asks:
                await asyncio.sleep(self._poll)  # the server wants to be asked again
                return True
            if asyncio.get_running_loop().time() > ends_at:
                late = refusal(_alone(task), MCP_WORDS.no_input)
                await self._end(task, _ending(late))
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), self._poll)
        return False

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
        await self._keep(task, "result", None, json.dumps(ended))

    async def _ended(self, task: Task) -> dict[str, Any] | None:
        kept = await self._kept(task, "result")
        found: dict[str, Any] | None = None if kept is None else json.loads(kept)
        return found

    async def _kept(self, task: Task, what: str) -> str | None:
        """What is kept of a task, in the session of whose it is."""
        return await self._approvals.read(self._run(task.principal), f"mcp:{what}:{task.id}")

    async def _keep(self, task: Task, what: str, before: str | None, after: str) -> bool:
        run, name = self._run(task.principal), f"mcp:{what}:{task.id}"
        return await self._approvals.keep(run, name, before, after, seconds=task.seconds)

    async def _round(self, task: Task) -> Round | None:
        """What the server wants of the client, answered or not; None where it wanted nothing."""
        kept = await self._kept(task, "input")
        return None if kept is None else read_round(kept)

    async def _keep_round(self, task: Task, before: Round | None, after: Round) -> bool:
        kept = None if before is None else before.written()
        return await self._keep(task, "input", kept, after.written())

    def _run(self, principal: str) -> RunRef:
        return self._approvals.asker.run_of(principal)

    def _tool(self, task: Task) -> str:
        return read_call(messages.read(task.call.encode())).tool


def _alone(task: Task) -> Message:
    """The call of a task: it can neither become another one nor tell how far it is."""
    message = messages.read(task.call.encode())
    able = messages.written(messages.written(_params(message), "_meta") or "{}", CAPABILITIES_KEY)
    extensions = messages.written(able or "{}", "extensions") or "{}"
    others = messages.edited(extensions, {TASKS: None})
    alone = messages.edited(able or "{}", {"extensions": None if others == "{}" else others})
    raw = message.with_meta(**{CAPABILITIES_KEY: alone, "progressToken": None})
    return messages.read(messages.read(raw).renamed(json.dumps(task.id)))


def _params(message: Message) -> str:
    return messages.written(message.raw.decode(), "params") or "{}"


def _ending(said: bytes) -> Mapping[str, Any]:
    """What an answer to a call makes of its task: a denial has completed, an error has failed."""
    found = json.loads(said)
    if "error" in found:
        return {"status": "failed", "error": found["error"]}
    return {"status": "completed", "result": found["result"]}


async def _nothing(_: bytes) -> None:
    """A task has no news before its end."""
