"""A desk fails at every call it makes in turn; another one, or it, goes on until all is quiet.

Afterwards no question that has ended has a live button, and one that is open stands exactly once.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, Literal, cast

import pytest
from support.chat_double import ChatDouble, press_on
from support.timer import QuickTimer

from sayso.cards.card import Card, Open
from sayso.chats.adapter import Adapter
from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Answered, MessageRef, Place
from sayso.clock import utc_now
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.protocols import Copy
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker, WorkerOptions

OPS = Place("slack", "C0OPS")
ALICE = "slack:U0ALICE"
ROUTES = Routes([Route((OPS,), approvers=(ALICE,))])
PORTS = ("store", "copies", "key_value", "outbox")

When = Literal["before", "after"]
Effect = Literal["dies", "fails"]
Ends = Literal["never", "while it is posted", "once it is shown"]


@pytest.fixture
async def backend(store: str) -> AsyncIterator[Backend]:
    """Each kind of store; what was on its way to a desk that died is taken over soon."""
    opened = memory_backend() if store == "memory://" else redis_backend(store, takeover_after=4)
    async with opened as backend:
        yield backend


@dataclass
class Fault:
    """At one of its calls a desk fails or dies, before or after the call is carried out."""

    at: int
    when: When
    effect: Effect
    calls: list[str] = field(default_factory=list)
    hit: str = ""
    dead: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, name: str, carry_out: Callable[[], Awaitable[Any]]) -> Any:
        if self.dead.is_set():
            await asyncio.Event().wait()
        self.calls.append(name)
        if len(self.calls) != self.at:
            return await carry_out()
        self.hit = name
        if self.when == "after":
            await carry_out()
        if self.effect == "dies":
            self.dead.set()
            await asyncio.Event().wait()
        if name.startswith("chat"):
            raise DeliveryError("slack", "the connection dropped")
        raise StoreUnreachableError("away for a moment")

    @property
    def may_leave_a_card_behind(self) -> bool:
        """Whether it may have lost the number of a message that was posted."""
        answer_lost = self.hit == "chat.show" and self.when == "after"
        return answer_lost or (self.effect == "dies" and "chat.show" in self.calls)


class Faulty:
    """A port or a chat, each call of which may be the last."""

    def __init__(self, name: str, inner: Any, fault: Fault) -> None:
        self._name, self._inner, self._fault = name, inner, fault

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(value):
            return value

        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._fault.call(
                f"{self._name}.{name}", lambda: value(*arguments, **named)
            )

        return call


class Chat(ChatDouble):
    """A chat with a budget that runs ``meanwhile`` while the first message is posted."""

    def __init__(self) -> None:
        super().__init__()
        budget = (Budget("ops", Rate(1_000, 1)),)
        self.limits = replace(self.limits, budgets=lambda _place, _sending: budget)
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await super().show(cards, place)

    @property
    def posted(self) -> int:
        """How many cards there are on all messages."""
        return len(self.cards) + sum(map(len, self.bundles.values()))

    @property
    def live(self) -> list[tuple[MessageRef, Card]]:
        """Every card with buttons, and where it stands."""
        shown = [(ref, card) for ref, card in self.cards.items()]
        shown += [(ref, card) for ref, cards in self.bundles.items() for card in cards]
        return [(ref, card) for ref, card in shown if isinstance(card.state, Open)]


@dataclass
class World:
    """A store, a chat, and so many questions of one run."""

    backend: Backend
    requests: int
    chat: Chat = field(default_factory=Chat)
    asked: list[UserInputRequest] = field(default_factory=list)

    async def ask(self) -> None:
        for _ in range(self.requests):
            bundle = "b-1" if self.requests > 1 else ""
            request = a_request().model_copy(update={"bundle": bundle})
            await self.backend.store.open(request, seconds=60, inbox="", book=None)
            self.asked.append(request)

    async def end(self) -> None:
        for request in self.asked:
            await self.backend.store.settle(request.question_id, request.cancelled(at=utc_now()))

    async def is_quiet(self, desk: ApprovalWorker) -> bool:
        outbox: Any = self.backend.outbox
        if isinstance(outbox, MemoryOutbox):
            left = outbox._waiting.qsize() + len(outbox._taken)
        else:
            left = await outbox._client.command("XLEN", outbox._client.keys.jobs)
        return not left and not len(desk._background)

    async def live(self) -> Counter[str]:
        """How many live cards there are of each question."""
        found = [await self.backend.copies.find(card.handle) for _, card in self.chat.live]
        return Counter(one.request.question_id for one in found if one is not None)

    async def unnoted(self) -> Counter[str]:
        """How many live cards there are of each question whose message nobody knows."""
        found = [await self.backend.copies.find(card.handle) for _, card in self.chat.live]
        return Counter(
            one.request.question_id for one in found if one is not None and not one.copy.message_id
        )

    async def standing(self, request: UserInputRequest) -> list[Copy]:
        record = await self.backend.store.get(request.question_id)
        return [copy for copy in record.copies if copy.stands] if record else []

    @asynccontextmanager
    async def desk(self, fault: Fault | None = None) -> AsyncIterator[ApprovalWorker]:
        """A desk at work; one that has died does nothing more, not even leave in peace."""
        backend, chat = self.backend, cast("Adapter", self.chat)
        if fault is not None:
            ports: dict[str, Any] = {
                name: Faulty(name, getattr(backend, name), fault) for name in PORTS
            }
            backend = replace(backend, **ports)
            chat = cast("Adapter", Faulty("chat", chat, fault))  # it is one as well
        window = timedelta(seconds=0.01 if self.requests > 1 else 0)
        desk = ApprovalWorker(
            backend, [chat], ROUTES, WorkerOptions(bundle_window=window), timer=QuickTimer()
        )
        task = asyncio.create_task(desk.run())
        try:
            yield desk
        finally:
            if fault is not None and fault.dead.is_set():
                await desk._background.cancel()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _play(world: World, fault: Fault, ends: Ends) -> None:
    """One life of a desk with a fault in it, and the time after that."""
    await world.ask()
    if ends == "while it is posted":
        world.chat.meanwhile = world.end

    async def is_over() -> bool:
        return fault.dead.is_set() or await world.is_quiet(desk)

    async with world.desk(fault) as desk:
        await until(is_over)
        if ends == "once it is shown":
            await world.end()
            await until(is_over)
    left_behind = await world.unnoted()
    assert fault.may_leave_a_card_behind or not left_behind
    async with world.desk() as desk:
        if ends != "never":
            await world.end()
        await until(lambda: world.is_quiet(desk))
        await _check(world, fault, desk, left_behind)


async def _check(
    world: World, fault: Fault, desk: ApprovalWorker, left_behind: Counter[str]
) -> None:
    records = [await world.backend.store.get(request.question_id) for request in world.asked]
    is_over = all(record is not None and record.ending is not None for record in records)
    if fault.effect == "fails" and not fault.may_leave_a_card_behind:
        assert world.chat.posted <= world.requests, "one of them was posted twice"
    if not is_over:
        for request in world.asked:
            assert len(await world.standing(request)) == 1
    once = Counter({} if is_over else {request.question_id: 1 for request in world.asked})
    # A card that was left behind is closed all the same where another one on its message is known.
    assert once <= await world.live() <= once + left_behind
    for ref, card in world.chat.live:
        answer = await desk.press(press_on(ref, card, "back", by=ALICE))
        assert answer.kind is (Answered.LATE if is_over else Answered.CONFIRM)
    await until(lambda: world.is_quiet(desk))
    assert await world.live() == once
    # Whatever was left behind is known by now: the end reaches all of it.
    await world.end()
    await until(lambda: world.is_quiet(desk))
    assert world.chat.live == []


@pytest.mark.parametrize("ends", ["never", "while it is posted", "once it is shown"])
@pytest.mark.parametrize("effect", ["fails", "dies"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("requests", [1, 2])
async def test_wherever_a_desk_fails_no_button_stays_alive_and_open_cards_stand_once(
    backend: Backend, when: When, effect: Effect, ends: Ends, requests: int
) -> None:
    seen: list[str] = []
    for at in count(1):
        fault = Fault(at, when, effect)
        try:
            await _play(World(backend, requests), fault, ends)
        except Exception as error:
            error.add_note(f"it {effect} {when} call {at}, {fault.hit}, of {fault.calls}")
            raise
        # Calls that keep time come when they come: which of them is the last one differs.
        seen += fault.calls
        if not fault.hit:
            break

    assert {"store.get", "copies.issue", "chat.show", "copies.mark", "outbox.done"} <= {*seen}
