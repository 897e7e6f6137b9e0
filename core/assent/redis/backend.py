"""The backend on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from assent.backend import Backend
from assent.inbox import Inbox
from assent.redis.bus import RedisBus
from assent.redis.client import Client
from assent.redis.copies import RedisCopies
from assent.redis.drafts import RedisDrafts
from assent.redis.leases import RedisLeases
from assent.redis.log import RedisBranchLog
from assent.redis.outbox import TAKEOVER_SECONDS, RedisOutbox
from assent.redis.rules import RedisAudit, RedisRules
from assent.redis.store import RedisStore, RedisWatch
from assent.redis.url import StoreUrl, read_url


def redis_backend(
    url: str, *, takeover_after: float = TAKEOVER_SECONDS
) -> AbstractAsyncContextManager[Backend]:
    """The backend at a Redis URL, see :func:`assent.redis.url.read_url`.

    It needs Redis 7 or later, or Valkey. Nothing is connected before the
    first use. Jobs of a desk that gives no sign of life for ``takeover_after``
    seconds go to another one.

    Raises:
        ConfigError: the URL cannot be read.
    """
    return _opened(read_url(url), takeover_after)


@asynccontextmanager
async def _opened(url: StoreUrl, takeover_after: float) -> AsyncIterator[Backend]:
    client, log_reads = Client(url), Client(url)
    store = RedisStore(client)
    watch = RedisWatch(client, store)
    bus = RedisBus(client)
    try:
        async with Inbox(bus, watch) as inbox:
            yield Backend(
                store=store,
                watch=watch,
                copies=RedisCopies(client),
                rules=RedisRules(client),
                audit=RedisAudit(client),
                bus=bus,
                outbox=RedisOutbox(client, takeover_after=takeover_after),
                leases=RedisLeases(client),
                drafts=RedisDrafts(client),
                log=RedisBranchLog(client, log_reads),
                inbox=inbox,
            )
    finally:
        await log_reads.aclose()
        await client.aclose()
