"""The backend on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sayso.backend import Backend
from sayso.inbox import Inbox
from sayso.redis.bus import RedisBus
from sayso.redis.client import Client
from sayso.redis.copies import RedisCopies
from sayso.redis.drafts import RedisDrafts
from sayso.redis.leases import RedisLeases
from sayso.redis.log import RedisBranchLog
from sayso.redis.outbox import TAKEOVER_SECONDS, RedisOutbox
from sayso.redis.rules import RedisAudit, RedisRules
from sayso.redis.store import RedisStore, RedisWatch
from sayso.redis.url import StoreUrl, read_url


def redis_backend(
    url: str, *, takeover_after: float = TAKEOVER_SECONDS
) -> AbstractAsyncContextManager[Backend]:
    """The backend at a Redis URL, see :func:`sayso.redis.url.read_url`.

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
