"""Work for desks: a stream with a consumer group."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

from sayso.calls import new_id
from sayso.errors import StoreUnreachableError
from sayso.seldom import Seldom
from sayso.stores.pauses import Pause
from sayso.stores.protocols import Due, Job, OpenLimits
from sayso.stores.redis.connection import Client
from sayso.stores.redis.diagnostics import code_of
from sayso.stores.redis.keys import GROUP
from sayso.stores.redis.replies import number
from sayso.stores.redis.script import Script

_log = logging.getLogger(__name__)

_KEEP, _DONE = Script("extend_job_lease"), Script("complete_jobs")
_TAKE_OVER, _GIVE_BACK = Script("claim_stale_jobs"), Script("return_jobs")
_PUT, _TAKE = Script("schedule_job"), Script("claim_scheduled_jobs")
_JOIN, _ROSTER = Script("heartbeat"), Script("count_workers")

TAKEOVER_SECONDS = 15.0
_AT_ONCE = 64
_REST_SECONDS = 0.01
_CLOSING_SECONDS = 0.5
_BLOCK_SECONDS = 5.0
# A desk without jobs that has not read for this many times ``takeover_after`` is gone.
_FORGET_AFTER = 20


class RedisOutbox:
    """Jobs in a stream. A desk that gives no sign of life for ``takeover_after`` seconds is gone.

    A desk keeps the jobs it took as long as its block runs, however slow it
    is. When the block ends, those it did not finish are put into the outbox
    anew, so that another desk has them at once.
    """

    def __init__(self, client: Client, *, takeover_after: float = TAKEOVER_SECONDS) -> None:
        self._client = client
        self._takeover_after = takeover_after
        self._desks: list[_Desk] = []
        self._finished: list[str] = []
        self._telling: asyncio.Task[None] | None = None
        self._reports: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def jobs(self, desk: str) -> AsyncIterator[AsyncIterator[Job]]:
        """Jobs for the desk of this name, as they come. Outages are waited out."""
        self._client.home.check()
        mine = _Desk(self._client, desk, self._takeover_after)
        self._desks.append(mine)
        keeping = asyncio.create_task(mine.keep())
        try:
            yield mine.jobs()
        finally:
            try:
                # What is finished is not given back, whoever waited for it.
                await self._reported()
            finally:
                self._desks.remove(mine)
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
                await mine.leave()

    async def done(self, job: Job) -> None:
        """The job is finished and will not come again."""
        self._finished.append(job.receipt)
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell())
            self._reports.add(self._telling)
            self._telling.add_done_callback(self._reports.discard)
        await asyncio.shield(self._telling)

    async def schedule(
        self,
        queue: str,
        name: str,
        *,
        seconds: float = 0.0,
    ) -> None:
        """Let the name be due in so many seconds."""
        await self._client.run(_PUT, queue, name, round(seconds * 1000))

    async def claim_scheduled(self, queue: str, *, most: int, hold: float) -> Due:
        """Claim what is due; due again in ``hold`` seconds unless it is done by then."""
        words = (queue, most, round(hold * 1000))
        return await self._client.run(_TAKE, *words, read=_read_due)

    async def complete_scheduled(self, queue: str, name: str) -> None:
        """It is done, and will not come again."""
        await self._client.command("ZREM", self._client.keys.errands(queue), name)

    async def heartbeat(
        self, desk: str, *, seconds: float, limits: OpenLimits | None = None
    ) -> None:
        """The desk of this name is at work for so long, with these limits."""
        milliseconds = max(1, round(seconds * 1000))
        most = () if limits is None else (limits.per_agent, limits.per_token)
        await self._client.run(_JOIN, desk, milliseconds, *most)

    async def remove_worker(self, desk: str) -> None:
        """The desk has stopped."""
        await self._client.command("ZREM", self._client.keys.desks, desk)

    async def count_workers(self) -> int:
        """Return the number of workers that are running."""
        return await self._client.run(_ROSTER, read=number)

    async def aclose(self) -> None:
        """Report what is finished, also where nobody waits for that any more; give up the rest.

        Where the store does not answer in a moment, others take those jobs over, and do them again.
        """
        try:
            await self._reported()
        finally:
            for report in self._reports:
                report.cancel()
            await asyncio.gather(*self._reports, return_exceptions=True)

    async def _reported(self) -> None:
        """Return when all that is finished was reported, or after a moment."""
        if self._reports:
            await asyncio.wait(self._reports, timeout=_CLOSING_SECONDS)

    async def _tell(self) -> None:
        """Finish in one step all jobs reported within a moment: nothing else waits for it."""
        await asyncio.sleep(_REST_SECONDS)
        receipts, self._finished, self._telling = self._finished, [], None
        await self._client.run(_DONE, GROUP, *receipts)
        for desk in self._desks:
            desk.receipts.difference_update(receipts)


class _Desk:
    """One consumer of the stream, from when it comes until it leaves."""

    def __init__(self, client: Client, name: str, takeover_after: float) -> None:
        self.receipts: set[str] = set()
        self._client = client
        # Two processes may use one name by mistake: each is a consumer of its own.
        self._consumer = f"{name}:{new_id()}"
        self._takeover_after = takeover_after
        self._look_every = takeover_after / 3
        self._next_look = 0.0
        self._may_have_lost = False
        self._waits = Seldom(_log)

    async def jobs(self) -> AsyncIterator[Job]:
        """Jobs of desks that are gone, then new ones, then wait."""
        pause, is_away = Pause(), False
        while True:
            try:
                jobs = await self._take_over() or await self._take()
            except StoreUnreachableError as error:
                self._waits.say(f"the outbox waits for the store: {error}")
                is_away = self._may_have_lost = True
                await pause.take()
                continue
            pause.reset()
            if is_away:
                _log.info("the outbox reaches the store again")
                is_away = False
            took_at = asyncio.get_running_loop().time()
            fresh = [job for job in jobs if job.receipt not in self.receipts]
            self.receipts.update(job.receipt for job in fresh)
            for job in fresh:
                yield job
            # Many jobs come together rather than one by one: a round trip for all instead of each.
            await asyncio.sleep(took_at + _REST_SECONDS - asyncio.get_running_loop().time())

    async def keep(self) -> None:
        """Say now and then that the jobs taken are still worked on."""
        while True:
            await asyncio.sleep(self._look_every)
            if self.receipts:
                try:
                    await self._client.run(_KEEP, GROUP, self._consumer, *self.receipts)
                except StoreUnreachableError as error:
                    _log.warning("cannot keep jobs, others may do them too: %s", error)

    async def leave(self) -> None:
        """Give unfinished jobs back; when the store is away they are taken over later."""
        try:
            while await self._client.run(_GIVE_BACK, GROUP, self._consumer):
                pass
        except StoreUnreachableError as error:
            _log.warning("cannot give jobs back, they will be taken over: %s", error)

    async def _take_over(self) -> list[Job]:
        now = asyncio.get_running_loop().time()
        if now < self._next_look:
            return []
        idle = round(self._takeover_after * 1000)
        entries = await self._client.run(
            _TAKE_OVER, GROUP, self._consumer, idle, _AT_ONCE, idle * _FORGET_AFTER, read=list
        )
        if len(entries) < _AT_ONCE:
            self._next_look = now + self._look_every
        return self._client.read(entries, _claimed)

    async def _take(self) -> list[Job]:
        """New jobs; after an outage, once, those that are ours: their reply may have been lost."""
        block = min(self._look_every, _BLOCK_SECONDS)
        start = "0" if self._may_have_lost else ">"
        group = ("GROUP", GROUP, self._consumer, *(("COUNT", _AT_ONCE) if start == ">" else ()))
        where = ("BLOCK", max(1, round(block * 1000)), "STREAMS", self._client.keys.jobs, start)
        try:
            jobs = await self._client.wait("XREADGROUP", *group, *where, seconds=block, read=_new)
        except StoreUnreachableError as error:
            if code_of(error.__cause__) != "NOGROUP":
                raise
            # Somebody emptied the server: make the group again.
            self._next_look = 0.0
            return []
        self._may_have_lost = False
        return jobs


def _claimed(entries: list[Any]) -> list[Job]:
    """The jobs of desks that are gone; those whose entries are gone, too, are left out."""
    return [
        _job(receipt, dict(zip(fields[::2], fields[1::2], strict=True)), tries)
        for receipt, fields, tries in (entry for entry in entries if entry is not None)
    ]


def _new(streams: list[Any]) -> list[Job]:
    """The jobs in the one stream that was read, without those that are gone from it."""
    entries = [entry for _, some in streams for entry in some]
    return [_job(receipt, fields) for receipt, fields in entries if fields]


def _job(receipt: bytes, fields: Mapping[bytes, bytes], tries: int = 1) -> Job:
    kind, question_id = fields[b"k"], fields[b"q"]
    which: Literal["ask", "end"] = "ask" if kind == b"ask" else "end"
    return Job(which, question_id.decode(), receipt.decode(), tries, again=kind == b"again")


def _read_due(reply: list[Any]) -> Due:
    left, *names = reply
    return Due([name.decode() for name in names], None if left < 0 else left / 1000)
