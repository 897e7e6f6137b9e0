"""A card in each of its states, alone and with others: what the golden files are made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.values import Value

_NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
_ALLOW = Choice("allow", "Allow", "primary", needs_sight=True)
_ALWAYS = Choice(
    "always",
    "Always",
    stores="bash with command “git status” (digest 0123456789ab) in this session, for 1 day",
    needs_sight=True,
    lasts=timedelta(days=1),
)
_DENY = Choice("deny", "Deny", "danger")
_MORE = (
    Choice("deny-reason", "Deny with a reason…"),
    Choice("edit", "Edit arguments…", needs_sight=True),
    Choice(
        "window",
        "Whole tool, 15 min",
        stores="every call of bash in this session, for 15 minutes",
        scope="tool-window",
        warning="it allows everything that the tool can do",
        needs_sight=True,
    ),
    Choice("deny-always", "Always deny", "danger", stores="never bash with these arguments"),
)
_BODY = CardBody(
    title="bash",
    description="Look at the work tree & <tell>",
    values=(Value("command", "git status", "shell"), Value("env", "A=1\nB=<2>"), Value("n", "2")),
    question="May this tool run?",
    digest="0123456789ab",
    facts=(("Not shown", "1 value that looks secret"),),
    details=(("Source", "planner"), ("Session", "s-42")),
    choices=(_ALLOW, _ALWAYS, _DENY),
    more=_MORE,
)
_OPEN = Card(
    handle="h4ndle-of-a-card-1",
    body=_BODY,
    asker="deploy-bot › researcher",
    expires_at=_NOW + timedelta(minutes=10),
    limit=1_000,
    reveal_limit=5_000,
    lines=20,
)
_LINES = "".join(f"line {number} of the text\n" for number in range(80))
_LONG = replace(_BODY, values=(*_BODY.values, Value("text", _LINES)))
_CUT = replace(_OPEN, body=_LONG)
_BY: dict[str, Any] = {"by": "slack:U0ALICE", "by_name": "Alice"}


def _ended(outcome: str, **how: Any) -> Card:
    return replace(_OPEN, state=replace(Ended(outcome, _NOW + timedelta(minutes=1)), **how))


def _line(number: int, card: Card) -> Card:
    return replace(card, handle=f"h4ndle-of-a-card-{number}", number=number, count=3)


ALONE: dict[str, Card] = {
    "open": _OPEN,
    "open-without-more": replace(_OPEN, body=replace(_BODY, more=(), facts=(), description="")),
    "open-with-more": replace(_OPEN, state=Open(more=True)),
    "open-with-a-notice": replace(_OPEN, state=Open(notice="Bob is writing a reason.")),
    "second-step": _OPEN.confirming(_ALWAYS),
    "second-step-with-a-warning": _OPEN.confirming(_MORE[2]),
    "cut": _CUT,
    "cut-and-seen": replace(_CUT, revealed=True),
    "cut-and-too-long": replace(_CUT, reveal_limit=1_200),
    "approved": _ended("approved", **_BY),
    "approved-always": _ended("approved", **_BY, stored=_ALWAYS.stores),
    "approved-with-changes": _ended(
        "approved", **_BY, facts=(("Runs with", "command: git diff\nb: 2"), ("New digest", "ab12"))
    ),
    "denied": _ended("denied", by="telegram:4242"),
    "denied-with-a-reason": _ended("denied", **_BY, reason="Not on a Friday *please*"),
    "answered": _ended("answered", **_BY, facts=(("Answer", "blue"),)),
    "expired": _ended("expired", reason="Nobody answered in time."),
    "cancelled": _ended("cancelled", reason="the agent stopped waiting"),
    "undeliverable": _ended("undeliverable", reason="no route leads anywhere"),
    "superseded": _ended("superseded"),
    "ended-and-cut": replace(_CUT, state=Ended("approved", _NOW, **_BY)),
}

TOGETHER: dict[str, tuple[Card, ...]] = {
    "three-open": tuple(_line(number, _OPEN) for number in (1, 2, 3)),
    "three-with-a-second-step": (
        _line(1, _OPEN),
        _line(2, _OPEN.confirming(_ALWAYS)),
        _line(3, _OPEN),
    ),
    "three-with-more": (
        _line(1, _OPEN),
        _line(2, replace(_OPEN, state=Open(more=True))),
        _line(3, _OPEN),
    ),
    "three-one-decided": (
        _line(1, ALONE["denied-with-a-reason"]),
        _line(2, _OPEN),
        _line(3, replace(_OPEN, asker="deploy-bot")),
    ),
    "three-one-cut": (_line(1, replace(_CUT, limit=200)), _line(2, _OPEN), _line(3, _OPEN)),
    "three-decided": (
        _line(1, ALONE["approved"]),
        _line(2, ALONE["approved-with-changes"]),
        _line(3, ALONE["expired"]),
    ),
}
