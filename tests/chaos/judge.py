"""What must be true when things have calmed down, held against all that was seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chaos.ledger import REQUEST_LOST, Ledger, Told, markers, session_of

from sayso import Outcome
from sayso.events import Resolution
from sayso.questions.structured_input import StructuredInputResponseEvent
from sayso.stores.audit import AuditEntry
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record
from sayso_playground import Playground

GRACE_SECONDS = 2.0
"""How far a wait may overrun its timeout."""

YES = (Outcome.APPROVED, Outcome.ANSWERED)
_BY_PEOPLE = (*YES, Outcome.DENIED)
_ENDINGS = {outcome.value for outcome in Outcome}
_LOST = ("RequestNotFoundError", REQUEST_LOST)
_MOST_ENTRIES = 100_000


Records = Mapping[str, Record | None]


async def records_of(ledger: Ledger, backend: Backend) -> Records:
    """What the store has of every question that was asked."""
    return {question_id: await backend.store.get(question_id) for question_id in ledger.ids}


async def problems(ledger: Ledger, records: Records, backend: Backend) -> list[str]:
    """Everything that must not be; empty when all promises were kept."""
    known = {question_id: record for question_id, record in records.items() if record}
    entries = [e for e in await backend.audit.read(_MOST_ENTRIES) if e.kind in _ENDINGS]
    return [
        *_lost(records, ledger),
        *_endings(known, ledger, entries),
        *_unpressed(known, ledger),
        *_told_otherwise(known, ledger),
        *_observed_otherwise(known, ledger),
        *_late(ledger),
        *(f"an agent met {error}" for error in ledger.broken),
    ]


def answers(records: Records) -> Counter[str]:
    """How many were answered, by where and how."""
    counts: Counter[str] = Counter()
    for record in records.values():
        if record is None or record.ending is None or record.ending.outcome not in _BY_PEOPLE:
            continue
        ending = record.ending
        where = str(getattr(ending, "decided_by", "")).partition(":")[0]
        counts[f"answered in {where or 'no chat, by what is remembered'}"] += 1
        if getattr(ending, "modified_arguments", None) is not None:
            counts["answered with other arguments"] += 1
        if getattr(ending, "choice", "ask") != "ask":
            counts["answered for the next time, too"] += 1
        if isinstance(ending, StructuredInputResponseEvent) and ending.data is not None:
            counts["forms filled in"] += 1
    return counts


def noted(left: Sequence[str], records: Records) -> list[str]:
    """Those of ``live_buttons`` whose numbers the store has: they should have been changed."""
    known = {
        f"{copy.place.platform} {copy.message_id}"
        for record in records.values()
        if record is not None
        for copy in record.copies
    }
    return [one for one in left if " ".join(one.split(" ", 2)[:2]) in known]


def duplicates(playground: Playground, ledger: Ledger) -> int:
    """How many cards stand in a chat besides the first one of their question."""
    questions = Counter(ledger.ids.values())
    in_slack = Counter(
        marker
        for message in playground.slack.messages()
        for marker in set(markers(message.all_text))
    )
    return sum(max(0, in_slack[marker] - questions[marker]) for marker in in_slack)


def _lost(records: Records, ledger: Ledger) -> Iterator[str]:
    for told in ledger.told:
        if told.error in _LOST:
            yield f"{told.marker}: {told.door} was told {told.error}, and no store lost anything"
    heard = {told.marker for told in ledger.told if told.outcome and not told.unasked}
    for question_id, record in records.items():
        if record is None and ledger.ids[question_id] in heard:
            yield f"{ledger.ids[question_id]}: the store has lost it"


def _endings(
    known: Mapping[str, Record], ledger: Ledger, entries: list[AuditEntry]
) -> Iterator[str]:
    audited: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        audited[entry.question_id].append(entry.kind)
    for question_id, record in known.items():
        if record.ending is None:
            over = -record.seconds_left
            yield f"{ledger.ids[question_id]}: still open {over:.1f} s after its time was over"
        elif audited[question_id] != [(first := record.overruled or record.ending).outcome.value]:
            yield f"{question_id}: {first.outcome.value}, but audited {audited[question_id]}"


def _unpressed(known: Mapping[str, Record], ledger: Ledger) -> Iterator[str]:
    for question_id, record in known.items():
        marker = ledger.ids[question_id]
        if record.ending and record.ending.outcome in YES and marker not in ledger.said_yes:
            ended = record.ending.outcome.value
            yield f"{marker}: {ended}, and no approver pressed anything for it"
    for told in ledger.told:
        always = session_of(told.marker) in ledger.said_always
        if told.unasked and told.outcome is Outcome.APPROVED and not always:
            yield f"{told.marker}: approved without a question, and nobody said Always"


def _told_otherwise(known: Mapping[str, Record], ledger: Ledger) -> Iterator[str]:
    recorded: dict[str, set[Outcome]] = defaultdict(set)
    for question_id, record in known.items():
        if record.ending:
            recorded[ledger.ids[question_id]].add(record.ending.outcome)
    for told in ledger.told:
        if told.outcome and not told.unasked and told.outcome not in recorded[told.marker]:
            said = [outcome.value for outcome in recorded[told.marker]]
            yield f"{told.marker}: told {told.outcome.value} by {told.door}, recorded {said}"


def _observed_otherwise(known: Mapping[str, Record], ledger: Ledger) -> Iterator[str]:
    for question_id, kinds in ledger.observed.items():
        record = known.get(question_id)
        if record is None or record.ending is None:
            continue
        # An agent that denies what was approved, because its time is over, is heard second.
        recorded = {_kind(one) for one in (record.overruled, record.ending) if one is not None}
        if not kinds <= recorded:
            yield f"{question_id}: observers heard {sorted(kinds)}, recorded {sorted(recorded)}"


def _kind(ending: Resolution) -> str:
    return str(type(ending.observed).model_fields["type"].default)


def _late(ledger: Ledger) -> Iterator[str]:
    for told in sorted(ledger.told, key=_lateness):
        if told.late > GRACE_SECONDS:
            yield f"{told.marker}: {told.door} waited {told.late:.1f} s past its timeout"


def _lateness(told: Told) -> float:
    return -told.late
