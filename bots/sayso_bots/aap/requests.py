"""A submission as a permission of the core, and a permission as the protocol tells it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sayso.always.widths import derive
from sayso.calls import RunRef, ToolCall
from sayso.digests import shown_and_digest
from sayso.events import Outcome, Resolution
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.stores.ports import Record, Use
from sayso_bots.aap.instances import Instance
from sayso_bots.aap.submissions import Submission

RETENTION = timedelta(hours=168)
"""How long after its end a request, and what names it, is known at least."""

# With a webhook it is known until a day after that was delivered or given up, which takes as long.
KEEP = RETENTION + timedelta(hours=25)

QUEUE = "aap-ended"
"""The errands that the ends of requests leave."""

PENDING, APPROVED = "pending", "approved"
# How the protocol names the ends of the core. It has no word for what could be shown nowhere:
# nobody decided on it, so it was withdrawn, and the note says why.
_STATUS = {
    Outcome.APPROVED: APPROVED,
    Outcome.DENIED: "denied",
    Outcome.EXPIRED: "expired",
    Outcome.CANCELLED: "cancelled",
    Outcome.UNDELIVERABLE: "cancelled",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the provider keeps with a request, in the core's ``kept``."""

    instance_id: str
    text: str
    digest: str
    lives: timedelta
    valid: timedelta

    def written(self) -> str:
        """It as a text."""
        return json.dumps(
            {
                "aap": self.instance_id,
                "text": self.text,
                "digest": self.digest,
                "lives": _milliseconds(self.lives),
                "valid": _milliseconds(self.valid),
            },
            ensure_ascii=False,
        )


def filed_by(instance_id: str) -> str:
    """How a request says of which instance it is, beside what is kept with it."""
    return f"aap:{instance_id}"


def kept_in(record: Record) -> Kept | None:
    """What is kept with a request; None where it came in by another door."""
    request = record.request
    if not isinstance(request, PermissionRequestEvent) or not request.kept:
        return None
    found: dict[str, Any] = json.loads(request.kept)
    if "aap" not in found:
        return None
    return Kept(
        found["aap"],
        found["text"],
        found["digest"],
        timedelta(milliseconds=found["lives"]),
        timedelta(milliseconds=found["valid"]),
    )


def permission_of(
    submission: Submission, instance: Instance, request_id: str
) -> PermissionRequestEvent:
    """The permission that a submission asks for; how long it lives is still to be said.

    Whose it is, the credential alone says. What the adapter claims of its
    session tells the calls of one instance apart, and nothing else.
    """
    session = f"aap:{instance.id}" + (f":{submission.session}" if submission.session else "")
    arguments, digest = shown_and_digest(submission.arguments)
    call = ToolCall(submission.tool, arguments, request_id)
    # Another number than the one that is shown may run: no rule is made of such a call.
    rules = derive(call, digest=digest) if submission.as_held is None else ()
    return PermissionRequestEvent(
        permission_id=request_id,
        source_name=instance.agent,
        run=RunRef(
            instance.agent,
            session,
            run_id=submission.session and session,
            project=submission.project,
            is_named=bool(submission.session),
        ),
        filed_by=filed_by(instance.id),
        function_name=submission.tool,
        description=submission.reasoning,
        call_id=request_id,
        arguments=arguments,
        arguments_digest=digest,
        original_arguments=None if submission.as_held is None else dict(submission.as_held),
        suggested_rules=rules,
        fixed=True,
        where=submission.where,
        claims=submission.claims,
    )


def with_life(request: PermissionRequestEvent, kept: Kept, now: datetime) -> PermissionRequestEvent:
    """The permission with what is kept with it, and the time that says it has to live."""
    return request.model_copy(update={"expires_at": now + kept.lives, "kept": kept.written()})


def told(record: Record, kept: Kept) -> str:
    """The request as JSON: what was submitted to the letter, and how it stands."""
    status = PENDING if record.ending is None else _STATUS[record.ending.outcome]
    opened = _known(record.opened_at)
    own: dict[str, Any] = {
        "id": record.request.question_id,
        "status": status,
        "created_at": moment(opened),
        "deadline_at": moment(opened + kept.lives),
    }
    if record.ending is not None:
        own["decision"] = _decision(record, record.ending, kept)
    if record.use is not None and record.use.at is not None:
        own["consumption"] = _consumption(record.use, max(record.use.at, decided_at(record)))
    return kept.text[:-1] + "," + json.dumps(own, ensure_ascii=False)[1:]


def status_of(record: Record) -> str:
    """How the protocol says that a request stands."""
    return PENDING if record.ending is None else _STATUS[record.ending.outcome]


def valid_until(record: Record, kept: Kept) -> datetime:
    """When the approval of a request is over, by the store's clock."""
    return decided_at(record) + kept.valid


def decided_at(record: Record) -> datetime:
    """When a request has ended: never before it was opened, as clients insist.

    A store that took over from another one may have a clock that is behind.
    """
    return max(_known(record.ended_at), _known(record.opened_at))


def moment(at: datetime) -> str:
    """A time as the protocol writes it, all of one precision."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _decision(record: Record, ending: Resolution, kept: Kept) -> dict[str, str]:
    decision = {"status": status_of(record), "decided_at": moment(decided_at(record))}
    if note := _note(ending):
        decision["note"] = note
    if decision["status"] == APPROVED:
        decision["expires_at"] = moment(valid_until(record, kept))
    return decision


def _note(ending: Resolution) -> str:
    asks = isinstance(ending, PermissionResponseEvent) and ending.asks_for_changes
    return f"Changes were asked for: {ending.reason}" if asks else ending.reason.strip()


def _consumption(use: Use, at: datetime) -> dict[str, Any]:
    told: dict[str, Any] = {"consumed_at": moment(at)}
    if (report := use.report) is not None:
        outcome = {"status": report.went, "reported_at": moment(max(report.at, at))}
        if report.note:
            outcome["note"] = report.note
        told["outcome"] = outcome
    return told


def _known(at: datetime | None) -> datetime:
    if at is None:
        raise TypeError("the store says of each request of ours when it was opened and ended")
    return at


def _milliseconds(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)
