"""The bots: store, platforms, desk and web server wired together, started and stopped in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from sayso.errors import ConfigError, DeliveryError, SaysoError
from sayso.platforms.bot import Bot, Finding
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.tasks import Background
from sayso.text.secrets import hiding
from sayso.worker.worker import ApprovalWorker, WorkerOptions
from sayso_bots.api.api import hosted_api
from sayso_bots.api.stream import StreamLimits
from sayso_bots.config.settings import Settings
from sayso_bots.process.resources import Room, raised_file_limit, room_in
from sayso_bots.server.checks import (
    load_kinds,
    look_at_groups,
    look_at_places,
    look_at_platform,
    look_into_store,
)
from sayso_bots.server.floor import Laying
from sayso_bots.server.health import Health
from sayso_bots.server.reloading import Reloading, Rereading
from sayso_bots.server.waiting import wait_for_store
from sayso_bots.server.webserver import answering, bind_port, url_of

_log = logging.getLogger(__name__)

# Until a platform has said who the bot is there, no press of its is taken.
_AGAIN_SECONDS, _LONGEST_SECONDS = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class Serving:
    """The bots at work. ``broken`` ends with an error when a part of them failed for good.

    ``reloading`` reads their policy again, where it can be read again.
    """

    url: str
    platforms: Mapping[str, str]
    findings: Sequence[Finding]
    broken: asyncio.Future[None]
    reloading: Reloading | None = None


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    backend: Backend | None = None,
    rereading: Rereading | None = None,
) -> AsyncIterator[Serving]:
    """The bots while the block runs, on the store of the settings unless another one is given.

    With ``rereading``, by which the settings were read, their policy follows its files.

    At the end nothing new is accepted, presses in flight are stored and
    answered, and then everything closes in the order it depends on each other.

    Raises:
        ConfigError: a setting turns out not to work; the message says which.
        SaysoError: no platform can be reached for now.
        StoreUnreachableError: the store did not answer for as long as it is waited for.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(hiding(settings.hiding))
        load_kinds(settings.questions.types)
        room = room_in(raised_file_limit())
        sockets = stack.enter_context(
            bind_port(
                settings.server.host, settings.server.port, reuse_port=settings.server.reuse_port
            )
        )
        if backend is None:
            backend = await stack.enter_async_context(open_store(settings.store.url))
        findings = [
            await wait_for_store(backend, settings.store, sockets),
            *await _check_store(backend, settings),
        ]
        opened = {
            name: await stack.enter_async_context(configured.open(backend.key_value))
            for name, configured in settings.platforms.items()
        }
        introduced = await _introduce_bots(settings, opened)
        findings += [*introduced.values(), *await _look_around(settings, opened, introduced)]
        work = _Work()
        reloading = await stack.enter_async_context(_policy(settings, backend, work, rereading))
        health = await stack.enter_async_context(Health(backend, opened, reloading=reloading))
        late = [name for name, finding in introduced.items() if finding.level == "failed"]
        part = _chatting(settings, backend, opened, work, late=late)
        routes = [*health.routes(), *await stack.enter_async_context(part)]
        api = await stack.enter_async_context(_api(settings, backend, opened, room))
        routes += api.routes
        each = settings.server.connections_per_source
        server = answering(sockets, routes, most_connections=room.connections, each=each)
        await stack.enter_async_context(server)
        # Before the web server stops, which would wait for streams and polls to end by themselves.
        stack.callback(api.end)
        names = {name: finding.text for name, finding in introduced.items()}
        yield Serving(url_of(sockets), names, findings, work.broken, reloading)


@asynccontextmanager
async def _chatting(
    settings: Settings,
    backend: Backend,
    opened: Mapping[str, Bot],
    work: _Work,
    *,
    late: Collection[str],
) -> AsyncIterator[list[web.RouteDef]]:
    """The desk at work, and all that comes in from the platforms; ``late`` ones are away yet."""
    desk, routes = _desk(settings, backend, opened), list[web.RouteDef]()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(work.going_on(desk.run))
        for name, bot in opened.items():
            part = _listening(name, bot, desk, backend, work, later=name in late)
            routes += await stack.enter_async_context(part)
        yield routes


@asynccontextmanager
async def _listening(
    name: str, bot: Bot, desk: ApprovalWorker, backend: Backend, work: _Work, *, later: bool
) -> AsyncIterator[list[web.RouteDef]]:
    """Listen to a platform for the desk; ``later``: the bot asks who it is again."""
    async with AsyncExitStack() as stack:
        listening = await stack.enter_async_context(
            bot.listening(desk, backend.key_value, owner=desk.name)
        )
        if listening.fetch is not None:
            await stack.enter_async_context(work.going_on(listening.fetch))
        if later:
            await stack.enter_async_context(work.going_on(partial(_introduce_later, name, bot)))
        yield list(listening.routes)


