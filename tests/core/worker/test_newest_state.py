"""An update never writes an older state of a request over a newer one."""

from __future__ import annotations

import asyncio
from asyncio import Event
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from itertools import chain

import pytest
from support.bundle_room import a_room
from support.chat_double import ChatDouble

from sayso.cards.card import Card, Ended
from sayso.clock import utc_now
from sayso.stores.backend import Backend
from sayso.stores.protocols import Copy, Found
from sayso.worker.routing import Routes
from sayso.worker.worker import ApprovalWorker

LATER = timedelta(minutes=5)

Step = Callable[[Backend, Found], Awaitable[object]]


async def start(backend: Backend, found: Found) -> None:
    await backend.store.consume_approval(found.request.question_id, "k", until=utc_now() + LATER)


async def report(backend: Backend, found: Found) -> None:
    await backend.store.report_outcome(found.request.question_id, "succeeded", "3 hosts")


async def revoke(backend: Backend, found: Found) -> None:
    assert found.ending is not None
    await backend.rules.revoke(found.ending.rule_kept, by="cli:me@host")


STEPS = {"use": ("allow", (start, report)), "revocation": ("always", (revoke,))}


def says_all(card: Card) -> bool:
    state = card.state
    return isinstance(state, Ended) and ("3 hosts" in state.note or "revoked by" in state.stored)


class Slow:
    """A desk of another process whose edits are held until the test opens the gate."""

    def __init__(self, backend: Backend, platform: str) -> None:
        self.chat, self.reached, self._opened = ChatDouble(platform), Event(), Event()
        self.chat.before_update = self._hold
        self._delivery = ApprovalWorker(backend, [self.chat], Routes([]))._delivery
        self._updates: list[asyncio.Task[None]] = []

    def update(self, found: Found) -> None:
        """Begin to show what was read of a card."""
        self._updates.append(asyncio.create_task(self._delivery.update(found)))

    async def shown(self) -> tuple[Card, ...]:
        """Open the gate; what stands in the chat after all updates."""
        self._opened.set()
        await asyncio.gather(*self._updates)
        return (*self.chat.cards.values(), *chain(*self.chat.bundles.values()))

    async def _hold(self) -> None:
        self.reached.set()
        await self._opened.wait()


async def found_now(backend: Backend, card: Card | Copy) -> Found:
    found = await backend.copies.find(card.handle)
    assert found is not None
    return found


@pytest.fixture(params=["slack", "telegram"])
def chat(request: pytest.FixtureRequest) -> ChatDouble:
    return ChatDouble(request.param)


async def decided(backend: Backend, chat: ChatDouble, *choices: str) -> list[Found]:
    """What a desk knows of calls that share a message, as soon as they are decided."""
    async with a_room(backend, chat) as room:
        cards: tuple[Card, ...]
        if len(choices) == 1:
            room.window.close()
            room.ask_about("deploy")
            ref, card = await chat.card_where()
            cards = (card,)
        else:
            ref, cards = await room.shown(*(f"deploy-{number}" for number in range(len(choices))))
        by = "slack:U0ALICE" if chat.platform == "slack" else "telegram:42"
        for card, choice in zip(cards, choices, strict=True):
            await room.press(ref, card, choice, by)
        await room.settled()
        return [await found_now(backend, card) for card in cards]


@pytest.mark.parametrize("what", STEPS)
@pytest.mark.parametrize("count", [1, 2], ids=["alone", "together"])
async def test_updates_that_share_a_turn_show_the_newest_record(
    backend: Backend, chat: ChatDouble, what: str, count: int
) -> None:
    choice, steps = STEPS[what]
    found, *_ = await decided(backend, chat, *([choice] * count))
    slow = Slow(backend, chat.platform)
    slow.update(found)
    await slow.reached.wait()
    for step in steps:
        # This one waits for its turn already, with a record that is old after the step.
        slow.update(found)
        await step(backend, found)
        found = await found_now(backend, found.copy)
    slow.update(found)

    assert says_all((await slow.shown())[0])


@pytest.mark.parametrize("what", STEPS)
async def test_a_late_edit_does_not_undo_what_another_desk_showed_meanwhile(
    backend: Backend, chat: ChatDouble, what: str
) -> None:
    choice, steps = STEPS[what]
    [found] = await decided(backend, chat, choice)
    slow = Slow(backend, chat.platform)
    slow.update(found)
    await slow.reached.wait()
    for step in steps:
        await step(backend, found)

    assert says_all((await slow.shown())[0])


async def test_a_late_press_on_an_ended_card_leaves_what_it_says_of_the_use(
    backend: Backend, chat: ChatDouble
) -> None:
    [found] = await decided(backend, chat, "allow")
    for step in (start, report):
        await step(backend, found)
    known_when_it_ended = replace(found, use=None)
    slow = Slow(backend, chat.platform)
    slow.update(known_when_it_ended)

    assert says_all((await slow.shown())[0])
