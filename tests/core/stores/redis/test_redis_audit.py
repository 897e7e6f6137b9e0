"""The audit in Redis while others write to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sayso.calls import RunRef
from sayso.stores import audit
from sayso.stores.redis.audit import RedisAudit
from sayso.stores.redis.connection import Client
from sayso.stores.redis.url import read_url

AGENTS = 150


class Busy(Client):
    """A client beside which idle agents go on as soon as names of agents are read."""

    async def command(self, *words: Any, **options: Any) -> Any:
        reply = await super().command(*words, **options)
        if words[0] == "ZREVRANGEBYSCORE":
            await _note(RedisAudit(self), 40, "later")
        return reply


async def test_agents_that_go_on_while_it_is_read_are_read_once(store: str) -> None:
    client = Busy(read_url(store))
    try:
        read = RedisAudit(client)
        await _note(read, AGENTS, "first")

        entries = await read.read(1_000)

        agents = Counter(entry.agent_id for entry in entries if entry.subject == "first")
        assert agents == {f"bot-{number}": 1 for number in range(AGENTS)}
    finally:
        await client.aclose()


async def _note(written: RedisAudit, agents: int, subject: str) -> None:
    for number in range(agents):
        run = RunRef(f"bot-{number}", "s-1")
        await written.note(audit.ruled(run, subject, "abc", "rule 1", allowed=True))
