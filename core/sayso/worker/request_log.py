"""The log of a worker: one line for each thing that happens to a request.

Lines hold ids, names and places, never arguments, patterns or secrets. What others wrote in them
is on one line. ``record.fields`` has the fields for formatters of one's own.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from functools import lru_cache

from sayso.chats.places import Press
from sayso.events import Outcome, Resolution, UserInputRequest
from sayso.seldom import Seldom
from sayso.stores.audit import RefusalKind
from sayso.stores.protocols import Job, Record
from sayso.text.agents import printable
from sayso.text.visible import one_line

_log = logging.getLogger("sayso.requests")

_PLAIN = re.compile(r"[^\s\"'=\\]+")
_MAX_ID = 200
# Names come again and again, and looking for secrets in them takes long.
_name = lru_cache(maxsize=4_096)(printable)


def log_job(job: Job, record: Record) -> None:
    """Log what a job says of its request: it was opened, or resolved."""
    if not _log.isEnabledFor(logging.INFO):
        return
    request = record.request
    if job.kind == "ask":
        _log_event("request opened", request, _about(request))
    elif record.ending is not None:
        _log_resolved(request, record.ending, record)


def log_posted(request: UserInputRequest, place: object) -> None:
    """Log that a card of the request stands in a place."""
    _log_event("card posted", request, {"place": str(place)})


def log_not_posted(request: UserInputRequest, place: object, why: str) -> None:
    """Log that no card of the request could be posted in a place."""
    fields = {"place": str(place), "reason": why}
    _log_event("card not posted", request, fields, logging.WARNING)


def log_refused(
    request: UserInputRequest | str,
    why: RefusalKind,
    *,
    by: str,
    place: str,
    choice: str,
    rule_id: str = "",
) -> None:
    """Log that somebody's click on a card or a list, or answer elsewhere, was refused."""
    fields = {"reason": why, "by": by, "place": place, "choice": choice, "rule_id": rule_id}
    _log_event("interaction refused", request, fields)


class UnknownLog:
    """The log of clicks on cards whose requests are not known, or no longer: each said seldom."""

    def __init__(self) -> None:
        self._seldom = Seldom(_log, level=logging.INFO)

    def say(self, press: Press) -> None:
        """Log the click, or count it where its presser had one in that place a moment ago."""
        fields = {"reason": "unknown", "by": press.actor, "place": str(press.message.place)}
        shown = _bound_fields("-", fields)
        source = f"{shown['by']} in {shown['place']}"
        event = "interaction refused"
        extra = {"event": event, "fields": shown}
        self._seldom.say(f"{event} request_id=- reason=unknown", source, extra=extra)


def log_revoked(request_id: str, rule_id: str, *, by: str) -> None:
    """Log that a rule was taken back which a request stored."""
    _log_event("rule revoked", request_id, {"rule_id": rule_id, "by": by})


def _log_resolved(request: UserInputRequest, ending: Resolution, record: Record) -> None:
    by, began, over = ending.decided_by or "", record.opened_at, record.ended_at
    fields: dict[str, str | float] = {"outcome": ending.outcome.value, "by": by}
    if by:
        fields["platform"] = by.partition(":")[0]
    if began is not None and over is not None:
        fields["seconds"] = round((over - began).total_seconds(), 3)
    if ending.outcome is Outcome.UNDELIVERABLE:
        # Any other reason is a person's, or of an agent's policy.
        fields["reason"] = ending.reason
    _log_event("request resolved", request, {**fields, **_about(request)})
    if ending.rule_kept:
        _log_event("rule stored", request, {"rule_id": ending.rule_kept, "by": by})


def _about(request: UserInputRequest) -> dict[str, str]:
    try:
        subject = request.subject
    except TypeError:
        subject = ""  # a kind that does not say
    run = request.run
    return {"agent": run.agent_id, "session": run.session_id, "tool": subject}


def _log_event(
    event: str,
    request: UserInputRequest | str,
    fields: Mapping[str, str | float],
    level: int = logging.INFO,
) -> None:
    if not _log.isEnabledFor(level):
        return
    request_id = request.question_id if isinstance(request, UserInputRequest) else request
    shown = _bound_fields(request_id, fields)
    text = " ".join(f"{name}={_as_text(value)}" for name, value in shown.items())
    _log.log(level, "%s %s", event, text, extra={"event": event, "fields": shown})


def _bound_fields(request_id: str, fields: Mapping[str, str | float]) -> Mapping[str, str | float]:
    return {"request_id": one_line(request_id, _MAX_ID)} | {
        name: _name(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value != ""
    }


def _as_text(value: str | float) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
