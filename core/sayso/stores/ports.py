"""What the core needs from outside: small promises, checked by contract tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from sayso.calls import RunRef
from sayso.chats.places import Place
from sayso.errors import UnreadableEventError
from sayso.events import Event, RequestEnding, UserInputRequest
from sayso.rules.rule import RememberedRule, RuleBook
from sayso.stores.audit import AuditEntry
from sayso.stores.branch_log import LoggedEvent, LogKind, Position


@dataclass(frozen=True, slots=True)
class Opened:
    """A request is in the store; ``seconds`` are left by the store's clock.

    ``at`` is what that clock showed, in Unix seconds.
    """

    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class BookChanged:
    """Nothing was opened: the session remembers other rules than the asker knew."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The ending that counts.

    ``first`` says that it is the one just offered. ``heard`` counts the
    processes that were told of it: 0 means that nobody waits right now.
    """

    ending: RequestEnding
    first: bool
    heard: int = 0


@dataclass(frozen=True, slots=True)
class Ring:
    """An ending, as an inbox hears of it.

    ``book`` is the version of the session's rules and ``at`` the time of the
    store's clock in Unix seconds, both of the atomic step that told the inbox;
    ``book`` is None where that is not known or was too long ago.
    """

    ending: RequestEnding
    book: str | None = None
    at: float = 0.0


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
class Record:
    """All that the store knows of one request.

    ``request.expires_at`` and the ``seconds_left`` until then are by the store's clock.
    """

    request: UserInputRequest
    ending: RequestEnding | None = None
    copies: tuple[Copy, ...] = ()
    seconds_left: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The copy a handle belongs to, with its request and how that ended."""

    copy: Copy
    request: UserInputRequest
    ending: RequestEnding | None


class Store(Protocol):
    """Requests and their endings. The first ending wins, whoever offers one and however often.

    Every method raises StoreUnreachableError when the store does not answer
    within seconds; then nothing was approved.
    """

    async def open(
        self, request: UserInputRequest, *, seconds: float, inbox: str, book: str | None
    ) -> Opened | BookChanged:
        """Record the request, put it in the outbox and ring ``inbox`` at its end; one atomic step.

        The request expires ``seconds`` from now by the store's clock. An empty
        ``inbox`` is not rung. ``book`` is the version of the session's rules
        that the asker knows; when it is not the current one, nothing is
        opened; None opens whatever they are. Repeating the same request
        changes nothing; after its end the inbox is rung at once.

        Raises:
            DuplicateRequestError: another request has this id.
        """
        ...

    async def settle(
        self,
        question_id: str,
        ending: RequestEnding,
        *,
        remember: RememberedRule | None = None,
        handle: str = "",
        delivery: str = "",
    ) -> Settled:
        """Record the ending and the rule, then tell those who wait; one atomic step.

        After the request's expiry only its expiry is recorded; before it, an
        expiry is not. For a press whose request was not looked up just now,
        ``handle`` and ``delivery`` are checked in the same step, as
        ``Copies.find`` does.

        Raises:
            UnknownRequestError: no such request, or the handle is not bound to it.
            ReplayedCallbackError: this delivery, when not empty, was seen before.
        """
        ...

    async def settle_later(
        self, question_id: str, ending: RequestEnding, *, seconds: float
    ) -> RequestEnding | None:
        """Let the request end with this in so many seconds, or when its own time is over.

        Until then another refusal can take its place, an approval or an answer
        cannot: whoever offers one ends the request with what was foreseen. The
        first ending that is foreseen counts. Answers how the request has ended
        already, None while it is open.

        Raises:
            UnknownRequestError: no such request.
        """
        ...

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request, None when there is no such request."""
        ...


class Watch(Protocol):
    """What a waiting process and a tidy desk look at. Raises StoreUnreachableError like Store."""

    async def look(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, RequestEnding | UnreadableEventError | None]:
        """The endings recorded so far, None for open requests; unknown ids are left out.

        From this moment on the inbox is rung for each of the open ones. An
        ending of a kind that is not known here is the error that says so.
        """
        ...

    async def expire(self) -> float | None:
        """End all requests whose time is over; the seconds until the next one, None without one."""
        ...

    async def shorten(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier; when it expires.

        Raises:
            UnknownRequestError: no such request.
        """
        ...

    async def pending(self) -> Sequence[Record]:
        """The open requests, the one that expires first first; without those of unknown kinds."""
        ...


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


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A remembered rule with what it belongs to; ``session_id`` is empty for all of an agent's."""

    remembered: RememberedRule
    agent_id: str
    session_id: str = ""


