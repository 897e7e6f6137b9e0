"""The rules that sessions remember, in Redis."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from pydantic_core import from_json

from sayso.calls import RunRef
from sayso.rules.floor import Floor, read_floor, written_floor
from sayso.rules.rule import UnreadableRule, read_remembered
from sayso.rules.rule_set import RuleBook
from sayso.stores import audit
from sayso.stores.protocols import KeptRule
from sayso.stores.redis.connection import Client
from sayso.stores.redis.keys import book_keys
from sayso.stores.redis.records import moment, read_book
from sayso.stores.redis.replies import flag
from sayso.stores.redis.script import Script

_log = logging.getLogger(__name__)

_BOOK, _USE = Script("load_rules"), Script("record_use")
_RULES, _REVOKE, _LAY = Script("list_rules"), Script("revoke_rule"), Script("set_guardrails")


class KnownFloor:
    """The last floor that this process saw: it is read again only where there is another one.

    A store that has lost all it had says of no floor at all. Then the last one
    still counts here, until there is another.
    """

    def __init__(self) -> None:
        self.last = Floor()

    def told(self, known: Floor, version: bytes, written: bytes) -> Floor:
        """The floor that a store told of, to somebody who knew this one."""
        if not version:
            return self.last
        said = version.decode()
        floor = known if said == known.version else read_floor(said, written)
        self.last = floor
        return floor


class RedisRuleStore:
    """Rules of sessions, agents and projects, until they expire by the server's clock."""

    def __init__(self, client: Client, floor: KnownFloor) -> None:
        self._client = client
        self._floor = floor

    async def book(self, run: RunRef) -> RuleBook:
        """The rules that count for the run, its agent's and its project's among them.

        What allows and cannot be read here allows nothing.
        """
        known = self._floor.last

        def read(reply: Sequence[bytes]) -> RuleBook:
            floor = self._floor.told(known, reply[1], reply[2])
            return read_book(reply, floor.of(run.agent_id))

        return await self._client.run(_BOOK, *book_keys(run), known.version, read=read)

    async def use(
        self, run: RunRef, *rule_ids: str, digest: str = "", book: str | None = None
    ) -> bool:
        """Count a use of rules by the run, unless one is over."""
        facts = [(one, audit.written(audit.used(run, one, digest))) for one in rule_ids]
        return await self._client.run(
            _USE,
            *book_keys(run),
            self._client.token(),
            int(book is not None),
            book or "",
            *(part for pair in facts for part in pair),
            read=flag,
        )

    async def all(self) -> Sequence[KeptRule]:
        """All rules that have not expired, with their uses; the log names what cannot be read."""
        kept = await self._client.run(_RULES, read=_read_kept)
        return sorted(kept, key=lambda one: (one.remembered.stored_at, one.remembered.rule_id))

    async def revoke(self, rule_id: str, *, by: str) -> bool:
        """Take a rule back, at once for running sessions too."""
        facts = audit.written(audit.revoked(rule_id, by))
        token = self._client.token()
        return await self._client.run(_REVOKE, rule_id, token, facts, by, read=flag)

    async def set_guardrails(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor; the version that is the floor now."""
        written, empty = written_floor(floor), int(not floor.sections)
        words = (floor.version, written, int(unless_other), empty)
        return await self._client.run(_LAY, *words, read=bytes.decode)


def _read_kept(reply: Sequence[bytes]) -> list[KeptRule]:
    read = (_kept(*reply[start : start + 5]) for start in range(0, len(reply), 5))
    return [one for one in read if one is not None]


def _kept(
    rule: bytes, facts: bytes, uses: bytes, last: bytes, question_id: bytes
) -> KeptRule | None:
    read = read_remembered(rule)
    if isinstance(read, UnreadableRule):
        _log.warning("rule %s cannot be read by this version of Sayso: left out", read.rule_id)
        return None
    remembered = replace(read, uses=int(uses), last_used_at=moment(last) if last else None)
    about = from_json(facts)
    session = "" if remembered.scope in ("agent", "project") else about.get("session_id", "")
    project = about.get("project", "") if remembered.scope == "project" else ""
    return KeptRule(remembered, about.get("agent_id", ""), session, project, question_id.decode())
