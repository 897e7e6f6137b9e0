"""What whoever waits is told before there is an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, RunRef, ToolCall
from sayso.chats.places import Place
from sayso.errors import SubscriptionLostError
from sayso.events import Event
from sayso.stores.memory.backend import memory_backend
from sayso.stores.notices import PressNotice, RoutedNotice
from sayso.stores.topics import notice_topic
from sayso.tasks import Background
from sayso.testing import a_request, soon
from sayso.worker.activity_events import ActivityEvents
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OPS, PHONE = Place("slack", "C0OPS"), Place("telegram", "-1001")
RUN = RunRef("deploy-bot", "s-1")
ROUTE = Route((OPS, PHONE), approvers=("alice", "slack:@oncall"))
ROUTES = Routes([ROUTE], {"alice": frozenset({"slack:U0ALICE"})})


@asynccontextmanager
async def asked(
    *calls: ToolCall,
) -> AsyncIterator[tuple[ApprovalWorker, ChatDouble, AsyncIterator[Event]]]:
    chat = ChatDouble()
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RUN, timeout=30) as gate,
        working(ApprovalWorker(backend, [chat, ChatDouble("telegram")], ROUTES)) as desk,
        backend.bus.subscribe(notice_topic(RUN)) as notices,
    ):
        waiting = [asyncio.create_task(gate.check(call)) for call in calls]
        yield desk, chat, notices
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_where_the_question_goes_and_who_may_answer_is_told() -> None:
    async with asked(ToolCall("bash", {"command": "ls"})) as (_, _chat, notices):
        notice = await soon(notices)

    assert isinstance(notice, RoutedNotice)
    assert notice.places == ("slack:C0OPS", "telegram:-1001")
    assert notice.approvers == ("alice", "slack:@oncall")


async def test_a_press_by_somebody_who_may_not_answer_is_told() -> None:
    async with asked(ToolCall("bash", {"command": "ls"})) as (desk, chat, notices):
        ref, card = await chat.card_where()
        routed = await soon(notices)
        await desk.press(press_on(ref, card, "allow", by="slack:U0MALLORY"))
        notice = await soon(notices)

    assert isinstance(routed, RoutedNotice)
    assert notice == PressNotice(
        question_id=routed.question_id,
        kind="refused",
        actor="slack:U0MALLORY",
        place="slack:C0OPS",
        choice="allow",
    )


async def test_everything_shown_and_a_form_opened_are_told() -> None:
    async with asked(ToolCall("bash", {"text": "y" * 5_000})) as (desk, chat, notices):
        ref, card = await chat.card_where()
        await soon(notices)
        told: list[tuple[str, str]] = []
        for choice in ("show", "deny-reason"):
            await desk.press(press_on(ref, card, choice, by="slack:U0ALICE"))
            notice = await soon(notices)
            assert isinstance(notice, PressNotice)
            told.append((notice.kind, notice.choice))

    assert told == [("shown_in_full", "show"), ("form_opened", "deny-reason")]


class LostBus:
    """A bus that does not answer before it is let, and then fails."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.tried = 0

    async def publish(self, topic: str, event: Event) -> None:
        self.tried += 1
        await self.go_on.wait()
        raise SubscriptionLostError("away")

    def subscribe(self, topic: str) -> object:
        raise NotImplementedError

    def rings(self, inbox: str) -> object:
        raise NotImplementedError


async def test_a_slow_bus_is_given_a_limited_number_and_its_failures_are_nobodys() -> None:
    bus, background = LostBus(), Background("notices")
    notices = ActivityEvents(bus, background)  # type: ignore[arg-type]  # nobody subscribes here

    for _ in range(1_500):
        notices.routed(a_request("q-1"), ROUTE)
    await asyncio.sleep(0)
    bus.go_on.set()
    await background.settled()
    notices.routed(a_request("q-1"), ROUTE)
    await background.settled()

    assert bus.tried == 1_001