class Rules(Protocol):
    """What sessions remember. Raises StoreUnreachableError like Store."""

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run, its agent's among them, in the order they were stored.

        Without those that expired or were revoked; ``uses`` are not counted here.
        """
        ...

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what may be had once in a session: True for the first caller and for no other."""
        ...

    async def use(
        self, run: RunRef, rule_id: str, *, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of a rule by the run, in the audit too; False and nothing when it is over.

        It is over when it was revoked or has expired. With ``book``, the use
        also counts only while that is the current version of the run's rules.
        ``digest`` is that of the call's arguments.
        """
        ...

    async def all(self) -> Sequence[KeptRule]:
        """All rules that have not expired, with how often and when last they were used."""
        ...

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back, at once for running sessions too; False when there is none."""
        ...


class Audit(Protocol):
    """What happened, written by the other ports. Raises StoreUnreachableError like Store."""

    async def read(self, count: int) -> Sequence[AuditEntry]:
        """The last entries, at most so many, the oldest of them first."""
        ...


class Bus(Protocol):
    """Tells subscribers of events: at most once, in order per topic. Broken means an error."""

    async def publish(self, topic: str, event: Event) -> None:
        """Tell whoever listens to the topic now.

        Raises:
            BusLostError: the bus cannot be reached.
        """
        ...

    def subscribe(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """The events published while the block runs.

        Raises:
            BusLostError: on entry when the bus cannot be reached, from the
                iterator when events may have been missed.
        """
        ...

    def rings(self, inbox: str) -> AbstractAsyncContextManager[AsyncIterator[Ring]]:
        """The endings that the inbox of this name is told of while the block runs.

        Raises:
            BusLostError: as for ``subscribe``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """Work for one desk: show a request (``ask``) or bring its cards up to date (``end``)."""

    kind: Literal["ask", "end"]
    question_id: str
    receipt: str


class Outbox(Protocol):
    """Work waiting for desks: at least once, each job with one desk at a time.

    A job that a desk took and did not finish goes to another one when that
    desk is gone.
    """

    def jobs(self, desk: str) -> AbstractAsyncContextManager[AsyncIterator[Job]]:
        """Jobs for the desk of this name, as they come. Outages are waited out."""
        ...

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        ...


class Leases(Protocol):
    """Small facts shared by all processes. Raises StoreUnreachableError like Store."""

    async def ping(self) -> None:
        """Return when the store answers."""
        ...

    async def hold(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or keep a lease: at most one owner has it at a time."""
        ...

    async def move(self, old: Place, new: Place) -> None:
        """Remember that a chat has a new address."""
        ...

    async def moved(self, place: Place) -> Place:
        """Where a chat is now: the place itself unless it moved."""
        ...


class Drafts(Protocol):
    """What is half done, for any process to go on with. Raises StoreUnreachableError like Store."""

    async def keep(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for so long, in place of what was there."""
        ...

    async def read(self, key: str) -> str | None:
        """The text under the key, None when there is none."""
        ...

    async def take(self, key: str) -> str | None:
        """The text under the key, which is gone then: only one caller gets it."""
        ...


class BranchLog(Protocol):
    """What was asked on a branch and how it ended, for readers that come and go.

    Its bell is a ``BranchGrewEvent`` on the bus, one topic for all branches.
    Raises StoreUnreachableError like Store.
    """

    async def append(self, run: RunRef, question_id: str, kind: LogKind, event: Event) -> bool:
        """Write the event to the end of its branch and ring; one atomic step.

        A question has at most one event of each kind: False and nothing when
        it is written already, however often it is offered.

        Raises:
            UnknownRequestError: no such request.
        """
        ...

    async def end(self, run: RunRef) -> Position:
        """The position after the newest event of the run's branch."""
        ...

    async def after(self, run: RunRef, position: Position, *, count: int) -> Sequence[LoggedEvent]:
        """The events after the position, at most so many, the oldest of them first.

        They end with the one that fills ``PAGE_BYTES``: there may be more when
        ``is_full``. After ``BEGINNING`` come the oldest that are kept.

        Raises:
            EventsGoneError: events after the position are no longer kept, or
                it is no position of this log.
        """
        ...

    async def open_questions(self, run: RunRef) -> int:
        """How many questions of the branch were logged and their endings not yet."""
        ...
