"""All ports in the memory of one process: for trying out, for tests, for `sayso demo`."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sayso.calls import RunRef
from sayso.clock import Clock, utc_now
from sayso.errors import (
    DuplicateRequestError,
    ReplayedCallbackError,
    UnknownRequestError,
    UnreadableEventError,
)
from sayso.events import Outcome, RequestEnding, UserInputRequest
from sayso.rules.rule import RememberedRule, RuleBook
from sayso.stores import audit
from sayso.stores.audit import AUDIT_ENTRIES, AuditEntry
from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.drafts import MemoryDrafts
from sayso.stores.memory.log import MemoryBranchLog
from sayso.stores.memory.work import MemoryLeases, MemoryOutbox, MemoryRoster
from sayso.stores.ports import (
    BookChanged,
    Copy,
    Found,
    KeptRule,
    Opened,
    Record,
    Ring,
    Settled,
)

# The agent, and the session unless the rules are those of all its sessions.
_BookName = tuple[str, str | None]


@asynccontextmanager
async def memory_backend(*, clock: Clock = utc_now) -> AsyncIterator[Backend]:
    """A backend for one process; everything is gone when the block ends."""
    bus = MemoryBus()
    outbox = MemoryOutbox()
    store = MemoryStore(bus, outbox, clock)
    async with Inbox(bus, store) as inbox:
        yield Backend(
            store=store,
            watch=store,
            copies=store,
            rules=store,
            audit=store,
            bus=bus,
            outbox=outbox,
            leases=MemoryLeases(clock),
            roster=MemoryRoster(clock),
            drafts=MemoryDrafts(clock),
            log=MemoryBranchLog(bus, store.knows),
            inbox=inbox,
        )


@dataclass(slots=True)
class _Entry:
    request: UserInputRequest
    deadline: datetime
    inboxes: set[str]
    ending: RequestEnding | None = None
    copies: dict[str, Copy] = field(default_factory=dict)
    foreseen: tuple[RequestEnding, datetime] | None = None

    def due(self) -> datetime:
        """When the request ends if nobody ends it before."""
        return self.deadline if self.foreseen is None else min(self.deadline, self.foreseen[1])


@dataclass(slots=True)
class _Kept:
    """A rule, the facts of the request that stored it, and the book it stands in."""

    rule: RememberedRule
    about: audit.Facts
    book: _BookName


class MemoryStore:
    """Requests, their copies and the rules of sessions, as long as the process lives."""

    def __init__(self, bus: MemoryBus, outbox: MemoryOutbox, clock: Clock) -> None:
        self._bus = bus
        self._outbox = outbox
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._handles: dict[str, str] = {}
        self._versions: dict[_BookName, str] = {}
        self._kept: dict[str, _Kept] = {}
        self._spent: set[tuple[str, str, str]] = set()
        self._audit: deque[AuditEntry] = deque(maxlen=AUDIT_ENTRIES)
        self._deliveries: set[str] = set()

    async def open(
        self, request: UserInputRequest, *, seconds: float, inbox: str, book: str | None
    ) -> Opened | BookChanged:
        """Record the request, put it in the outbox and ring ``inbox`` at its end."""
        now = self._clock()
        known = self._entries.get(request.question_id)
        if known is not None:
            if known.request != request:
                raise DuplicateRequestError(request.question_id)
            known.inboxes.add(inbox)
            if known.ending is not None and inbox:
                self._bus.ring(inbox, self._ring(known.ending, request.run))
            return Opened((known.deadline - now).total_seconds(), now.timestamp())
        if book is not None and (await self.book(request.run)).version != book:
            return BookChanged()
        self._entries[request.question_id] = _Entry(
            request, now + timedelta(seconds=seconds), {inbox}
        )
        self._note(audit.about(request), {"kind": "asked"})
        self._outbox.put("ask", request.question_id)
        return Opened(seconds, now.timestamp())

    async def settle(
        self,
        question_id: str,
        ending: RequestEnding,
        *,
        remember: RememberedRule | None = None,
        handle: str = "",
        delivery: str = "",
    ) -> Settled:
        """Record the ending and the rule, then tell those who wait."""
        entry = self._entries.get(question_id)
        if entry is None or (handle and handle not in entry.copies):
            raise UnknownRequestError(question_id)
        self._refuse_again(delivery)
        if entry.ending is not None:
            return Settled(entry.ending, first=False)
        now = self._clock()
        first = True
        if entry.foreseen is not None and (now >= entry.due() or _agrees(ending)):
            ending, remember, first = entry.foreseen[0], None, False
        elif now >= entry.deadline and ending.outcome is not Outcome.EXPIRED:
            ending, remember, first = entry.request.expired(at=now), None, False
        elif now < entry.deadline and ending.outcome is Outcome.EXPIRED:
            raise ValueError(f"request {question_id!r} has not expired yet")
        entry.ending = ending
        about = audit.about(entry.request)
        self._note(about, audit.ended(ending))
        if remember is not None:
            self._remember(entry.request.run, remember, about)
        ring = self._ring(ending, entry.request.run)
        heard = sum(self._bus.ring(inbox, ring) for inbox in entry.inboxes if inbox)
        self._outbox.put("end", question_id)
        return Settled(ending, first=first, heard=heard)

    async def settle_later(
        self, question_id: str, ending: RequestEnding, *, seconds: float
    ) -> RequestEnding | None:
        """Let the request end with this in so many seconds, unless another refusal comes first."""
        entry = self._entries.get(question_id)
        if entry is None:
            raise UnknownRequestError(question_id)
        if entry.ending is None and entry.foreseen is None:
            entry.foreseen = (ending, self._clock() + timedelta(seconds=seconds))
        return entry.ending

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request."""
        entry = self._entries.get(question_id)
        return None if entry is None else self._record(entry)

    def knows(self, question_id: str) -> bool:
        """Whether there is such a request."""
        return question_id in self._entries

    async def look(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, RequestEnding | UnreadableEventError | None]:
        """The endings recorded so far; the inbox is rung for the open ones from now on."""
        seen: dict[str, RequestEnding | UnreadableEventError | None] = {}
        for question_id in question_ids:
            entry = self._entries.get(question_id)
            if entry is not None:
                entry.inboxes.add(inbox)
                seen[question_id] = entry.ending
        return seen

    async def expire(self) -> float | None:
        """End all requests whose time is over; the seconds until the next one."""
        now = self._clock()
        waiting = [entry for entry in self._entries.values() if entry.ending is None]
        for entry in waiting:
            if entry.due() <= now:
                await self.settle(entry.request.question_id, entry.request.expired(at=now))
        left = [entry.due() for entry in waiting if entry.ending is None]
        return (min(left) - now).total_seconds() if left else None

    async def shorten(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier."""
        entry = self._entries.get(question_id)
        if entry is None:
            raise UnknownRequestError(question_id)
        entry.deadline = min(entry.deadline, self._clock() + timedelta(seconds=seconds))
        return entry.deadline

    async def pending(self) -> Sequence[Record]:
        """The open requests, the one that expires first first."""
        waiting = [entry for entry in self._entries.values() if entry.ending is None]
        return [self._record(entry) for entry in sorted(waiting, key=lambda entry: entry.deadline)]

    async def issue(self, copy: Copy) -> None:
        """Bind a new handle to its request and place."""
        entry = self._entries.get(copy.question_id)
        if entry is None:
            raise UnknownRequestError(copy.question_id)
        self._handles[copy.handle] = copy.question_id
        entry.copies[copy.handle] = copy

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        self._refuse_again(delivery)
        question_id = self._handles.get(handle)
        if question_id is None:
            return None
        entry = self._entries[question_id]
        return Found(entry.copies[handle], self._record(entry).request, entry.ending)

    async def mark(self, copy: Copy) -> RequestEnding | None:
        """Note the message a copy became and whether all of it was shown."""
        entry = self._entries.get(copy.question_id)
        if entry is None:
            raise UnknownRequestError(copy.question_id)
        entry.copies[copy.handle] = copy
        return entry.ending

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run, its agent's among them."""
        now = self._clock()
        books = _books(run)
        rules = (
            replace(kept.rule, uses=0, last_used_at=None)
            for kept in self._kept.values()
            if kept.book in books and kept.rule.expires_at > now
        )
        return RuleBook(self._version(run), tuple(rules))

    def _record(self, entry: _Entry) -> Record:
        request = entry.request.model_copy(update={"expires_at": entry.deadline})
        left = (entry.deadline - self._clock()).total_seconds()
        return Record(request, entry.ending, tuple(entry.copies.values()), left)

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what may be had once in a session."""
        once = (run.agent_id, run.session_id, key)
        first = once not in self._spent
        self._spent.add(once)
        return first

    async def use(
        self, run: RunRef, rule_id: str, *, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of a rule by the run, unless it is over."""
        now = self._clock()
        kept = self._kept.get(rule_id)
        if kept is None or kept.book not in _books(run) or kept.rule.expires_at <= now:
            return False
        if book is not None and book != self._version(run):
            return False
        self._kept[rule_id] = replace(kept, rule=_used(kept.rule, now))
        self._note(kept.about, audit.used(run, rule_id, digest))
        return True

    async def all(self) -> Sequence[KeptRule]:
        """All rules that have not expired, with their uses."""
        now = self._clock()
        return [
            KeptRule(kept.rule, kept.book[0], kept.book[1] or "")
            for kept in self._kept.values()
            if kept.rule.expires_at > now
        ]

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back, at once for running sessions too."""
        kept = self._kept.get(rule_id)
        if kept is None or kept.rule.expires_at <= self._clock():
            return False
        del self._kept[rule_id]
        self._versions[kept.book] = f"without {rule_id}"
        self._note(kept.about, audit.revoked(rule_id, by))
        return True

    async def read(self, count: int) -> Sequence[AuditEntry]:
        """The last entries, the oldest of them first."""
        return list(self._audit)[-count:] if count > 0 else []

    def _remember(self, run: RunRef, rule: RememberedRule, about: audit.Facts) -> None:
        session, agent = _books(run)
        book = agent if rule.scope == "agent" else session
        self._kept[rule.rule_id] = _Kept(rule, about, book)
        self._versions[book] = rule.rule_id
        self._note(about, audit.stored(rule))

    def _refuse_again(self, delivery: str) -> None:
        if delivery in self._deliveries:
            raise ReplayedCallbackError("this callback was handled before")
        if delivery:
            self._deliveries.add(delivery)

    def _ring(self, ending: RequestEnding, run: RunRef) -> Ring:
        return Ring(ending, self._version(run), self._clock().timestamp())

    def _version(self, run: RunRef) -> str:
        return "+".join(filter(None, (self._versions.get(book, "") for book in _books(run))))

    def _note(self, *facts: audit.Facts) -> None:
        self._audit.append(audit.entry(self._clock(), *facts))


def _agrees(ending: RequestEnding) -> bool:
    return ending.outcome in (Outcome.APPROVED, Outcome.ANSWERED)


def _books(run: RunRef) -> tuple[_BookName, _BookName]:
    return (run.agent_id, run.session_id), (run.agent_id, None)


def _used(rule: RememberedRule, now: datetime) -> RememberedRule:
    return replace(rule, uses=rule.uses + 1, last_used_at=now)
