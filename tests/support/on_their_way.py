"""Cards on their way: a desk in a hurry, slow chats, and what became of a card."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from support.chat_double import ChatDouble
from support.room import OPS
from support.timer import QuickTimer

from sayso.cards.card import Card, Open
from sayso.chats.places import MessageRef, Place
from sayso.clock import utc_now
from sayso.events import UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.protocols import Copy
from sayso.testing import a_request
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

ALICE, BOB = "slack:U0ALICE", "slack:U0BOB"
PHONE = Place("telegram", "-1001")


class Held(ChatDouble):
    """A chat that posts at once and answers when it is told to."""

    def __init__(self, platform: str = "slack") -> None:
        super().__init__(platform)
        self.posted, self.answer = asyncio.Event(), asyncio.Event()

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        ref = await super().show(cards, place)
        self.posted.set()
        await self.answer.wait()
        return ref


class Direct(ChatDouble):
    """A chat that answers with a person's direct messages, as Slack does."""

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        return await super().show(cards, replace(place, address=f"D{place.address}"))


def a_desk(backend: Backend, *chats: ChatDouble, to: Sequence[Place] = (OPS,)) -> ApprovalWorker:
    routes = Routes([Route(tuple(to), approvers=(ALICE,))])
    return ApprovalWorker(backend, chats, routes, timer=QuickTimer())


async def asked(backend: Backend, seconds: float = 60) -> UserInputRequest:
    request = a_request()
    await backend.store.open(request, seconds=seconds, inbox="", book=None)
    return request


async def ended(backend: Backend, request: UserInputRequest) -> None:
    await backend.store.settle(request.question_id, request.cancelled(at=utc_now()))


async def copies_of(backend: Backend, request: UserInputRequest) -> Sequence[Copy]:
    record = await backend.store.get(request.question_id)
    assert record is not None
    return record.copies


def live(chat: ChatDouble) -> list[MessageRef]:
    return [ref for ref, card in chat.cards.items() if isinstance(card.state, Open)]


async def is_settled(desk: ApprovalWorker) -> bool:
    """Whether the desk has nothing under way."""
    return not len(desk._background)
