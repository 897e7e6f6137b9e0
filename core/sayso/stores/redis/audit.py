"""The audit in Redis: a stream of decisions, and one of each agent's activity."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

from pydantic_core import from_json

from sayso.stores import audit
from sayso.stores.audit import REFUSALS_KEPT, AuditEntry, AuditPage, RefusalKind
from sayso.stores.redis.connection import Client
from sayso.stores.redis.records import moment
from sayso.stores.redis.replies import flag, names
from sayso.stores.redis.script import Script

_NOTE, _REFUSE, _TRIM = Script("record_decision"), Script("record_refusal"), Script("trim_audit")
# So many entries, and so many streams, are looked at in one round trip.
_AT_ONCE = 500
_STREAMS_AT_ONCE = 100
_BEGINNING = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, order=True, slots=True)
class _Key:
    """The place of an entry among all: its time in ms, then the order in which it was written."""

    ms: int
    order: int


_Noted = tuple[_Key, AuditEntry]


class RedisAudit:
    """Decisions until they are trimmed, and each agent's newest activity.

    Entries follow each other by the server's clock. Where that is set back, a reader that
    follows the audit may miss some; ``read`` has them.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """Note that a press on a known request was refused; False where it is not noted."""
        return await self._client.run(
            _REFUSE,
            question_id,
            f"{refusal} {by}",
            audit.written(audit.refused(refusal, by=by, place=place, choice=choice)),
            REFUSALS_KEPT,
            read=flag,
        )

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """Read the last entries, oldest first."""
        if count <= 0:
            return []
        newest: list[_Noted] = []
        first, end = _ms(since or _BEGINNING), "+" if until is None else str(max(0, _ms(until) - 1))
        for stream, last_ms in await self._streams(first):
            if len(newest) == count:
                first = newest[0][0].ms
                if last_ms is not None and last_ms < first:
                    break
            newest += await self._newest(stream, str(first), end, count, wanted)
            newest = sorted(newest, key=lambda noted: noted[0])[-count:]
        return [entry for _, entry in newest]

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """Read the entries from a moment on, oldest first."""
        # What is written in this very ms may still be joined by more.
        now = await self._client.command("TIME", read=_read_ms)
        if since is None:
            return AuditPage([], moment(now))
        first = _ms(since)
        if first >= now:
            return AuditPage([], since)
        streams = [stream for stream, _ in await self._streams(first)]
        found = await self._oldest(streams, first, now - 1, count)
        if len(found) < count:
            return AuditPage([entry for _, entry in found], moment(now))
        last = found[-1][0].ms
        # No page ends between two entries of one ms: it would be no moment to go on from.
        whole = await self._oldest(streams, last, last, None)
        entries = [entry for key, entry in found if key.ms < last]
        return AuditPage([*entries, *(entry for _, entry in whole)], moment(last + 1))

    async def note(self, facts: audit.Facts) -> None:
        """Write an entry on what was decided without a question."""
        await self._client.run(_NOTE, audit.written(facts), self._client.token(), read=flag)

    async def trim(self, keep: timedelta) -> None:
        """Drop the decisions that are older than this by the server's clock."""
        await self._client.run(_TRIM, round(keep.total_seconds() * 1_000))

    async def _streams(self, first: int) -> Sequence[tuple[str, int | None]]:
        """The stream of decisions, then those of agents with the ms of their last entry.

        The last to be written comes first; without those that were last written before ``first``.
        """
        keys = self._client.keys
        # All names at once: who writes meanwhile changes places.
        words = ("ZREVRANGEBYSCORE", keys.agents, "+inf", first, "WITHSCORES")
        some = await self._client.command(*words, read=names)
        agents = zip(some[::2], some[1::2], strict=True)
        activity = [(keys.activity(agent.decode()), int(score)) for agent, score in agents]
        return [(keys.audit, None), *activity]

    async def _newest(
        self,
        stream: str,
        first: str,
        end: str,
        count: int,
        wanted: Callable[[AuditEntry], bool] | None,
    ) -> Sequence[_Noted]:
        """The last entries of a stream that are wanted, at most ``count``."""
        found: list[_Noted] = []
        size = count if wanted is None else _AT_ONCE
        while len(found) < count:
            asked = min(size, _AT_ONCE)
            words = ("XREVRANGE", stream, end, first, "COUNT", asked)
            some = await self._client.command(*words, read=_read_entries)
            noted = [one for _, one in some]
            found += [one for one in noted if wanted is None or wanted(one[1])]
            if len(some) < asked:
                break
            end = f"({some[-1][0].decode()}"
        return found[:count]

    async def _oldest(
        self, streams: Sequence[str], first: int, last: int, count: int | None
    ) -> Sequence[_Noted]:
        """The first entries of these streams from one ms to another, in order."""
        found: list[_Noted] = []
        limit = () if count is None else ("COUNT", count)
        for start in range(0, len(streams), _STREAMS_AT_ONCE):
            some = await asyncio.gather(
                *(
                    self._client.command("XRANGE", stream, first, last, *limit, read=_read_entries)
                    for stream in streams[start : start + _STREAMS_AT_ONCE]
                )
            )
            found += [one for entries in some for _, one in entries]
            found = sorted(found, key=lambda noted: noted[0])[:count]
        return found


def _ms(at: datetime) -> int:
    """The first ms that is not before a moment; the store counts from 1970."""
    return max(0, ceil(at.timestamp() * 1_000))


def _read_ms(reply: tuple[int, int]) -> int:
    """The server's clock."""
    seconds, micros = reply
    return seconds * 1_000 + micros // 1_000


def _read_entries(reply: list[tuple[bytes, Mapping[bytes, bytes]]]) -> list[tuple[bytes, _Noted]]:
    """The entries of a stream, each with its number there."""
    return [(number, _read_noted(number, fields)) for number, fields in reply]


def _read_noted(number: bytes, kept: Mapping[bytes, bytes]) -> _Noted:
    ms = int(number.partition(b"-")[0])
    entry = audit.entry(moment(ms), from_json(kept[b"a"]), from_json(kept[b"w"]))
    return _Key(ms, int(kept[b"o"])), entry
