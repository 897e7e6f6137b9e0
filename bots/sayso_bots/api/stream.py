"""Calls that stay open: server-sent events of one branch, and long polls of one request."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

from sayso.calls import RunRef
from sayso.errors import EventsMissedError, SaysoError
from sayso.feed.feed import BranchFeed, Follower
from sayso.stores.backend import Backend
from sayso.stores.branch_log import LoggedEvent, Position
from sayso.stores.inbox import Inbox
from sayso.stores.protocols import Record
from sayso_bots.api.problems import ApiProblem
from sayso_bots.process.resources import MOST_STREAMS
from sayso_bots.process.sources import gone

_AGAIN = {"Retry-After": "5"}


class Places:
    """So many calls of one process stay open at a time; no caller has more than half of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._each = max(1, most // 2)
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._taken.total()

    @contextmanager
    def take(self, caller: str) -> Iterator[None]:
        """A place for this caller while the block runs.

        Raises:
            ApiProblem: there is none left, or none for this caller.
        """
        if len(self) >= self._most:
            detail = "this server has no room for more streams now; come back later"
            raise ApiProblem(503, "TooManyStreams", detail, headers=_AGAIN)
        if self._taken[caller] >= self._each:
            detail = f"{self._each} streams or waits are open with this token; close some"
            raise ApiProblem(429, "TooManyStreams", detail, headers=_AGAIN)
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]


LONGEST_WAIT = 30.0
"""Many proxies give up a call that is not answered within 60 s."""


class Polls:
    """Waits of one process; ``place_for`` a caller is taken for as long as one of its waits is.

    They share the subscription of an inbox, and look in the store once each.
    """

    def __init__(self, backend: Backend, place_for: Callable[[str], AbstractContextManager[None]]):
        self._backend = backend
        self._place_for = place_for
        self._stopping = asyncio.Event()

    def end(self) -> None:
        """End all waits, now and from now on: whoever waited asks again where somebody serves."""
        self._stopping.set()

    async def wait(self, request: web.Request, caller: str, record: Record, seconds: float) -> None:
        """Return when the record's request has ended, after so many seconds, or without a caller.

        What ``place_for`` raises where there is none for this caller is raised here.
        """
        if record.ending is not None or seconds <= 0 or self._stopping.is_set():
            return
        with self._place_for(caller):
            await self._wait(request, record, seconds)

    async def _wait(self, request: web.Request, record: Record, seconds: float) -> None:
        question_id = record.request.question_id
        inbox = self._backend.inbox
        future = inbox.expect(question_id)
        looked = _begun(_look(inbox, question_id, record.seconds_left))
        others = [_begun(self._stopping.wait()), _begun(gone(request))]
        ends: set[asyncio.Future[Any]] = {future, *others}
        waits: set[asyncio.Future[Any]] = {looked, *ends}
        try:
            async with asyncio.timeout(seconds):
                while not any(one.done() for one in ends):
                    done, waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    if looked in done and looked.exception() is not None:
                        return  # the store is away: whoever looks next says so
        except TimeoutError:
            pass
        finally:
            for one in (looked, future, *others):
                one.cancel()
            await asyncio.gather(looked, future, *others, return_exceptions=True)
            inbox.forget(question_id, future)


async def _look(inbox: Inbox, question_id: str, seconds_left: float) -> None:
    """Listen, then look: from now on its end rings."""
    await inbox.listening()
    inbox.due_in(question_id, max(0.0, seconds_left))
    await inbox.look([question_id])


