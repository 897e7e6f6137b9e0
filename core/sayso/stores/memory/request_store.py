"""Requests and their resolutions in the memory of one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.errors import IdempotencyConflictError, UnreadableEventError
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.rules.rule import RememberedRule
from sayso.stores import audit
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.bus import MemoryBus
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Entry, Records
from sayso.stores.memory.rule_store import MemoryRuleStore, check_has_a_home
from sayso.stores.protocols import (
    MOST_ASKED_LAST,
    BookChanged,
    Hold,
    Joined,
    Opened,
    Record,
    Report,
    Ring,
    Settled,
    Use,
    Went,
)
from sayso.stores.told import refuse_unfilled
from sayso.stores.topics import branch_topic


class MemoryRequestStore:
    """Requests in memory, until a day after their expiry."""

    def __init__(
        self,
        records: Records,
        rules: MemoryRuleStore,
        audit: MemoryAudit,
        bus: MemoryBus,
        outbox: MemoryOutbox,
        clock: Clock,
    ) -> None:
        self._records = records
        self._rules = rules
        self._audit = audit
        self._bus = bus
        self._outbox = outbox
        self._clock = clock

    async def open(
        self,
        request: UserInputRequest,
        *,
        seconds: float,
        inbox: str,
        book: str | None,
        ending: Resolution | None = None,
        key: str = "",
        audited: bool = True,
    ) -> Opened | BookChanged | Joined:
        """Record the request, put it in the outbox and ring ``inbox`` at its end."""
        refuse_unfilled(request)
        now = self._clock()
        known = self._records.find(request.question_id)
        if known is not None:
            if known.request != request:
                raise IdempotencyConflictError.for_request_id(request.question_id)
            known.inboxes.add(inbox)
            if known.ending is not None and inbox:
                self._bus.ring(inbox, self._ring(known.ending, request.run))
            return Opened((known.deadline - now).total_seconds(), now.timestamp())
        hold = Hold(request.question_id, inbox)
        if key and (other := self._records.under(request.run, key)) is not None:
            if inbox:
                other.hold(hold)
            return Joined(self._records.record(other))
        if book is not None and self._rules.version(request.run) != book:
            return BookChanged()
        if ending is None:
            self._records.refuse_too_many(request, self._outbox.limits)
        deadline = now + timedelta(seconds=seconds)
        entry = Entry(request, deadline, {inbox}, now, key=key, was_open=ending is None)
        if key:
            entry.hold(hold)
        self._records.add(entry)
        told = ending is None or audited
        if told:
            self._audit.write(audit.about(request), audit.asked(request))
        self._bus.tell(branch_topic(request.run), request)
        if ending is None:
            self._outbox.put_job("ask", request.question_id)
        else:
            self._end(entry, ending, audit.ended(ending) if told else None)
        return Opened(seconds, now.timestamp())

    async def settle(
        self,
        question_id: str,
        ending: Resolution,
        *,
        remember: RememberedRule | None = None,
    ) -> Settled:
        """Record the ending and the rule, then tell those who wait."""
        entry = self._records.get(question_id)
        check_has_a_home(entry.request.run, remember)
        if entry.ending is not None:
            return Settled(entry.ending, first=False)
        offered = self._counting(entry, ending)
        counts = self._ruled(entry, offered)
        first = counts is ending
        about = audit.about(entry.request)
        self._end(entry, counts, audit.ended(counts))
        if first and remember is not None:
            self._rules.remember(entry.request.run, remember, about)
        ring = self._ring(counts, entry.request.run)
        heard = sum(self._bus.ring(inbox, ring) for inbox in entry.inboxes if inbox)
        return Settled(counts, first=first, heard=heard, forbidden=counts is not offered)

    async def settle_later(
        self, question_id: str, ending: Resolution, *, seconds: float
    ) -> Resolution | None:
        """Let the request end with this in so many seconds, unless another refusal comes first."""
        if ending.approves_a_call:
            raise ValueError("an approval cannot be foreseen: a rule may forbid it by then")
        entry = self._records.get(question_id)
        if entry.ending is None and entry.foreseen is None:
            entry.foreseen = (ending, self._clock() + timedelta(seconds=seconds))
        return entry.ending

    async def overrule(self, question_id: str, denial: Resolution) -> Resolution:
        """Put a denial in the place of a recorded approval of a call."""
        if denial.approves_a_call:
            raise ValueError("only a denial overrules")
        entry = self._records.get(question_id)
        if entry.ending is None:
            raise ValueError(f"request {question_id!r} has not ended yet")
        if entry.ending.approves_a_call:
            entry.overruled = entry.ending
            self._end(entry, denial, audit.overruled(denial))
        return entry.ending

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request."""
        entry = self._records.find(question_id)
        return None if entry is None else self._records.record(entry)

    async def get_by_key(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        entry = self._records.under(run, key)
        if entry is None:
            return None
        if hold is not None:
            entry.hold(hold)
        return self._records.record(entry)

    async def release_hold(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it."""
        entry = self._records.find(question_id)
        if entry is None or entry.ending is not None:
            return entry is not None and entry.ending == ending
        if entry.holds.pop(waiter, None) is None or ending is None or self._is_held(entry):
            return False
        # What is over has expired: whoever finds it first says so.
        if self._records.now() >= entry.deadline:
            return False
        self._records.free(entry)
        await self.settle(question_id, ending)
        return True

    async def poll(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, Resolution | UnreadableEventError | None]:
        """The endings recorded so far; the inbox is rung for the open ones from now on."""
        seen: dict[str, Resolution | UnreadableEventError | None] = {}
        for question_id in question_ids:
            entry = self._records.find(question_id)
            if entry is not None:
                entry.inboxes.add(inbox)
                seen[question_id] = entry.ending
        return seen

    async def expire_due(self) -> float | None:
        """End all requests whose time is over; the seconds until the next one."""
        now = self._clock()
        for entry in self._records.waiting():
            if entry.due() <= now:
                await self.settle(entry.request.question_id, entry.request.expired(at=now))
        left = [entry.due() for entry in self._records.waiting()]
        return (min(left) - now).total_seconds() if left else None

    async def shorten_deadline(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier."""
        entry = self._records.get(question_id)
        entry.deadline = min(entry.deadline, self._clock() + timedelta(seconds=seconds))
        return entry.deadline

    async def list_recent(self, run: RunRef) -> Sequence[UserInputRequest]:
        """What the run's session asked people last, the newest first."""
        last = islice(self._records.asked_last(run), MOST_ASKED_LAST)
        return [self._records.record(entry).request for entry in last]

    async def list_requests(self, run: RunRef | None = None) -> Sequence[Record]:
        """The open requests, the first to expire first; with a run, those of its session."""
        waiting = sorted(self._records.waiting(), key=lambda entry: entry.deadline)
        if run is not None:
            waiting = [one for one in waiting if one.request.run.is_in_session_of(run)]
        return [self._records.record(entry) for entry in waiting]

    async def consume_approval(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once."""
        entry, now = self._records.get(question_id), self._records.now()
        if entry.use is not None:
            return entry.use
        if not _is_approved(entry) or now >= until:
            return None
        return self._told(entry, Use(key, now), audit.taken())

    async def report_outcome(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        entry = self._records.get(question_id)
        if entry.use is None:
            return None
        if entry.use.report is not None:
            return entry.use
        use = replace(entry.use, report=Report(went, self._records.now(), note))
        return self._told(entry, use, audit.reported(went, note))

    def _end(self, entry: Entry, ending: Resolution, facts: audit.Facts | None) -> None:
        """Record an ending, and tell the audit, the desks and the observers of it."""
        is_first = entry.ending is None
        self._records.end(entry, ending)
        if facts is not None:
            self._audit.write(audit.about(entry.request), facts)
        self._outbox.put_job("end", entry.request.question_id, again=not is_first)
        self._bus.tell(branch_topic(entry.request.run), ending)

    def _counting(self, entry: Entry, offered: Resolution) -> Resolution:
        """The ending that counts for an open request: the one offered, unless it comes too late."""
        now = self._clock()
        if entry.foreseen is not None and (now >= entry.due() or _agrees(offered)):
            return entry.foreseen[0]
        expires = offered.outcome is Outcome.EXPIRED
        if now >= entry.deadline and not expires:
            return entry.request.expired(at=now)
        if now < entry.deadline and expires:
            raise ValueError(f"request {entry.request.question_id!r} has not expired yet")
        return offered

    def _ruled(self, entry: Entry, offered: Resolution) -> Resolution:
        """The ending, or a denial where the rules of this moment forbid what it approves."""
        if not offered.approves_a_call:
            return offered
        return entry.request.ruled(offered, self._rules.read(entry.request.run))

    def _ring(self, ending: Resolution, run: RunRef) -> Ring:
        return Ring(ending, self._rules.version(run), self._clock().timestamp())

    def _is_held(self, entry: Entry) -> bool:
        """True if anybody counts on it: a hold of an inbox that nobody listens to does not."""
        return any(not inbox or self._bus.is_heard(inbox) for inbox in entry.holds.values())

    def _told(self, entry: Entry, use: Use, facts: audit.Facts) -> Use:
        entry.use = use
        if entry.ending is not None and entry.ending.decided_by is not None:
            self._audit.write(audit.about(entry.request), facts)
        self._outbox.put_job("end", entry.request.question_id, again=True)
        return use


def _agrees(ending: Resolution) -> bool:
    return ending.outcome in (Outcome.APPROVED, Outcome.ANSWERED)


def _is_approved(entry: Entry) -> bool:
    return entry.ending is not None and entry.ending.approves_a_call
