"""A chat platform of one process: shows cards in memory and fails when told to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.cards.card import Card, CardBody, Choice, Ended
from sayso.cards.truncation import Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import DeliveryError
from sayso.forms.form_values import Inputs
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.worker import ApprovalWorker


class ChatDouble:
    """An adapter that keeps what it shows; errors to raise are queued per verb.

    Messages with several cards fail as ``show a bundle`` and ``update a bundle``.
    """

    def __init__(self, platform: str = "slack", *, limit: int = 2_000) -> None:
        self.platform = platform
        self.limits = Limits(content=limit, reveal=50_000, lengths=True)
        self.cards: dict[MessageRef, Card] = {}
        self.history: list[tuple[str, MessageRef, Card]] = []
        self.bundle_limit = limit
        self.bundles: dict[MessageRef, tuple[Card, ...]] = {}
        self.bundle_history: list[tuple[str, MessageRef, tuple[Card, ...]]] = []
        self.before_update: Callable[[], Awaitable[object]] = _nothing
        self.revealed: list[tuple[Press, str]] = []
        self.asked: list[tuple[Press, Card, Choice]] = []
        self.groups: dict[str, Collection[str]] = {}
        self.guests: set[str] = set()
        self.looked_up: list[str] = []
        self.failures: dict[str, deque[DeliveryError]] = {}
        self.before_reveal: Callable[[Press, Card], Awaitable[None]] = _at_once
        self.before_ask: Callable[[Press, Card], Awaitable[None]] = _at_once
        self._numbers = iter(range(1, 1_000_000))
        self._news = asyncio.Condition()

    def fail(self, verb: str, *errors: DeliveryError) -> None:
        """The next calls of the verb raise these errors, one each."""
        self.failures.setdefault(verb, deque()).extend(errors)

    def room(self, body: CardBody, count: int) -> Room | None:
        fits = count <= MOST_IN_BUNDLE and body.title != "lonely"
        return Room(self.bundle_limit, self.bundle_limit) if fits else None

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        self._maybe_fail("show", cards)
        ref = MessageRef(place, str(next(self._numbers)))
        await self._note("show", ref, cards)
        return ref

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        await self.before_update()
        self._maybe_fail("update", cards)
        await self._note("update", ref, cards)

    async def reveal(self, press: Press, card: Card) -> None:
        self._maybe_fail("reveal")
        await self.before_reveal(press, card)
        self.revealed.append((press, card.everything))

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        await self.before_ask(press, card)
        self._maybe_fail("ask")
        self.asked.append((press, card, choice))

    async def members(self, group: str) -> Collection[str]:
        self._maybe_fail("members")
        return self.groups.get(group, ())

    async def counts_in_groups(self, actor: str) -> bool:
        self._maybe_fail("counts")
        self.looked_up.append(actor)
        return actor not in self.guests

    async def card_where(
        self, wanted: Callable[[Card], bool] = lambda _: True
    ) -> tuple[MessageRef, Card]:
        """The first card that fits, as soon as there is one."""

        def found() -> tuple[MessageRef, Card] | None:
            return next(((ref, card) for ref, card in self.cards.items() if wanted(card)), None)

        async with self._news:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._news.wait_for(lambda: found() is not None)
            hit = found()
        assert hit is not None
        return hit

    async def bundle_where(
        self, wanted: Callable[[tuple[Card, ...]], bool] = lambda _: True
    ) -> tuple[MessageRef, tuple[Card, ...]]:
        """The first message with several cards that fits, as soon as there is one."""

        def found() -> tuple[MessageRef, tuple[Card, ...]] | None:
            return next(
                ((ref, cards) for ref, cards in self.bundles.items() if wanted(cards)), None
            )

        async with self._news:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._news.wait_for(lambda: found() is not None)
            hit = found()
        assert hit is not None
        return hit

    async def ended_card(self) -> Card:
        """The first card whose request has ended, as soon as there is one."""
        _, card = await self.card_where(lambda card: isinstance(card.state, Ended))
        return card

    def _maybe_fail(self, verb: str, cards: Sequence[Card] = ()) -> None:
        if queue := self.failures.get(f"{verb} a bundle" if len(cards) > 1 else verb):
            raise queue.popleft()

    async def _note(self, verb: str, ref: MessageRef, cards: Sequence[Card]) -> None:
        async with self._news:
            if len(cards) > 1:
                self.bundle_history.append((verb, ref, tuple(cards)))
                self.bundles[ref] = tuple(cards)
            else:
                self.history.append((verb, ref, cards[0]))
                self.cards[ref] = cards[0]
            self._news.notify_all()


async def _nothing() -> None:
    """Hold up nobody."""


async def _at_once(press: Press, card: Card) -> None:
    del press, card


def press_on(
    ref: MessageRef,
    card: Card,
    choice: str,
    by: str = "slack:U0ALICE",
    *,
    confirmed: bool = True,
    delivery: str = "",
    inputs: Inputs | None = None,
) -> Press:
    """A press of a button of the card where it stands, or its form sent off."""
    return Press(
        card.handle, choice, by, ref, confirmed=confirmed, delivery=delivery, inputs=inputs
    )


@asynccontextmanager
async def working(desk: ApprovalWorker) -> AsyncIterator[ApprovalWorker]:
    """The desk at work while the block runs."""
    task = asyncio.create_task(desk.run())
    try:
        yield desk
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
