"""The copies of a card, and the handles that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sayso.chats.places import Place
from sayso.events import RequestEnding, UserInputRequest


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of a card: its opaque handle and where it stands.

    ``message_id`` is empty until the platform has named the message.
    ``bundle`` are the handles of all cards on that message in the order of
    its lines, this one's among them; empty for a card that stands alone.
    """

    handle: str
    question_id: str
    place: Place
    message_id: str = ""
    revealed: bool = False
    bundle: tuple[str, ...] = ()

    @property
    def handles(self) -> tuple[str, ...]:
        """The handles of all cards on the message, however many there are."""
        return self.bundle or (self.handle,)


@dataclass(frozen=True, slots=True)
class Found:
    """The copy a handle belongs to, with its request and how that ended."""

    copy: Copy
    request: UserInputRequest
    ending: RequestEnding | None


class Copies(Protocol):
    """Which handle belongs to which message. Raises StoreUnreachableError like Store."""

    async def issue(self, copy: Copy) -> None:
        """Bind a new handle to its request and place."""
        ...

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown.

        Raises:
            ReplayedCallbackError: this delivery, when not empty, was seen before.
        """
        ...

    async def mark(self, copy: Copy) -> RequestEnding | None:
        """Note the message a copy became and whether all of it was shown.

        Answers how the request has ended meanwhile, None while it is open.
        """
        ...
