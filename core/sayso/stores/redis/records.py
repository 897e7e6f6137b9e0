"""How requests and copies are written into Redis, and read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from pydantic_core import from_json, to_json

from sayso.cards.called import NOBODY, Call, Called
from sayso.chats.places import Place
from sayso.errors import UnreadableEventError
from sayso.events import RequestExpiredEvent, Resolution, UserInputRequest
from sayso.questions.wire import decode_ending, decode_request
from sayso.rules.floor import AgentFloor
from sayso.rules.rule import UnreadableRule, read_remembered
from sayso.rules.rule_set import RuleBook
from sayso.stores.protocols import Copy, Record, Report, Revoked, Ring, Use, Went

_SMALL = 4_096


def moment(milliseconds: bytes | int) -> datetime:
    """A time of the server's clock."""
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def stored_request(data: bytes, deadline: bytes) -> UserInputRequest:
    """The request, expiring when the server says.

    A request is read when it is shown, pressed and ended, and never changes:
    the last small ones are decoded once.
    """
    return _kept(data, deadline) if len(data) <= _SMALL else _decoded(data, deadline)


def _decoded(data: bytes, deadline: bytes) -> UserInputRequest:
    return decode_request(data).model_copy(update={"expires_at": moment(deadline)})


_kept = lru_cache(maxsize=8_192)(_decoded)


def expiry(question_id: str, data: bytes, now: int) -> Resolution:
    """The expiry of a stored request, even of a kind that this process does not know."""
    try:
        request = decode_request(data)
    except UnreadableEventError:
        return RequestExpiredEvent(
            request_id=question_id,
            source_name=from_json(data)["sourceName"],
            decided_at=moment(now),
            reason="nobody answered in time",
        )
    return request.expired(at=moment(now))


def read_ring(data: bytes) -> Ring:
    """An ending with what ``told`` in common.lua puts before it.

    Raises:
        UnreadableEventError: it is not an ending.
    """
    ending = decode_ending(data)
    match from_json(data).get("rung"):
        case [str(book), int(at)]:
            return Ring(ending, book, at / 1000)
    return Ring(ending)


def read_book(reply: Sequence[bytes], floor: AgentFloor) -> RuleBook:
    """The version of a session's rules, and those that can be read or may be denials."""
    version, _, _, *rules = reply
    read = [read_remembered(rule) for rule in rules]
    remembered = [rule for rule in read if not isinstance(rule, UnreadableRule)]
    remembered.sort(key=lambda rule: (rule.stored_at, rule.rule_id))
    unreadable = [one for one in read if isinstance(one, UnreadableRule) and not one.allows]
    ids = sorted(one.rule_id for one in unreadable)
    return RuleBook(version.decode(), tuple(remembered), tuple(ids), floor)


def stored_copy(copy: Copy) -> bytes:
    """The copy as it is kept beside its request."""
    return to_json((*_parts(copy.place), copy.message_id, int(copy.revealed)))


def stored_place(place: Place) -> bytes:
    """The place a copy was sent to, which begins as the copy itself does."""
    return to_json(_parts(place))


def _parts(place: Place) -> tuple[str, str, str]:
    return place.platform, place.address, place.thread


def stored_bundle(copy: Copy) -> bytes:
    """The handles on a copy's message, kept beside the copy; empty for a card that stands alone."""
    return to_json(copy.bundle) if copy.bundle else b""


def stored_call(copy: Copy) -> bytes:
    """What a copy does to be noticed, kept beside it; empty where it does nothing."""
    call = copy.call
    if call == NOBODY:
        return b""
    people = [(one.actor, one.name) for one in call.people]
    return to_json((people, call.lead, int(call.quietly), call.note))


def _read_call(data: bytes | None) -> Call:
    if not data:
        return NOBODY
    people, lead, quietly, note = from_json(data)
    return Call(tuple(Called(*one) for one in people), lead, bool(quietly), note)


def read_copy(
    question_id: str,
    handle: str,
    data: bytes,
    bundle: bytes | None,
    more: bytes | None,
    call: bytes | None,
) -> Copy:
    """The copy of a request behind a handle; ``more`` is what ``mark`` keeps besides."""
    platform, address, thread, message_id, revealed = from_json(data)
    closed, _, target = (more or b"0").partition(b" ")
    return Copy(
        handle,
        question_id,
        Place(platform, address, thread),
        message_id,
        revealed=bool(revealed),
        bundle=tuple(from_json(bundle)) if bundle else (),
        meant_for=Place(*from_json(target)) if target else None,
        closed_at=moment(closed) if closed != b"0" else None,
        call=_read_call(call),
    )


def read_record(question_id: str, reply: Sequence[bytes], now: int) -> Record | None:
    """All fields of a stored request, read at a time of the server's; None when there are none."""
    fields: Mapping[bytes, bytes] = dict(zip(reply[::2], reply[1::2], strict=True))
    return _record(question_id, fields, now) if b"q" in fields else None


def known_record(question_id: str, reply: Sequence[bytes], now: int) -> Record:
    """All fields of a request that is stored, read at a time of the server's."""
    return _record(question_id, dict(zip(reply[::2], reply[1::2], strict=True)), now)


def _record(question_id: str, fields: Mapping[bytes, bytes], now: int) -> Record:
    ending = fields.get(b"e")
    copies = (
        read_copy(
            question_id,
            name[2:].decode(),
            data,
            fields.get(b"m:" + name[2:]),
            fields.get(b"x:" + name[2:]),
            fields.get(b"n:" + name[2:]),
        )
        for name, data in sorted(one for one in fields.items() if one[0].startswith(b"c:"))
    )
    return Record(
        stored_request(fields[b"q"], fields[b"d"]),
        None if ending is None else decode_ending(ending),
        tuple(copies),
        (int(fields[b"d"]) - now) / 1000,
        decode_ending(fields[b"y"]) if b"y" in fields else None,
        _moment_in(fields, b"b"),
        _moment_in(fields, b"z"),
        read_use([fields.get(name) for name in (b"pk", b"pa", b"po", b"pt")]),
        read_revoked(fields.get(b"rb"), fields.get(b"rt")),
    )


def _moment_in(fields: Mapping[bytes, bytes], name: bytes) -> datetime | None:
    return moment(fields[name]) if name in fields else None


def stored_report(went: Went, note: str) -> bytes:
    """How a call went, as it is kept beside its request."""
    return to_json((went, note))


def read_revoked(by: bytes | None, at: bytes | None) -> Revoked | None:
    """Who took back what a request stored; None where nobody did."""
    return None if by is None or at is None else Revoked(by.decode(), moment(at))


def read_use(reply: Sequence[bytes | None]) -> Use | None:
    """What became of an approval; None where nothing is told of it."""
    key, at, report, reported = reply
    if key is None or at is None:
        return None
    if report is None or reported is None:
        return Use(key.decode(), moment(at))
    went, note = from_json(report)
    return Use(key.decode(), moment(at), Report(went, moment(reported), note))
