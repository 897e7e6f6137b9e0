"""The backend on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sayso.stores.backend import Backend
from sayso.stores.inbox import Inbox
from sayso.stores.redis.audit import RedisAudit
from sayso.stores.redis.bus import SILENCE_SECONDS, RedisBus
from sayso.stores.redis.card_messages import RedisCopies
from sayso.stores.redis.checkup import RedisCheckup
from sayso.stores.redis.connection import Client
from sayso.stores.redis.key_value import RedisKeyValue
from sayso.stores.redis.log import RedisBranchLog
from sayso.stores.redis.outbox import TAKEOVER_SECONDS, RedisOutbox
from sayso.stores.redis.request_store import RedisRequestStore
from sayso.stores.redis.rule_store import KnownFloor, RedisRuleStore
from sayso.stores.redis.url import StoreUrl, read_url


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
    store = RedisRequestStore(client, floor)
    bus = RedisBus(client, silence=silence)
    outbox = RedisOutbox(client, takeover_after=takeover_after)
    try:
        async with Inbox(bus, store, outbox) as inbox:
            yield Backend(
                store=store,
                copies=RedisCopies(client),
                rules=RedisRuleStore(client, floor),
                audit=RedisAudit(client),
                bus=bus,
                outbox=outbox,
                key_value=RedisKeyValue(client),
                log=RedisBranchLog(client, log_reads),
                diagnose=RedisCheckup(client, bus).look,
                inbox=inbox,
            )
    finally:
        try:
            await outbox.aclose()
        finally:
            await log_reads.aclose()
            await client.aclose()
