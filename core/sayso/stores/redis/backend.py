"""The backend on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.redis.audit import RedisAudit
from sayso.stores.redis.bus import SILENCE_SECONDS, RedisBus
from sayso.stores.redis.checkup import RedisCheckup
from sayso.stores.redis.connection import Client
from sayso.stores.redis.copies import RedisCopies
from sayso.stores.redis.errands import RedisErrands
from sayso.stores.redis.floors import KnownFloor, RedisFloors
from sayso.stores.redis.key_value import RedisKeyValue
from sayso.stores.redis.keyed import RedisKeyed
from sayso.stores.redis.log import RedisBranchLog
from sayso.stores.redis.outbox import TAKEOVER_SECONDS, RedisOutbox
from sayso.stores.redis.roster import RedisRoster
from sayso.stores.redis.rules import RedisRules
from sayso.stores.redis.store import RedisStore, RedisWatch
from sayso.stores.redis.url import StoreUrl, read_url
from sayso.stores.redis.uses import RedisUses


def redis_backend(
    url: str,
    *,
    takeover_after: float = TAKEOVER_SECONDS,
    silence: float = SILENCE_SECONDS,
) -> AbstractAsyncContextManager[Backend]:
    """The backend at a Redis URL, see ``sayso.stores.redis.url.read_url``.

    It needs Redis 7 or later, or Valkey. Nothing is connected before the
    first use. Jobs of a desk that gives no sign of life for ``takeover_after``
    seconds go to another one. Whoever listens and hears nothing for ``silence``
    seconds makes sure that it is not deaf.

    Raises:
        ConfigError: the URL cannot be read.
    """
    return _opened(read_url(url), takeover_after, silence)


@asynccontextmanager
async def _opened(url: StoreUrl, takeover_after: float, silence: float) -> AsyncIterator[Backend]:
    client, log_reads = Client(url), Client(url)
    client.home.check()
    log_reads.home.check()
    floor = KnownFloor()
    store = RedisStore(client, floor)
    watch = RedisWatch(client, store)
    bus, roster = RedisBus(client, silence=silence), RedisRoster(client)
    outbox = RedisOutbox(client, takeover_after=takeover_after)
    try:
        async with Inbox(bus, watch, roster) as inbox:
            yield Backend(
                store=store,
                watch=watch,
                keyed=RedisKeyed(client),
                copies=RedisCopies(client),
                rules=RedisRules(client, floor),
                floors=RedisFloors(client),
                audit=RedisAudit(client),
                bus=bus,
                outbox=outbox,
                key_value=RedisKeyValue(client),
                roster=roster,
                errands=RedisErrands(client),
                uses=RedisUses(client),
                log=RedisBranchLog(client, log_reads),
                checkup=RedisCheckup(client, bus),
                inbox=inbox,
            )
    finally:
        try:
            await outbox.aclose()
        finally:
            await log_reads.aclose()
            await client.aclose()
