"""What the core needs of a chat platform, and what a platform needs of the core."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from sayso.cards.card import Card, CardBody, Choice
from sayso.cards.truncation import Room
from sayso.chats.limits import Limits
from sayso.chats.overview import Overview
from sayso.chats.places import Answer, MessageRef, Place, Press


class Adapter(Protocol):
    """One chat platform: shows cards. Its presses are handed to the desk."""

    @property
    def platform(self) -> str:
        """The platform's name in places and actors, such as ``chat`` in ``chat:ops``."""
        ...

    @property
    def limits(self) -> Limits:
        """What the platform can show and ask for. They never change."""
        ...

    def room(self, body: CardBody, count: int) -> Room | None:
        """What a message with so many cards, two or more, shows of this one.

        None: it must stand alone. The same body and count have the same room for ever.
        """
        ...

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        """Post one message with these cards, each with its own buttons.

        It is one card, or several that all found their ``room``.

        Raises:
            ChannelMigratedError: the chat has a new address.
            DeliveryError: the platform did not take the message.
        """
        ...

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        """Make the message show its cards as they are now. Repeating it changes nothing.

        Raises:
            DeliveryError: the platform did not take the change.
        """
        ...

    async def reveal(self, press: Press, card: Card) -> None:
        """Show the presser everything, complete. Ends in time as ``ask`` does.

        Raises:
            DeliveryError: the platform did not take it, or not in time.
        """
        ...

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser to fill in the form of a choice: a press with ``inputs`` comes of it.

        Whoever leaves a form of a choice that ``falls_back`` unfilled presses
        that other choice with it. The adapter ends in time, as its platform
        wants it and within 10 seconds at most; what it began and could not
        finish, or was cancelled at, it takes back.

        Raises:
            DeliveryError: the platform did not take it, or not in time.
        """
        ...

    async def members(self, group: str) -> Collection[str]:
        """The actors in a group of the platform, named as in the settings without the ``@``.

        Raises:
            DeliveryError: the platform did not say; then nobody is in it.
        """
        ...

    async def counts_in_groups(self, actor: str) -> bool:
        """Whether somebody in a group counts as one of its members when they decide.

        Whoever is only a guest there, or from elsewhere, no person or gone, does not.

        Raises:
            DeliveryError: the platform did not say; then they do not.
        """
        ...


class PressTaker(Protocol):
    """Where adapters hand in what was pressed: the desk."""

    async def press(self, press: Press) -> Answer:
        """Decide on a press.

        Raises:
            ReplayedCallbackError: the same callback was here before.
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
        """
        ...

    async def moved(self, old: Place, new: Place) -> None:
        """A chat has a new address: its open cards are posted there again."""
        ...

    async def members_changed(self, platform: str) -> None:
        """Members were removed from groups of the platform, or count no longer: look again."""
        ...

    async def overview(self, actor: str, place: Place, *, whole: bool = True) -> Overview:
        """What one person may know, as asked for in this place: tell it to nobody else.

        Without ``whole`` it is only what waits for them.

        Raises:
            StoreUnreachableError: it cannot be told.
        """
        ...

    def language(self, place: Place) -> str:
        """What is said in a place that is about no card."""
        ...

    async def revoke(self, actor: str, rule_id: str, place: Place) -> Answer:
        """Take back a rule of an overview, as pressed in this place; what to tell the presser.

        Raises:
            StoreUnreachableError: nothing was revoked: do not acknowledge the press.
        """
        ...
