"""Rule store: what sessions, agents and projects remember, and the guardrails of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sayso.calls import RunRef
from sayso.rules.floor import Floor
from sayso.rules.rule import RememberedRule
from sayso.rules.rule_set import RuleBook


@dataclass(frozen=True, slots=True)
class BookChanged:
    """Nothing was done: the session remembers other rules than were looked at."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """The actor who revoked the rule that a request had stored, and the time."""

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


class RuleStore(Protocol):
    """The rules of sessions. Raises StoreUnreachableError like RequestStore."""

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

    async def set_guardrails(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor under all policies; return the version that is the floor now.

        It is part of every session's rules: ``book`` has it, and its version is in the book's.
        With ``unless_other``, another floor that is there stays. One that
        denies nothing is laid only where there is one that does. It stays for half a
        year after it was last laid, whether or not a server is there.
        """
        ...