@asynccontextmanager
async def _policy(
    settings: Settings, backend: Backend, work: _Work, rereading: Rereading | None
) -> AsyncIterator[Reloading | None]:
    """The policy as the floor of all agents, and up to date where its files can be read again."""
    async with AsyncExitStack() as stack:
        laying, reloading = Laying(backend.rules, settings.policies), None
        await laying.lay()
        await stack.enter_async_context(work.going_on(laying.run))
        if rereading is not None:
            reloading = Reloading(rereading, settings.policies, laying.change)
            await stack.enter_async_context(work.going_on(reloading.run))
        yield reloading


def _desk(settings: Settings, backend: Backend, opened: Mapping[str, Bot]) -> ApprovalWorker:
    """The desk behind all platforms, as the settings want it."""
    return ApprovalWorker(
        backend,
        [bot.adapter for bot in opened.values()],
        settings.routes,
        WorkerOptions(
            terms=settings.always,
            refusals=settings.questions.refusals,
            keeps_log=settings.api is not None,
            bundle_window=settings.questions.together,
            keep_audit=settings.store.keep_audit,
            limits=settings.limits,
        ),
        callers=[caller for bot in opened.values() if (caller := bot.caller) is not None],
    )


@dataclass(frozen=True, slots=True)
class _Door:
    """A way in over HTTP: its endpoints, and how its calls that wait are ended."""

    routes: Sequence[web.RouteDef] = ()
    end: Callable[[], None] = lambda: None


@asynccontextmanager
async def _api(
    settings: Settings, backend: Backend, opened: Mapping[str, Bot], room: Room
) -> AsyncIterator[_Door]:
    """The hosted API, nothing while no token is configured."""
    if settings.api is None:
        yield _Door()
        return
    adapters = {name: bot.adapter for name, bot in opened.items()}
    async with hosted_api(
        settings.api,
        backend,
        settings.routes,
        adapters,
        policies=settings.policies,
        terms=settings.always,
        limits=StreamLimits(most=room.streams),
    ) as api:
        yield _Door(api.routes(), api.end)


async def _check_store(backend: Backend, settings: Settings) -> Sequence[Finding]:
    """Return the problems of the store.

    Raises:
        ConfigError: it does not permit what is needed: nothing that is decided would count.
    """
    findings = await look_into_store(backend)
    if denied := [one.text for one in findings if one.level == "failed" and not one.passing]:
        raise ConfigError(f"{settings.store.name}: {'; '.join(denied)}")
    return findings


async def _introduce_bots(settings: Settings, opened: Mapping[str, Bot]) -> Mapping[str, Finding]:
    """Ask each platform who the bot is. One that is away for now is asked again later."""
    looks = await asyncio.gather(
        *(look_at_platform(settings.platforms[name], bot) for name, bot in opened.items())
    )
    found = dict(zip(opened, looks, strict=True))
    failed = {name: finding for name, finding in found.items() if finding.level == "failed"}
    for name, finding in failed.items():
        if not finding.passing:
            raise ConfigError(f"{name}: {finding.text}")
    if failed and len(failed) == len(found):
        # No setting is wrong: whoever starts the bots again may have better luck.
        raise SaysoError("; ".join(f"{name}: {finding.text}" for name, finding in failed.items()))
    return found


async def _look_around(
    settings: Settings, opened: Mapping[str, Bot], introduced: Mapping[str, Finding]
) -> list[Finding]:
    """Look at what should be known before the first question.

    Raises:
        ConfigError: there is no place where a card could be shown.
    """
    there = {name: bot for name, bot in opened.items() if introduced[name].level != "failed"}
    places = await look_at_places(there, settings.routes)
    failed = [finding for finding in places.values() if finding.level == "failed"]
    if failed and len(failed) == len(places) and len(there) == len(opened):
        reasons = "; ".join(finding.text for finding in failed)
        raise ConfigError(f"no place of any [[route]] can be used: {reasons}")
    findings = [*failed, *await look_at_groups(there, settings.routes)]
    for bot in there.values():
        findings += await bot.look()
    return findings


async def _introduce_later(name: str, bot: Bot) -> None:
    """Ask until the platform answers: without its own id there, the bot takes no presses."""
    seconds = _AGAIN_SECONDS
    while True:
        await asyncio.sleep(seconds)
        try:
            _log.info("%s answers again: %s", name, await bot.introduce())
            break
        except DeliveryError as error:
            _log.warning("%s: %s", name, error.reason)
            seconds = max(min(2 * seconds, _LONGEST_SECONDS), error.retry_after or 0.0)
    await asyncio.Event().wait()


class _Work:
    """The parts of the bots that never end, and a future that fails when one of them does."""

    def __init__(self) -> None:
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._background = Background("a part of the bots", failed=self._failed)

    def going_on(self, work: Callable[[], Awaitable[None]]) -> AbstractAsyncContextManager[None]:
        """The work goes on while the block runs."""
        return self._background.during(_for_ever(work))

    def _failed(self, error: BaseException) -> None:
        if not self.broken.done():
            self.broken.set_exception(error)


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    await work()
    raise RuntimeError("a part of the bots ended by itself")
