"""The rules that sessions remember, in the memory of one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sayso.calls import Project, RunRef
from sayso.clock import Clock
from sayso.rules.floor import Floor, written_floor
from sayso.rules.rule import RememberedRule
from sayso.rules.rule_set import RuleBook
from sayso.stores import audit
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Records
from sayso.stores.protocols import KeptRule, Revoked

# A book is kept for a day after its last rule.
_BOOK_KEPT = timedelta(days=1)

# The agent, then the session or the project, unless the rules are those of all its sessions.
_BookName = tuple[str, str | None, str | Project | None]


@dataclass(slots=True)
class _Kept:
    """A rule, the facts of the request that stored it, and the book it stands in."""

    rule: RememberedRule
    about: audit.Facts
    book: _BookName


@dataclass(slots=True)
class _Book:
    version: str
    until: datetime


class MemoryRuleStore:
    """The rules of sessions, agents and projects until they expire."""

    def __init__(
        self, records: Records, audit: MemoryAudit, outbox: MemoryOutbox, clock: Clock
    ) -> None:
        self._records = records
        self._audit = audit
        self._outbox = outbox
        self._clock = clock
        self._books: dict[_BookName, _Book] = {}
        self._kept: dict[str, _Kept] = {}
        self._revoked: dict[str, datetime] = {}
        self._floor = Floor()

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run, its agent's and its project's among them."""
        return self.read(run)

    def read(self, run: RunRef) -> RuleBook:
        """The rules that count for the run at this moment."""
        now = self._clock()
        names = _names(run)
        rules = (
            replace(kept.rule, uses=0, last_used_at=None)
            for kept in self._kept.values()
            if kept.book in names and kept.rule.expires_at > now
        )
        floor = self._floor.of(run.agent_id)
        return RuleBook(self.version(run), tuple(rules), floor=floor)

    async def set_guardrails(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor; the version that is the floor now."""
        written_floor(floor)
        known = self._floor
        if floor.sections if not known.version else not unless_other:
            self._floor = floor
        return self._floor.version

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules by the run, unless one is over."""
        now = self._clock()
        found = [self._kept.get(rule_id) for rule_id in rule_ids]
        there = [one for one in found if one is not None and one.book in _names(run)]
        if len(there) < len(found) or any(one.rule.expires_at <= now for one in there):
            return False
        if book is not None and book != self.version(run):
            return False
        for rule_id, kept in zip(rule_ids, there, strict=True):
            used = replace(kept.rule, uses=kept.rule.uses + 1, last_used_at=now)
            self._kept[rule_id] = replace(kept, rule=used)
            self._audit.write(kept.about, audit.used(run, rule_id, digest))
        return True

    async def all(self) -> Sequence[KeptRule]:
        """All rules that have not expired, with their uses."""
        now = self._clock()
        return [
            KeptRule(
                kept.rule,
                kept.book[0],
                kept.book[1] or "",
                kept.about.get("project", "") if kept.book[2] else "",
                kept.about.get("question_id", ""),
            )
            for kept in self._kept.values()
            if kept.rule.expires_at > now
        ]

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back, at once for running sessions too."""
        kept = self._kept.get(rule_id)
        if kept is None or kept.rule.expires_at <= self._clock():
            return False
        del self._kept[rule_id]
        self._revoked[rule_id] = kept.rule.expires_at + _BOOK_KEPT
        self._books[kept.book].version = f"without {rule_id}"
        self._audit.write(kept.about, audit.revoked(rule_id, by))
        if (entry := self._records.find(kept.about.get("question_id", ""))) is not None:
            entry.revoked = Revoked(by, self._clock())
            self._outbox.put_job("end", entry.request.question_id, again=True)
        return True

    def remember(self, run: RunRef, rule: RememberedRule, about: audit.Facts) -> None:
        """Store a rule in its book, which has another version from then on."""
        self._keep(_Kept(rule, about, _home(run, rule)))
        self._audit.write(about, audit.stored(rule))

    def version(self, run: RunRef) -> str:
        """The version of what counts for the run, and of the floor."""
        books = (self._books.get(name) for name in _names(run))
        own = "+".join(book.version for book in books if book is not None)
        return f"{own}~{self._floor.version}" if self._floor.version else own

    def _keep(self, kept: _Kept) -> None:
        self._forget()
        rule_id, until = kept.rule.rule_id, kept.rule.expires_at + _BOOK_KEPT
        known = self._books.get(kept.book)
        self._books[kept.book] = _Book(rule_id, max(until, known.until) if known else until)
        self._kept[rule_id] = kept

    def _forget(self) -> None:
        now = self._clock()
        self._revoked = {key: until for key, until in self._revoked.items() if until > now}
        self._books = {name: book for name, book in self._books.items() if book.until > now}
        self._kept = {key: kept for key, kept in self._kept.items() if kept.book in self._books}


def check_has_a_home(run: RunRef, rule: RememberedRule | None) -> None:
    """Return when the run has the book that the rule is for.

    Raises:
        ValueError: the rule is for a project, and the run names none.
    """
    if rule is not None and rule.scope == "project" and not run.project:
        raise ValueError("the request names no project to remember it for")


def _names(run: RunRef) -> tuple[_BookName, ...]:
    shared = (run.agent_id, run.session_id, None), (run.agent_id, None, None)
    return (*shared, (run.agent_id, None, run.project)) if run.project else shared


def _home(run: RunRef, rule: RememberedRule) -> _BookName:
    match rule.scope:
        case "agent":
            return run.agent_id, None, None
        case "project":
            return run.agent_id, None, run.project
    return run.agent_id, run.session_id, None
