"""A platform that can call people, in memory; and a room whose time a test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.chat_double import ChatDouble, working
from support.room import OPS, RUN

from sayso.calling.manners import Calling, Reach
from sayso.cards.called import Called
from sayso.cards.card import Card
from sayso.chats.caller import Waiting
from sayso.chats.places import MessageRef, Place
from sayso.errors import DeliveryError
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import StoppedClock, a_request
from sayso.testing.builders import until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

PEOPLE = {"alice": frozenset({"slack:U0ALICE"}), "bob": frozenset({"slack:U0BOB"})}


class CallerDouble:
    """Remembers whom it called; ``away`` are those it says are, ``error`` is raised while set."""

    def __init__(self, platform: str = "slack") -> None:
        self.platform = platform
        self.away: Collection[str] = ()
        self.error: DeliveryError | None = None
        self.reminders: list[tuple[Place, Sequence[Waiting], tuple[str, ...]]] = []
        self.letters: list[tuple[str, Sequence[Waiting]]] = []

    async def reachable(self, called: Sequence[Called]) -> Sequence[Called]:
        self._maybe_fail()
        return [one for one in called if one.actor not in self.away]

    async def link(self, card: MessageRef) -> str:
        return f"https://chat.test/{card.place.address}/{card.message_id}"

    async def remind(
        self, place: Place, waiting: Sequence[Waiting], called: Sequence[Called]
    ) -> None:
        self._maybe_fail()
        self.reminders.append((place, waiting, tuple(one.actor for one in called)))

    async def write(self, actor: str, waiting: Sequence[Waiting]) -> None:
        self._maybe_fail()
        self.letters.append((actor, waiting))

    def _maybe_fail(self) -> None:
        if self.error is not None:
            raise self.error


@dataclass
class CallingRoom:
    """Two desks on one store, a chat that can call people, and a clock that stands still."""

    backend: Backend
    desk: ApprovalWorker
    other: ApprovalWorker
    chat: ChatDouble
    caller: CallerDouble
    clock: StoppedClock
    asked: list[PermissionRequestEvent] = field(default_factory=list)

    async def ask(self, tool: str = "deploy", **changes: Any) -> PermissionRequestEvent:
        """Open a request that lives for an hour; return when its card stands and all is noted."""
        request = a_request(tool=tool, run=RUN).model_copy(update=changes)
        await self.backend.store.open(request, seconds=3_600, inbox="", book=None)
        self.asked.append(request)

        async def stands() -> bool:
            record = await self.backend.store.get(request.question_id)
            return record is not None and any(copy.stands for copy in record.copies)

        await until(stands)
        await self.settled()
        return request

    async def settled(self) -> None:
        for desk in (self.desk, self.other):
            await desk._background.settled()

    async def end(self, request: PermissionRequestEvent) -> None:
        answer = request.deny(by="slack:U0ALICE", at=self.clock())
        await self.backend.store.settle(request.question_id, answer)
        await self.settled()

    async def later(self, **time: float) -> None:
        """Let time pass; then every desk does what is due."""
        self.clock.advance(timedelta(**time))
        for desk in (self.desk, self.other):
            await desk._reminders.look()

    def card(self) -> Card:
        """The newest card as it was posted."""
        shown = [card for verb, _, card in self.chat.history if verb == "show"]
        return shown[-1]


@asynccontextmanager
async def calling_room(
    backend: Backend,
    clock: StoppedClock,
    calling: Calling,
    *,
    approvers: Sequence[str] = ("alice", "bob"),
    reach: Mapping[str, Reach] | None = None,
    self_approval: bool = False,
    places: Sequence[Place] = (OPS,),
    language: str = "",
) -> AsyncIterator[CallingRoom]:
    """The room while the block runs."""
    chat, caller = ChatDouble(), CallerDouble()
    route = Route(
        tuple(places),
        approvers=tuple(approvers),
        calling=calling,
        self_approval=self_approval,
        language=language,
    )
    routes = Routes([route], PEOPLE, reach=reach or {})
    options = WorkerOptions()
    one, two = (
        ApprovalWorker(backend, [chat], routes, options, callers=[caller], clock=clock)
        for _ in range(2)
    )
    async with working(one), working(two):
        yield CallingRoom(backend, one, two, chat, caller, clock)
