"""``/healthz`` and ``/readyz``: is the process alive, and could it do its work now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web

from sayso.errors import DeliveryError, SaysoError
from sayso.platforms.bot import Bot
from sayso.stores.backend import Backend
from sayso.tasks import Background
from sayso_bots.server.reloading import Reloading

_FRESH_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0
# A probe often has one second: a platform that hangs must not use it up.
_PLATFORM_SECONDS = 0.3
_STORE = "store"
_POLICY = "policy"


class Health:
    """Answers health checks; each part is asked afresh at most every five seconds.

    The process is ready while the store answers. A platform that is away is
    listed as degraded: taking the process out of service would cut off the
    other platforms and the hosted API, and bring nobody back. ``?strict=1``
    counts platforms as well, and waits for them. A policy that could not be
    read again is listed, too: the old one counts. Works inside its ``async with`` block.
    """

    def __init__(
        self,
        backend: Backend,
        bots: Mapping[str, Bot],
        clock: Callable[[], float] = time.monotonic,
        *,
        reloading: Reloading | None = None,
    ) -> None:
        self._reloading = reloading
        self._background = Background("a health check", patience=0)
        asked: dict[str, Callable[[], Awaitable[object]]] = {_STORE: backend.ping}
        asked |= {name: bot.introduce for name, bot in bots.items()}
        self._looks = {name: _Look(ask, self._background, clock) for name, ask in asked.items()}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._background.cancel()

    def routes(self) -> list[web.RouteDef]:
        """The two endpoints."""
        return [web.get("/healthz", alive), web.get("/readyz", self._ready)]

    async def _ready(self, request: web.Request) -> web.Response:
        strict = request.query.get("strict") == "1"
        looking = {name: look.fresh() for name, look in self._looks.items()}
        await looking[_STORE]
        await asyncio.wait(looking.values(), timeout=None if strict else _PLATFORM_SECONDS)
        problems = {name: look.problem for name, look in self._looks.items() if look.problem}
        is_ready = not problems if strict else _STORE not in problems
        if self._reloading is not None and self._reloading.problem:
            problems[_POLICY] = self._reloading.problem
        return readiness(problems, is_ready=is_ready)


class _Look:
    """The last answer of one part; nobody asks it twice at a time."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[object]],
        background: Background,
        clock: Callable[[], float],
    ) -> None:
        self.problem = "no answer yet"
        self._ask = ask
        self._background = background
        self._clock = clock
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None

    def fresh(self) -> asyncio.Task[None]:
        """A task that is done when ``problem`` is fresh; empty is a good sign."""
        ended = self._looking is None or self._looking.done()
        if self._looking is None or (ended and self._clock() - self._looked_at >= _FRESH_SECONDS):
            self._looking = self._background.start(self._look())
        return self._looking

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._ask()
        except TimeoutError:
            self.problem = f"no answer within {_PATIENCE_SECONDS:g} s"
        except DeliveryError as error:
            self.problem = error.reason
        except SaysoError as error:
            self.problem = str(error)
        else:
            self.problem = ""
        self._looked_at = self._clock()


async def alive(_: web.Request) -> web.Response:
    """That the process runs."""
    return web.json_response({"alive": True})


def readiness(problems: Mapping[str, str], *, is_ready: bool) -> web.Response:
    """Answer whether calls should come here: what does not answer and why, the platforms apart."""
    degraded = [name for name in problems if name != _STORE]
    body = {"ready": is_ready, "problems": dict(problems), "degraded": degraded}
    return web.json_response(body, status=200 if is_ready else 503)
