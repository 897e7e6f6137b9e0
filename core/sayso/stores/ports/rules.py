"""What sessions remember, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from sayso.calls import RunRef
from sayso.rules.book import RuleBook
from sayso.rules.rule import RememberedRule
from sayso.stores.audit import AuditEntry, AuditPage, Facts, RefusalKind


@dataclass(frozen=True, slots=True)
class BookChanged:
    """Nothing was done: the session remembers other rules than were looked at."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """Who took back what a request had stored, and when."""

    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A remembered rule with what it belongs to.

    ``session_id`` is empty for all of an agent's sessions; those on one ``project``, where
    that is named. ``question_id`` is the request that stored it, where that was kept.
    """

    remembered: RememberedRule
    agent_id: str
    session_id: str = ""
    project: str = ""
    question_id: str = field(default="", compare=False)


class Rules(Protocol):
    """What sessions remember. Raises StoreUnreachableError like Store."""

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run, in the order they were stored.

        Those of its agent and of its project are among them.

        Without those that expired or were revoked; ``uses`` are not counted here.
        """
        ...

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules by the run, in the audit too; False and nothing when one is over.

        It is over when it was revoked or has expired. All are counted in one atomic step, or
        none. With ``book``, the use also counts only while that is the current version of the
        run's rules.
        ``digest`` is that of the call's arguments.
        """
        ...

    async def all(self) -> Sequence[KeptRule]:
        """All rules that have not expired, with how often and when last they were used."""
        ...

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back, at once for running sessions too; False when there is none.

        Whoever looks at the request that stored it is told, and so are its cards.
        """
        ...


class Audit(Protocol):
    """What happened. Raises StoreUnreachableError like Store.

    The other ports write it, except for what they have no part in: refused presses, and
    what was decided without a question. Decisions, see ``stores.audit.is_decision``, are kept
    until they are trimmed. Of the rest each agent has its own ``ACTIVITY_ENTRIES`` newest or so.
    """

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """Note that a press on a known request was refused; False where it is not noted.

        However often somebody presses, they push nothing else out: an actor is noted
        once for each kind of refusal, and a request has at most ``REFUSALS_KEPT`` of them.
        """
        ...

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """Read the last entries, at most ``count``, oldest first.

        Args:
            count: how many at most.
            since: only entries of this moment or later.
            until: only entries before this moment.
            wanted: only entries of which this is true.
        """
        ...

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """Read the entries from a moment on, oldest first; the next page begins where it ends.

        Whoever reads page after page, also as more is written, reads each entry once. Entries
        of the store's current moment are left to the next page.

        Args:
            since: the first moment; None for the store's current one, and no entries.
            count: how many to read; those of the last one's moment come with it.
        """
        ...

    async def trim(self, keep: timedelta) -> None:
        """Drop the decisions that are older than this by the store's clock."""
        ...

    async def note(self, facts: Facts) -> None:
        """Write an entry on what was decided without a question, see ``stores.audit.ruled``.

        It may be there twice where the store's reply is lost on the way.
        """
        ...
