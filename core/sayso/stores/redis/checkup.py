"""Whether a Redis can do what is needed of it: tried out, not believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

from sayso.calls import RunRef, new_id
from sayso.errors import StoreUnreachableError, SubscriptionLostError
from sayso.questions.wire import encode
from sayso.stores.backend import Issue
from sayso.stores.notices import BranchGrewEvent
from sayso.stores.redis.bus import RedisBus
from sayso.stores.redis.connection import Client
from sayso.stores.redis.diagnostics import is_denied
from sayso.stores.redis.replies import names as read_names
from sayso.stores.redis.script import Script
from sayso.stores.topics import LOG_TOPIC

_CHECK = Script("try_commands")
_OLDEST = 7
_WRONG_SECONDS, _VERY_WRONG_SECONDS = 2.0, 300.0
_LIFE_MILLISECONDS = 50
_EXPIRED_AFTER_SECONDS = 0.1
_MISSING = "NOPERM"


class RedisCheckup:
    """Writes, reads, publishes and expires on keys and channels of its own, which all expire."""

    def __init__(
        self,
        client: Client,
        bus: RedisBus,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._bus = bus
        self._clock = clock
        self._sleep = sleep

    async def look(self) -> Sequence[Issue]:
        """What is wrong; nothing where all is well."""
        name = new_id()
        found = [one async for one in self._commands(name)]
        if not found:
            found += [one async for one in self._expiry(name)]
        found += [one async for one in self._channels(name)]
        found += [one async for one in self._clocks()]
        return [*found, *[one async for one in self._configuration()]]

    async def _commands(self, name: str) -> AsyncIterator[Issue]:
        """Each command of the scripts."""
        try:
            failed = [
                said.decode() for said in await self._client.run(_CHECK, name, read=read_names)
            ]
        except StoreUnreachableError as error:
            text = f"{error}: {self._permissions}" if error.is_denied else str(error)
            yield Issue(text, is_denied=error.is_denied)
            return
        where = f"Redis at {self._client.url.address}"
        refused = dict(zip(failed[1::2], failed[::2], strict=True))
        if any("READONLY" in said for said in refused):
            yield Issue(f"{where} is a read-only replica: connect to the primary")
            return
        if any("OOM" in said for said in refused):
            yield Issue(f"{where} is out of memory: raise maxmemory")
            return
        denied = [said for said in refused if _MISSING in said or "permission" in said.lower()]
        if denied:
            names = ", ".join(sorted({refused[said] for said in denied}))
            what = f"{where} does not permit this user what Sayso needs ({names})"
            yield Issue(f"{what}: {self._permissions}", is_denied=True)
        for said in refused.keys() - set(denied):
            yield Issue(f"{where} refuses {refused[said]}: {said[:200]}")

    @property
    def _permissions(self) -> str:
        prefix = self._client.keys.prefix
        user = self._client.url.options.get("username") or "default"
        rights = f"+@all -@admin -@dangerous +info ~{prefix}* &{prefix}*"
        return f"permit it with `ACL SETUSER {user} {rights}`"

    async def _expiry(self, name: str) -> AsyncIterator[Issue]:
        """Whether what has a time to live goes when it is over."""
        key = f"{self._client.keys.prefix}draft:check-{name}"
        await self._client.command("SET", key, "1", "PX", _LIFE_MILLISECONDS)
        await self._sleep(_EXPIRED_AFTER_SECONDS)
        if await self._client.command("EXISTS", key):
            yield Issue(
                f"Redis at {self._client.url.address} does not expire keys in time: look at its "
                "clock and its load"
            )

    async def _channels(self, name: str) -> AsyncIterator[Issue]:
        """Whether what is published is heard, on each kind of channel."""
        bell = BranchGrewEvent.of(RunRef(f"check-{name}", "check"))
        refused: dict[str, str] = {}
        denied: set[str] = set()
        topics = (f"inbox:{name}", f"events:{name}", f"notices:{name}", LOG_TOPIC)
        for topic in topics:
            try:
                async with (
                    asyncio.timeout(2 * self._client.url.seconds),
                    self._bus.subscribe(topic) as events,
                ):
                    channel = self._client.keys.channel(topic)
                    await self._client.command("PUBLISH", channel, encode(bell))
                    while await anext(events) != bell:
                        pass
            except (SubscriptionLostError, StoreUnreachableError) as error:
                refused.setdefault(str(error), topic.partition(":")[0])
                denied |= {str(error)} if is_denied(error) else set()
            except TimeoutError:
                refused["what is published is not heard: look for what is between"] = topic
        for said, kind in refused.items():
            fix = f"; permit the channels &{self._client.keys.channel('*')}"
            yield Issue(f"{said} (channels of {kind}{fix})", is_denied=said in denied)

    async def _clocks(self) -> AsyncIterator[Issue]:
        """Whether the server's clock and ours agree; a round trip is nobody's fault."""
        before = self._clock()
        now = await self._client.command("TIME", read=_read_time)
        after = self._clock()
        off = now - after if now > after else min(now - before, 0.0)
        if abs(off) > _WRONG_SECONDS:
            how = "ahead of" if off > 0 else "behind"
            yield Issue(
                f"the clock of Redis at {self._client.url.address} is {abs(off):.0f} s {how} that "
                "of this machine: set both by NTP; rules and questions expire by Redis's, and "
                "a machine that is off by 5 minutes refuses presses",
                is_serious=abs(off) > _VERY_WRONG_SECONDS,
            )

    async def _configuration(self) -> AsyncIterator[Issue]:
        """What the server says of itself, as far as this user may ask."""
        try:
            info = await self._client.command("INFO", read=_read)
        except StoreUnreachableError:
            text = "whether Redis evicts, saves and is new enough is not known: permit `info`"
            yield Issue(text, is_serious=False)
            return
        for issue in (*_version(info), *_eviction(info)):
            yield issue
        for issue in _persistence(info, await self._saves()):
            yield issue

    async def _saves(self) -> bool | None:
        """Whether snapshots are taken; None where nobody may say."""
        try:
            return await self._client.command("CONFIG", "GET", "save", read=_has_value)
        except StoreUnreachableError:
            return None


def _read_time(reply: tuple[int, int]) -> float:
    seconds, micros = reply
    return seconds + micros / 1e6


def _has_value(setting: list[bytes]) -> bool:
    return bool(setting and setting[-1])


def _read(info: Mapping[str, object]) -> Mapping[str, str]:
    return {name: str(value) for name, value in info.items()}


def _version(info: Mapping[str, str]) -> Iterator[Issue]:
    version = info.get("redis_version", "")
    major = version.partition(".")[0]
    if "valkey_version" not in info and major.isdigit() and int(major) < _OLDEST:
        yield Issue(f"this is Redis {version}: Sayso needs Redis {_OLDEST} or newer, or Valkey")


def _eviction(info: Mapping[str, str]) -> Iterator[Issue]:
    policy = info.get("maxmemory_policy", "noeviction")
    if policy == "noeviction":
        return
    is_limited = info.get("maxmemory", "0") != "0"
    when = "when its memory is full" if is_limited else "once it has a maxmemory"
    yield Issue(
        f"Redis drops open questions and remembered rules {when} (maxmemory-policy {policy}): set "
        "maxmemory-policy noeviction",
        is_serious=is_limited,
    )


def _persistence(info: Mapping[str, str], saves: bool | None) -> Iterator[Issue]:
    appends = info.get("aof_enabled") == "1"
    if appends and info.get("aof_last_write_status", "ok") != "ok":
        yield Issue("Redis cannot write its append-only file: look at its disk and log")
    if not appends:
        what = {
            True: "Redis keeps snapshots only: a crash loses what came after the last one",
            False: "Redis keeps nothing: a restart loses open questions and remembered rules",
            None: "Redis writes no append-only file: a crash loses at least what came last",
        }[saves]
        yield Issue(f"{what}; set appendonly yes", is_serious=False)
