"""Requests as they are kept in memory: until their deadline and a day."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sayso.calls import RunRef
from sayso.clock import Clock
from sayso.errors import ReplayedCallbackError, RequestNotFoundError
from sayso.events import Resolution, UserInputRequest
from sayso.stores.branch_log import LogKind
from sayso.stores.home import Home
from sayso.stores.protocols import NO_LIMITS, Copy, Hold, OpenLimits, Record, Revoked, Use
from sayso.stores.told import build_full_error

_KEPT = timedelta(days=1)
_DELIVERIES_KEPT = timedelta(minutes=10)


@dataclass(slots=True)
class Entry:
    """One request with all that is known of it; ``logged`` is what its branch's log has of it.

    ``refused`` are the kinds of refused presses that the audit has of it, with their actors.
    ``key`` is the one it was asked under, ``holds`` the inboxes of those who wait under it.
    """

    request: UserInputRequest
    deadline: datetime
    inboxes: set[str]
    opened_at: datetime
    ending: Resolution | None = None
    ended_at: datetime | None = None
    use: Use | None = None
    revoked: Revoked | None = None
    copies: dict[str, Copy] = field(default_factory=dict)
    foreseen: tuple[Resolution, datetime] | None = None
    overruled: Resolution | None = None
    logged: set[LogKind] = field(default_factory=set)
    keep: timedelta = _KEPT
    refused: set[tuple[str, str]] = field(default_factory=set)
    key: str = ""
    holds: dict[str, str] = field(default_factory=dict)
    was_open: bool = True

    def hold(self, hold: Hold) -> None:
        """Note who counts on it, while it is open."""
        if self.ending is None:
            self.holds[hold.waiter if hold.inbox else ""] = hold.inbox

    def due(self) -> datetime:
        """When the request ends if nobody ends it before."""
        return self.deadline if self.foreseen is None else min(self.deadline, self.foreseen[1])


class Records:
    """The requests of one process, their handles, and the callbacks of the last ten minutes."""

    def __init__(self, clock: Clock, home: Home | None = None) -> None:
        self._clock = clock
        self._home = home or Home()
        self._entries: dict[str, Entry] = {}
        self._waiting: dict[str, Entry] = {}
        self._handles: dict[str, str] = {}
        self._keys: dict[tuple[str, str, str], str] = {}
        self._to_forget: list[tuple[datetime, str]] = []
        self._deliveries: dict[str, datetime] = {}

    def add(self, entry: Entry) -> None:
        """Keep a new request."""
        question_id = entry.request.question_id
        self._entries[question_id] = self._waiting[question_id] = entry
        if entry.key:
            self._keys[_name(entry.request.run, entry.key)] = question_id
        heapq.heappush(self._to_forget, (entry.deadline + _KEPT, question_id))

    def find(self, question_id: str) -> Entry | None:
        """The request of this id; None when there is none, or it is long gone."""
        self._home.check()
        self._forget()
        return self._entries.get(question_id)

    def get(self, question_id: str) -> Entry:
        """The request of this id.

        Raises:
            RequestNotFoundError: there is none, or it is long gone.
        """
        entry = self.find(question_id)
        if entry is None:
            raise RequestNotFoundError(question_id)
        return entry

    def under(self, run: RunRef, key: str) -> Entry | None:
        """The request that a session asked under a key."""
        question_id = self._keys.get(_name(run, key))
        return None if question_id is None else self.find(question_id)

    def free(self, entry: Entry) -> None:
        """Let the key of a request lead nowhere."""
        name = _name(entry.request.run, entry.key)
        if self._keys.get(name) == entry.request.question_id:
            del self._keys[name]

    def end(self, entry: Entry, ending: Resolution) -> None:
        """Record the ending of a request, and since when it has ended."""
        entry.ending = ending
        entry.ended_at = entry.ended_at or self._clock()
        self._waiting.pop(entry.request.question_id, None)

    def waiting(self) -> Iterable[Entry]:
        """The requests that are open now."""
        self._home.check()
        self._forget()
        return list(self._waiting.values())

    def refuse_too_many(self, request: UserInputRequest, limits: OpenLimits) -> None:
        """See that its agent, and the token it came with, may have one more open request.

        Raises:
            RequestUnansweredError: one of them may not.
        """
        if limits == NO_LIMITS:
            return
        now = self._clock()
        there = [one.request for one in self.waiting() if one.deadline > now]
        agents = sum(one.run.agent_id == request.run.agent_id for one in there)
        tokens = sum(one.filed_by == request.filed_by for one in there) if request.filed_by else 0
        if 0 < limits.per_agent <= agents:
            raise build_full_error(request, "agent", limits.per_agent)
        if 0 < limits.per_token <= tokens:
            raise build_full_error(request, "token", limits.per_token)

    def asked_last(self, run: RunRef) -> Iterable[Entry]:
        """What a session asked people, the newest first."""
        self._forget()
        asked = (entry for entry in reversed(self._entries.values()) if entry.was_open)
        return (entry for entry in asked if entry.request.run.is_in_session_of(run))

    def now(self) -> datetime:
        """The time."""
        return self._clock()

    def bind(self, copy: Copy, keep: timedelta = _KEPT) -> None:
        """Let a copy's handle lead to its request, known for ``keep`` after its deadline.

        Raises:
            RequestNotFoundError: no such request.
        """
        entry = self.get(copy.question_id)
        entry.copies[copy.handle] = copy
        entry.keep = max(entry.keep, keep)
        self._handles[copy.handle] = copy.question_id

    def unbind(self, copy: Copy) -> None:
        """Let a handle lead nowhere."""
        self._handles.pop(copy.handle, None)
        if (entry := self.find(copy.question_id)) is not None:
            entry.copies.pop(copy.handle, None)

    def behind(self, handle: str) -> Entry | None:
        """The request that a handle leads to."""
        question_id = self._handles.get(handle)
        return None if question_id is None else self.find(question_id)

    def refuse_again(self, delivery: str) -> None:
        """Take note of a delivery that is not empty.

        Raises:
            ReplayedCallbackError: it was here in the last ten minutes.
        """
        now = self._clock()
        # They stand in the order in which they came.
        while self._deliveries and next(iter(self._deliveries.values())) <= now:
            del self._deliveries[next(iter(self._deliveries))]
        if delivery in self._deliveries:
            raise ReplayedCallbackError("this callback was handled before")
        if delivery:
            self._deliveries[delivery] = now + _DELIVERIES_KEPT

    def record(self, entry: Entry) -> Record:
        """The request as the ports tell it."""
        request = entry.request.model_copy(update={"expires_at": entry.deadline})
        left = (entry.deadline - self._clock()).total_seconds()
        copies = tuple(entry.copies.values())
        return Record(
            request,
            entry.ending,
            copies,
            left,
            entry.overruled,
            entry.opened_at,
            entry.ended_at,
            entry.use,
            entry.revoked,
        )

    def _forget(self) -> None:
        now = self._clock()
        while self._to_forget and self._to_forget[0][0] <= now:
            _, question_id = heapq.heappop(self._to_forget)
            if (kept := self._entries.get(question_id)) and kept.deadline + kept.keep > now:
                heapq.heappush(self._to_forget, (kept.deadline + kept.keep, question_id))
                continue
            self._waiting.pop(question_id, None)
            entry = self._entries.pop(question_id, None)
            if entry is None:
                continue
            self.free(entry)
            for handle in entry.copies:
                self._handles.pop(handle, None)


def _name(run: RunRef, key: str) -> tuple[str, str, str]:
    return run.agent_id, run.session_id, key
