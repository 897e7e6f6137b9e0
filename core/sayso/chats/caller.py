"""What a platform may do besides cards: call people, and lead them to a card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sayso.cards.called import Called
from sayso.chats.places import MessageRef, Place


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open question as lists and reminders tell of it, in one line.

    ``title``, ``asker`` and ``matters``, which is the part by which it is known at a glance,
    are the agent's words, visible and on one line. ``link`` leads to its card and is empty
    where the platform has no such address. ``language`` is what its card is in; several
    questions are told of in that of the first.
    """

    title: str
    asker: str
    expires_at: datetime
    card: MessageRef | None = None
    link: str = ""
    language: str = ""
    matters: str = ""


class Caller(Protocol):
    """A platform that can call people. One that cannot has none, and shows its cards all the same.

    Nothing that an agent wrote mentions anybody in any of its messages.
    """

    @property
    def platform(self) -> str:
        """The platform's name, as its adapter says it."""
        ...

    async def reachable(self, called: Sequence[Called]) -> Sequence[Called]:
        """Those of them who are there, in their order, each as a message can mention them.

        Whoever the platform says is away is left out, and so is a group that it does not know.

        Raises:
            DeliveryError: the platform did not say.
        """
        ...

    async def link(self, card: MessageRef) -> str:
        """An address that opens the card in the platform's client; empty where there is none.

        Raises:
            DeliveryError: the platform did not say.
        """
        ...

    async def remind(
        self, place: Place, waiting: Sequence[Waiting], called: Sequence[Called]
    ) -> None:
        """Say in the place that these still wait, and mention those: never a card, no buttons.

        One question alone is told in reply to its card, several in one message.

        Raises:
            DeliveryError: the platform did not take it.
        """
        ...

    async def write(self, actor: str, waiting: Sequence[Waiting]) -> None:
        """Tell one person directly that these wait for them, and where.

        Raises:
            DeliveryError: the platform did not take it, or lets nobody write to them.
        """
        ...
