"""A client that listens to its tasks hears how they stand, without asking."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from sayso_bots import exact
from sayso_bots.mcp import messages
from sayso_bots.mcp.asking import Client, Flight, Forward, Server, Tell, WithdrawnError
from sayso_bots.mcp.calls import has_tasks
from sayso_bots.mcp.messages import Message
from sayso_bots.mcp.task import Task, is_ours, without_tasks

LISTEN = "subscriptions/listen"

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Watched(Protocol):
    """The tasks."""

    async def known(self, id_: str, client: Client) -> Task | None:
        """The task of this client; None where it has none of this id."""
        ...

    async def said(self, task: Task, client: Client, forward: Forward) -> Mapping[str, Any]:
        """How a task stands."""
        ...


class Watching:
    """Answers those who listen to tasks of ours, and to nothing else.

    All other news are the server's. A client that wants both on one stream has those of the
    server alone, and looks at its tasks with ``tasks/get``.
    """

    def __init__(self, tasks: Watched, poll: float) -> None:
        self._tasks = tasks
        self._poll = poll

    async def answer(
        self, message: Message, client: Client, server: Server, tell: Tell, flight: Flight
    ) -> bytes:
        """What the client reads when there is no more to hear.

        Raises:
            WithdrawnError: it does not listen any more.
        """
        wanted = _wanted(message)
        ids = [id_ for id_ in _ids(wanted) if is_ours(id_)]
        if not ids:
            return await server.request(message.raw, message, tell)
        if not has_tasks(message):
            return without_tasks(message)
        theirs = [id_ for id_ in _ids(wanted) if not is_ours(id_)]
        if theirs or set(wanted) - {"taskIds"}:
            rest = messages.edited(
                exact.written(wanted), {"taskIds": json.dumps(theirs) if theirs else None}
            )
            raw = message.changed(notifications=rest)
            return await server.request(raw, messages.read(raw), tell)
        flight.is_running = False
        await self._watch(message, ids, client, server, tell, flight)
        return messages.response(message.id, {"resultType": "complete", **_about(message)})

    async def _watch(
        self,
        message: Message,
        ids: Sequence[str],
        client: Client,
        server: Server,
        tell: Tell,
        flight: Flight,
    ) -> None:
        """Tell how the tasks stand, now and whenever that changes, until all have ended."""
        found = [await self._tasks.known(id_, client) for id_ in dict.fromkeys(ids)]
        open_ = {task.id: task for task in found if task is not None}
        agreed = {**_about(message), "notifications": {"taskIds": list(open_)}}
        await tell(messages.notification("notifications/subscriptions/acknowledged", agreed))
        last: dict[str, Mapping[str, Any]] = {}
        while open_:
            for task in tuple(open_.values()):
                said = await self._tasks.said(task, client, server.request)
                if said != last.get(task.id):
                    news = {**_about(message), **said}
                    await tell(messages.notification("notifications/tasks", news))
                last[task.id] = said
                if said["status"] not in ("working", "input_required"):
                    del open_[task.id]
            if open_:
                with suppress(TimeoutError):
                    await asyncio.wait_for(flight.withdrawn.wait(), self._poll)
            if flight.withdrawn.is_set():
                raise WithdrawnError


def _wanted(message: Message) -> Mapping[str, Any]:
    found = (message.params or {}).get("notifications")
    return found if isinstance(found, dict) else {}


def _ids(wanted: Mapping[str, Any]) -> list[str]:
    found = wanted.get("taskIds")
    return [one for one in found if exact.is_text(one)] if isinstance(found, list) else []


def _about(message: Message) -> dict[str, Any]:
    """What says to which request the news belong."""
    return {"_meta": {_SUBSCRIPTION: json.loads(message.id)}}
