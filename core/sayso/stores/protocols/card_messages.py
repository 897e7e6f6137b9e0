"""Card messages: the messages that show a request, and the handles in their buttons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from sayso.cards.called import NOBODY, Call
from sayso.chats.places import MessageRef, Place
from sayso.events import Resolution, UserInputRequest
from sayso.stores.protocols.rule_store import Revoked

KEPT = timedelta(days=30)
"""How long after its deadline a request is known whose card was shown: late presses close it."""

Went = Literal["succeeded", "failed"]
"""How a call went that ran on an approval, as whoever ran it says."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a call, and its time by the store's clock."""

    went: Went
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """The later fate of an approval.

    It was used ``at`` a moment of the store's clock, by whoever brought the
    ``key``, and went as the ``report`` says.
    """

    key: str
    at: datetime
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of a card: its opaque handle and where it stands.

    ``message_id`` is empty until the platform has named the message: until
    then the copy is an intention, which may have been carried out or not.
    ``bundle`` are the handles of all cards on that message in the order of
    its lines, this one's among them; empty for a card that stands alone.
    ``meant_for`` is the place it was sent to where the platform answered with
    another, as for a person's direct messages. ``call`` is what the message does to be
    noticed, which every edit of the open card says again. ``closed_at`` is set once another
    message turned out to show the request there: this one takes no presses.
    """

    handle: str
    question_id: str
    place: Place
    message_id: str = ""
    revealed: bool = False
    bundle: tuple[str, ...] = ()
    meant_for: Place | None = None
    closed_at: datetime | None = None
    call: Call = NOBODY

    @property
    def handles(self) -> tuple[str, ...]:
        """The handles of all cards on the message, however many there are."""
        return self.bundle or (self.handle,)

    def at(self, message: MessageRef) -> Copy:
        """The copy that has become a message."""
        place, now = message.place, message.message_id
        if (place.platform, place.address) == (self.place.platform, self.place.address):
            return replace(self, message_id=now)
        return replace(self, place=place, message_id=now, meant_for=self.target)

    @property
    def target(self) -> Place:
        """The place it was sent to."""
        return self.meant_for or self.place

    @property
    def stands(self) -> bool:
        """Whether it is the one message that is known to show the request in its place."""
        return bool(self.message_id) and self.closed_at is None


@dataclass(frozen=True, slots=True)
class Found:
    """The copy a handle belongs to, with its request, how that ended, and what became of it."""

    copy: Copy
    request: UserInputRequest
    ending: Resolution | None
    use: Use | None = None
    revoked: Revoked | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """What is known of a copy when it was noted: how its request has ended, and ``closed_at``."""

    ending: Resolution | None = None
    closed_at: datetime | None = None


class Copies(Protocol):
    """Which handle belongs to which message. Raises StoreUnreachableError like RequestStore."""

    async def issue(self, copy: Copy, *, keep: timedelta = KEPT) -> None:
        """Bind a new handle to its request and place: the intention to show it there.

        The request is known for at least ``keep`` after its deadline from now on.

        Raises:
            RequestNotFoundError: no such request.
        """
        ...

    async def drop(self, copy: Copy) -> None:
        """Forget an intention that was not carried out: the handle is on no message."""
        ...

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown.

        Raises:
            ReplayedCallbackError: this delivery, when not empty, was seen before.
        """
        ...

    async def mark(self, copy: Copy) -> Marked:
        """Note the message a copy became and whether all of it was shown: what was, stays so.

        When its message is named for the first time and another one stands
        for the same open request and target, this copy is closed.

        Raises:
            RequestNotFoundError: no such request.
        """
        ...
