"""Requests and their resolutions in Redis: one script, and one round trip, for each step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from math import ceil
from typing import Any

from pydantic import TypeAdapter

from sayso.calls import RunRef
from sayso.errors import (
    RequestNotFoundError,
    StoreUnreachableError,
    UnreadableEventError,
)
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.questions.wire import decode_ending, encode
from sayso.rules.floor import Floor
from sayso.rules.rule import RememberedRule, Scope
from sayso.rules.rule_set import RuleBook
from sayso.stores import audit
from sayso.stores.protocols import BookChanged, Hold, Joined, Opened, Record, Settled, Use, Went
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import book_keys, token_key
from sayso.stores.redis.records import (
    expiry,
    known_record,
    moment,
    read_book,
    read_use,
    stored_report,
    stored_request,
)
from sayso.stores.redis.replies import (
    flag,
    names,
    read_asked,
    read_due,
    read_ending,
    read_known,
    read_looked,
    read_opened,
    read_settled,
)
from sayso.stores.redis.rule_store import KnownFloor
from sayso.stores.redis.script import Script
from sayso.stores.session_state import session_key, short_key
from sayso.stores.told import refuse_unfilled
from sayso.stores.topics import branch_topic

_log = logging.getLogger(__name__)

_OPEN, _SETTLE, _GET = Script("open_request"), Script("resolve_request"), Script("get_request")
_SETTLE_LATER, _OVERRULE = Script("schedule_resolution"), Script("revoke_approval")
_LOOK, _DUE, _SHORTEN = (
    Script("poll_requests"),
    Script("list_due_requests"),
    Script("shorten_deadline"),
)
_OF_SESSION, _ASKED_LAST = Script("list_session_requests"), Script("list_recent_requests")
_KEYED, _LEAVE = Script("get_request_by_key"), Script("release_hold")
_TAKE, _REPORT = Script("consume_approval"), Script("report_outcome")
_RULE: TypeAdapter[RememberedRule] = TypeAdapter(RememberedRule)
# The book of a rule, as resolve_request.lua counts them; any other is its session's.
_BOOKS: Mapping[Scope, int] = {"agent": 1, "project": 2}
_AT_ONCE = 500
# No rules ever have this version.
_NO_VERSION = "?"
# Rules are stored and revoked by people: nobody changes them this often while one call is settled.
_MOST_LOOKS = 20


class RedisRequestStore:
    """Requests in Redis, until a day after their expiry."""

    def __init__(self, client: Client, floor: KnownFloor) -> None:
        self._client = client
        self._floor = floor

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
        told = ending is None or audited
        return await self._client.run(
            _OPEN,
            request.question_id,
            encode(request),
            ceil(seconds * 1000),
            inbox,
            *book_keys(request.run),
            _vouched(request, book),
            book or "",
            audit.written(audit.about(request)),
            audit.written(audit.asked(request)) if told else "",
            self._client.keys.channel(branch_topic(request.run)),
            b"" if ending is None else encode(ending),
            audit.written(audit.ended(ending)) if ending is not None and told else "",
            short_key(key) if key else "",
            token_key(request.filed_by),
            read=partial(read_opened, request),
        )

    async def settle(
        self,
        question_id: str,
        ending: Resolution,
        *,
        remember: RememberedRule | None = None,
    ) -> Settled:
        """Record the ending and the rule, then tell those who wait.

        When the answer to this call is lost on the way and the call repeated,
        it is still the first.
        """
        counts = ending
        # Most sessions remember nothing, or nothing new since the call was asked about: then an
        # approval of that very call is recorded in one round trip.
        version, check = ("", 2) if not ending.approves_another_call else (_NO_VERSION, 1)
        for _ in range(_MOST_LOOKS):
            known = self._floor.last
            said, rest = await self._client.run(
                _SETTLE,
                question_id,
                encode(counts),
                int(counts.outcome is Outcome.EXPIRED),
                self._client.token(),
                audit.written(audit.ended(counts)),
                int(counts.outcome in (Outcome.APPROVED, Outcome.ANSWERED)),
                *_remembered(remember if counts is ending else None),
                check if counts.approves_a_call else 0,
                version,
                known.version,
                read=read_settled,
            )
            if said != b"changed":
                settled = await self._settled(question_id, counts, said, rest)
                forbidden = settled.first and counts is not ending
                return replace(settled, first=False, forbidden=True) if forbidden else settled
            request, book = self._client.read(rest, partial(self._read_changed, known))
            counts, version, check = request.ruled(ending, book), book.version, 1
        raise StoreUnreachableError("the session's rules kept changing: nothing was decided")

    async def settle_later(
        self, question_id: str, ending: Resolution, *, seconds: float
    ) -> Resolution | None:
        """Let the request end with this in so many seconds, unless another refusal comes first."""
        if ending.approves_a_call:
            raise ValueError("an approval cannot be foreseen: a rule may forbid it by then")
        said = await self._client.run(
            _SETTLE_LATER,
            question_id,
            encode(ending),
            audit.written(audit.ended(ending)),
            ceil(seconds * 1000),
            read=read_ending,
        )
        if said == 0:
            raise RequestNotFoundError(question_id)
        return None if isinstance(said, int) else said

    async def overrule(self, question_id: str, denial: Resolution) -> Resolution:
        """Put a denial in the place of a recorded approval of a call."""
        if denial.approves_a_call:
            raise ValueError("only a denial overrules")
        facts = audit.written(audit.overruled(denial))
        said = await self._client.run(
            _OVERRULE, question_id, encode(denial), facts, read=read_ending
        )
        if said == 0:
            raise RequestNotFoundError(question_id)
        if not isinstance(said, int):
            return said
        raise ValueError(f"request {question_id!r} has not ended yet")

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request."""
        return await self._client.run(_GET, question_id, read=partial(read_known, question_id))

    async def get_by_key(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key."""
        holding = (0, "", "") if hold is None else (1, hold.waiter, hold.inbox)
        words = (session_key(run), short_key(key), *holding)
        return await self._client.run(_KEYED, *words, read=_read_found)

    async def release_hold(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it."""
        written, facts = b"", b""
        if ending is not None:
            written, facts = encode(ending), audit.written(audit.ended(ending))
        return await self._client.run(_LEAVE, question_id, waiter, written, facts, read=flag)

    async def poll(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, Resolution | UnreadableEventError | None]:
        """The endings recorded so far; the inbox is rung for the open ones from now on.

        A request rings the eight inboxes that looked last.
        """
        if not question_ids:
            return {}
        return await self._client.run(
            _LOOK, inbox, *question_ids, read=partial(read_looked, question_ids)
        )

    async def expire_due(self) -> float | None:
        """End all requests whose time is over; the seconds until the next one."""
        while True:
            now, left, overdue = await self._client.run(_DUE, _AT_ONCE, read=read_due)
            if not overdue:
                return None if left < 0 else left / 1000
            await asyncio.gather(*(self._end(*one, now) for one in overdue))

    async def shorten_deadline(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier; when it expires."""
        deadline = await self._client.run(_SHORTEN, question_id, ceil(seconds * 1000), read=int)
        if not deadline:
            raise RequestNotFoundError(question_id)
        return moment(deadline)

    async def list_recent(self, run: RunRef) -> Sequence[UserInputRequest]:
        """What the run's session asked people last, the newest first."""
        return await self._client.run(_ASKED_LAST, session_key(run), read=read_asked)

    async def list_requests(self, run: RunRef | None = None) -> Sequence[Record]:
        """The open requests, the first to expire first; with a run, those of its session."""
        if run is not None:
            records = await self._records(await self._of_session(run))
            return sorted(records, key=lambda record: record.request.expires_at)
        question_ids = await self._client.command(
            "ZRANGE", self._client.keys.due, 0, -1, read=names
        )
        return await self._records(question_ids)

    async def consume_approval(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once."""
        over = round(until.timestamp() * 1000)
        words = (question_id, key, over, audit.written(audit.taken()))
        return await self._client.run(_TAKE, *words, read=partial(_use, question_id))

    async def report_outcome(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts."""
        written, facts = stored_report(went, note), audit.written(audit.reported(went, note))
        words = (question_id, written, facts)
        return await self._client.run(_REPORT, *words, read=partial(_use, question_id))

    def _read_changed(self, known: Floor, rest: Sequence[Any]) -> tuple[UserInputRequest, RuleBook]:
        """The request, and the rules that changed since it was looked at."""
        request, deadline, rules = rest
        stored = stored_request(request, deadline)
        floor = self._floor.told(known, rules[1], rules[2])
        return stored, read_book(rules, floor.of(stored.run.agent_id))

    async def _settled(
        self, question_id: str, offered: Resolution, said: bytes, rest: Sequence[Any]
    ) -> Settled:
        match said:
            case b"first":
                return Settled(offered, first=True, heard=rest[0])
            case b"known":
                return Settled(decode_ending(rest[0]), first=False)
            case b"late":
                over = await self.settle(question_id, expiry(question_id, *rest))
                return Settled(over.ending, first=False, heard=over.heard)
            case b"early":
                raise ValueError(f"request {question_id!r} has not expired yet")
            case b"homeless":
                raise ValueError(f"request {question_id!r} names no project to remember it for")
            case _:
                raise RequestNotFoundError(question_id)

    async def _of_session(self, run: RunRef) -> list[bytes]:
        """The ids of its open requests; what is opened or ended meanwhile may be among them.

        Each step looks at some of all that are open, and others get their turn in between.
        """
        found: dict[bytes, None] = {}
        cursor: bytes | str = "0"
        while True:
            cursor, *some = await self._client.run(
                _OF_SESSION, session_key(run), cursor, _AT_ONCE, read=names
            )
            found.update(dict.fromkeys(some))
            if cursor == b"0":
                return list(found)

    async def _records(self, question_ids: Sequence[bytes]) -> list[Record]:
        found: list[Record | None] = []
        for start in range(0, len(question_ids), _AT_ONCE):
            some = question_ids[start : start + _AT_ONCE]
            found += await asyncio.gather(*(self._readable(one.decode()) for one in some))
        return [record for record in found if record is not None and record.ending is None]

    async def _readable(self, question_id: str) -> Record | None:
        try:
            return await self.get(question_id)
        except UnreadableEventError as error:
            _log.warning("an open request is left out: %s", error)
            return None

    async def _end(self, question_id: str, request: bytes, now: int) -> None:
        try:
            await self.settle(question_id, expiry(question_id, request, now))
        except RequestNotFoundError:
            return  # its time to live ended in this moment


def _vouched(request: UserInputRequest, book: str | None) -> int:
    """0: no rules were looked at; 1: their version is checked; 2: and kept for the approval.

    A version vouches for the call that is asked about, and for no other: where the call was made
    with other arguments, whoever settles looks at the rules.
    """
    if book is None:
        return 0
    return 2 if getattr(request, "original_arguments", None) is None else 1


def _remembered(rule: RememberedRule | None) -> tuple[str, bytes, int, int, bytes | str]:
    if rule is None:
        return "", b"", 0, 0, ""
    return (
        rule.rule_id,
        _RULE.dump_json(rule, by_alias=True),
        int(rule.expires_at.timestamp() * 1e3),
        _BOOKS.get(rule.scope, 0),
        audit.written(audit.stored(rule)),
    )


def _read_found(reply: list[Any]) -> Record | None:
    if reply == []:
        return None
    question_id, now, *fields = reply
    return known_record(question_id.decode(), fields, now)


def _use(question_id: str, said: int | list[bytes | None]) -> Use | None:
    if said == 0:
        raise RequestNotFoundError(question_id)
    if isinstance(said, int):
        flag(said)
        return None
    return read_use(said)