def _begun(work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
    return asyncio.ensure_future(work)


# What was sent to a client that was cut off may still be read for so long.
_LINGER_SECONDS = 30.0
_RETRY_MILLISECONDS = 2_000
# Larger events are not worth the memory of keeping what was sent.
_SMALL_CHARACTERS = 16_384
ERROR_EVENT = "stream-error"

_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    # nginx would hold events back.
    "X-Accel-Buffering": "no",
}


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How often an idle stream says that it lives, how long a client may take for an event.

    ``most`` streams and waits are open at a time, and no caller has more than half of them.
    """

    heartbeat_seconds: float = 15.0
    patience_seconds: float = 10.0
    most: int = MOST_STREAMS


class Streams:
    """The event streams of one process. They end when it does, or one by one."""

    def __init__(self, feed: BranchFeed, limits: StreamLimits, places: Places) -> None:
        self._feed = feed
        self._limits = limits
        self._places = places
        self._tasks: set[asyncio.Task[object]] = set()
        self._ending = False

    def __len__(self) -> int:
        return len(self._tasks)

    def end(self) -> None:
        """End all streams; clients come back by themselves, wherever somebody serves then."""
        self._ending = True
        for task in self._tasks:
            task.cancel()

    async def answer(
        self,
        request: web.Request,
        run: RunRef,
        after: Position | None,
        headers: Mapping[str, str],
        caller: str,
    ) -> web.StreamResponse:
        """Send the events of the branch after the position until somebody ends it.

        Raises:
            ApiProblem: events after the position are gone, or there are too many
                streams, of all callers or of this one, who has half of them at most.
            StoreUnreachableError: the store does not answer.
        """
        async with self._place_for(caller):
            try:
                async with self._feed.follow(run, after) as follower:
                    response, last = await self._send(request, follower, headers)
            except EventsMissedError as error:
                raise ApiProblem(
                    410, "EventsGone", str(error), lastEventId=error.position
                ) from None
        if last:
            await _cut_off(request, response, last)
        return response

    @asynccontextmanager
    async def _place_for(self, caller: str) -> AsyncIterator[None]:
        """A place among the streams for this task; the end of all streams ends the block too."""
        if self._ending:
            raise _stopping()
        task = asyncio.current_task()
        if task is None:
            raise TypeError("a stream is answered in a task")
        with self._places.take(caller):
            self._tasks.add(task)
            try:
                yield
            except asyncio.CancelledError:
                if not self._ending:
                    raise
                task.uncancel()
                raise _stopping() from None
            finally:
                self._tasks.discard(task)

    async def _send(
        self, request: web.Request, follower: Follower, headers: Mapping[str, str]
    ) -> tuple[web.StreamResponse, bytes]:
        """The stream that was sent, and what is still to be said where it was cut off."""
        response = web.StreamResponse(headers={**_HEADERS, **headers})
        if request.version >= HttpVersion11:
            response.enable_chunked_encoding()
        writer = await response.prepare(request)
        if writer is None:
            raise TypeError("a stream was prepared before")
        try:
            await writer.write(_opening(follower.position))
            while True:
                await self._send_next(writer, follower)
        except SaysoError as error:
            return response, _error_block(error, follower.position)
        except asyncio.CancelledError:
            if not self._ending or (task := asyncio.current_task()) is None:
                raise
            task.uncancel()
        except ConnectionError:
            pass  # the client has gone
        return response, b""

    async def _send_next(self, writer: AbstractStreamWriter, follower: Follower) -> None:
        try:
            async with asyncio.timeout(self._limits.heartbeat_seconds):
                block = event_block(await follower.next())
        except TimeoutError:
            block = b": still here\n\n"
        try:
            async with asyncio.timeout(self._limits.patience_seconds):
                await writer.write(block)
        except TimeoutError:
            raise EventsMissedError(str(follower.position), is_slow=True) from None


def event_block(event: LoggedEvent) -> bytes:
    """An event as it is sent; the same bytes go to all who follow its branch."""
    if len(event.data) > _SMALL_CHARACTERS:
        return _block(event)
    return _small_block(event)


def _block(event: LoggedEvent) -> bytes:
    # JSON of one line: it needs no further escaping.
    return f"id: {event.position}\nevent: {event.type}\ndata: {event.data}\n\n".encode()


_small_block = lru_cache(maxsize=256)(_block)


def _stopping() -> ApiProblem:
    return ApiProblem(503, "Stopping", "the server stops; come back", headers={"Retry-After": "1"})


def _opening(position: Position) -> bytes:
    # An id without data is no event, yet a client that loses the connection comes back with it.
    return f"retry: {_RETRY_MILLISECONDS}\nid: {position}\n\n".encode()


def _error_block(error: SaysoError, position: Position) -> bytes:
    """Why the stream ends and where to go on."""
    code = "StoreUnreachable"
    if isinstance(error, EventsMissedError):
        code = "SlowReader" if error.is_slow else "EventsGone"
    told = {"code": code, "detail": str(error), "lastEventId": str(position)}
    return f"event: {ERROR_EVENT}\ndata: {json.dumps(told)}\n\n".encode()


async def _cut_off(request: web.Request, response: web.StreamResponse, last: bytes) -> None:
    """End the stream with this block; what is not read within 30 s is dropped."""
    if request.transport is None:
        return
    # Neither writing nor closing has an end of its own while the client does not read.
    asyncio.get_running_loop().call_later(_LINGER_SECONDS, request.transport.abort)
    response.force_close()
    with suppress(ConnectionError):
        await response.write_eof(last)
