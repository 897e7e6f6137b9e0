"""The audit: what was asked, decided and remembered, without any arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic_core import to_json

from sayso.calls import RunRef
from sayso.events import Resolution, UserInputRequest
from sayso.rules.rule import RememberedRule
from sayso.text.secrets import redacted_text
from sayso.text.visible import shortened, visible

AuditKind = Literal[
    "asked",
    "approved",
    "denied",
    "answered",
    "expired",
    "cancelled",
    "undeliverable",
    "overruled",
    "used",
    "ran",
    "failed",
    "rule_stored",
    "rule_used",
    "rule_revoked",
    "rule_allowed",
    "rule_denied",
    "press_refused",
]

RefusalKind = Literal["not_approver", "own_request", "late", "foreign", "replay", "not_offered"]
"""Why a press was refused.

The presser is no approver, or asked for it; it had ended; the button belongs to another
message; the very same callback was here before; the card has no such button now.
"""

KEPT_DECISIONS = timedelta(days=365)
"""The time that decisions are kept unless a worker is told otherwise."""

ACTIVITY_ENTRIES = 5_000
"""About how many entries of an agent's activity are kept, the newest."""

KEPT_ACTIVITY = timedelta(days=90)
"""The time that an agent's activity is kept after its last entry."""

REFUSALS_KEPT = 20
"""How many refused presses of one request are noted; of each kind, one for each actor."""

_LASTING = frozenset(
    {
        "overruled",
        "used",
        "ran",
        "failed",
        "rule_stored",
        "rule_revoked",
        "press_refused",
    }
)
# Decisions where a person made them: a policy says them as often as an agent asks.
_ANSWERS = frozenset({"approved", "denied", "answered"})
# An operator who withdraws a request; its agent does so as its program or its token.
_OPERATOR = "cli:"

_REASON = 300
# So much of a reason is read: no secret that is cut there is among what is kept.
_READ = 20_000
_CHOICE = 20


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that happened. Arguments and patterns are never in it, only digests.

    ``changed_digest`` is that of the arguments a person changed them into.

    ``effect`` and ``scope`` are those of a rule; ``by`` is the actor where
    there is one. ``refusal`` is why a press was refused, ``place`` where it was made.
    """

    at: datetime
    kind: AuditKind
    agent_id: str = ""
    session_id: str = ""
    project: str = ""
    subject: str = ""
    digest: str = ""
    changed_digest: str = ""
    question_id: str = ""
    by: str = ""
    choice: str = ""
    reason: str = ""
    rule_id: str = ""
    effect: str = ""
    scope: str = ""
    refusal: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries in the order of time, and the moment to go on from: all before it are read."""

    entries: Sequence[AuditEntry]
    until: datetime


Facts = Mapping[str, str]
"""Some fields of an entry."""


def is_decision(facts: Facts) -> bool:
    """Return whether an entry of these facts is kept as a decision, by time alone.

    Everything else is the activity of an agent, which it can bring about without a person.
    """
    kind, by = facts.get("kind"), facts.get("by", "")
    if kind == "cancelled":
        return by.startswith(_OPERATOR)
    return kind in _LASTING or (kind in _ANSWERS and bool(by))


def about(request: UserInputRequest) -> Facts:
    """What all entries on a request have in common."""
    return {
        **_of(request.run),
        "subject": _subject(request),
        "digest": request.digest_of_arguments,
        "question_id": request.question_id,
    }


def asked(request: UserInputRequest) -> Facts:
    """A request was opened."""
    return _said(kind="asked", reason=_told(request.why_asked))


def ended(ending: Resolution) -> Facts:
    """How a request ended."""
    return _said(
        kind=ending.outcome.value,
        by=ending.decided_by or "",
        choice=ending.chosen,
        reason=_told(ending.reason),
        changed_digest=ending.digest_of_changes,
    )


def _told(reason: str) -> str:
    """A reason without secrets, whoever wrote it."""
    return reason and shortened(visible(redacted_text(reason[:_READ]), one_line=True), _REASON)


def overruled(denial: Resolution) -> Facts:
    """An approval was denied by the agent itself, when the call was to run."""
    return {**ended(denial), "kind": "overruled"}


def taken() -> Facts:
    """An approval was used."""
    return _said(kind="used")


def reported(went: str, note: str) -> Facts:
    """How the call went that ran on an approval, as whoever ran it says."""
    return _said(kind="failed" if went == "failed" else "ran", reason=_told(note))


def stored(rule: RememberedRule) -> Facts:
    """A rule was stored."""
    return _rule("rule_stored", rule.rule_id, rule.stored_by, rule)


def used(run: RunRef, rule_id: str, digest: str) -> Facts:
    """A remembered rule decided a call of a run."""
    return {
        "kind": "rule_used",
        "rule_id": rule_id,
        **_of(run),
        "digest": digest,
        "question_id": "",
    }


def ruled(run: RunRef, subject: str, digest: str, line: str, *, allowed: bool) -> Facts:
    """A line of a policy decided on a call, and nobody was asked."""
    return _said(
        kind="rule_allowed" if allowed else "rule_denied",
        **_of(run),
        subject=subject,
        digest=digest,
        reason=shortened(visible(line, one_line=True), _REASON),
    )


def revoked(rule_id: str, by: str) -> Facts:
    """A remembered rule was taken back."""
    return _said(kind="rule_revoked", rule_id=rule_id, by=by)


def refused(refusal: RefusalKind, *, by: str, place: str, choice: str) -> Facts:
    """A press was refused, and consumed nothing."""
    chosen = shortened(visible(choice, one_line=True), _CHOICE)
    return _said(kind="press_refused", refusal=refusal, by=by, place=place, choice=chosen)


def entry(at: datetime, *facts: Facts) -> AuditEntry:
    """The entry made of these facts; the later ones count. What is not known is left out."""
    known: dict[str, Any] = {}
    for some in facts:
        known |= {name: some[name] for name in some if name in AuditEntry.__slots__}
    return AuditEntry(at, **known)


def written(facts: Facts) -> bytes:
    """The facts as they are kept; those of a decision say so to the store."""
    return to_json({**facts, "decision": True} if is_decision(facts) else facts)


def _of(run: RunRef) -> Facts:
    of = {"agent_id": run.agent_id, "session_id": run.session_id}
    return {**of, "project": run.project_text} if run.project else of


def _subject(request: UserInputRequest) -> str:
    try:
        return request.subject
    except TypeError:
        return ""  # a kind that does not say; only routes need to know


def _rule(kind: AuditKind, rule_id: str, by: str, rule: RememberedRule) -> Facts:
    return _said(kind=kind, rule_id=rule_id, by=by, effect=rule.effect, scope=rule.scope)


def _said(**facts: str) -> Facts:
    return {name: value for name, value in facts.items() if value}
