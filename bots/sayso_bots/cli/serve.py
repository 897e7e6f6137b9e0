"""``sayso serve``: run the bots until somebody stops them."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from sayso_bots.cli.arguments import add_config
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.records import one_line
from sayso_bots.process.resources import collect_seldom
from sayso_bots.process.terminal import coloured, wants_colour
from sayso_bots.server.reloading import Reloading
from sayso_bots.server.server import Serving, serving
from sayso_bots.settings.configured import Configured
from sayso_bots.settings.rereading import Rereading
from sayso_bots.settings.routing import approvers_text, route_text
from sayso_bots.settings.settings import Settings


def add_arguments(parser: Parser) -> None:
    """Where the settings are."""
    add_config(parser)
    parser.set_defaults(run=serve_command)


def serve_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serve until SIGTERM or Ctrl-C, then finish what is under way; 0."""
    rereading = Rereading(args.config, env)
    settings = rereading.read().settings
    _set_up_logging(settings.platforms.values())
    colour = wants_colour(sys.stderr, env)
    asyncio.run(_serve(settings, rereading, colour=colour))
    return 0


async def _serve(settings: Settings, rereading: Rereading, *, colour: bool) -> None:
    stop, serving_task = asyncio.Event(), asyncio.current_task()
    started = False

    def stop_once() -> None:
        stop.set()
        if not started and serving_task is not None:
            serving_task.cancel()

    with _stop_signals(stop_once):
        try:
            async with serving(settings, rereading=rereading) as bots, _hang_up(bots.reloading):
                started = True
                collect_seldom()
                for line in summary(settings, bots, colour=colour):
                    _say(line)
                await _until(stop, bots.broken)
                _say("sayso: stopping; presses in flight are finished first")
        except asyncio.CancelledError:
            if not stop.is_set():
                raise
    _say("sayso: stopped")


async def _until(stop: asyncio.Event, broken: asyncio.Future[None]) -> None:
    """Return when somebody stops the bots; raise when they break."""
    stopped = asyncio.ensure_future(stop.wait())
    ends: set[asyncio.Future[Any]] = {stopped, broken}
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
    if broken.done():
        broken.result()


@contextmanager
def _stop_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at the first SIGTERM or Ctrl-C; the second ends the process at once."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread listen for signals.
        return
    times = 0

    def stop_or_exit() -> None:
        nonlocal times
        times += 1
        if times > 1:
            os._exit(130)
        stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop_or_exit)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _hang_up(reloading: Reloading | None) -> AsyncIterator[None]:
    """Read the policy again at each SIGHUP."""
    loop = asyncio.get_running_loop()
    if reloading is None or threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread listen for signals.
        return
    loop.add_signal_handler(signal.SIGHUP, reloading.now)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


def summary(settings: Settings, bots: Serving, *, colour: bool = False) -> Iterator[str]:
    """What an operator should see at the start: where, who, which routes, what is wrong."""
    yield f"sayso serves on {bots.url} (settings from {one_line(settings.source)})"
    yield f"  store     {settings.store.shown}"
    for name, text in bots.platforms.items():
        yield f"  {name:8}  {one_line(text)}"
    yield f"  routes    {len(settings.routes.routes)}, the first that matches:"
    for route in settings.routes.routes:
        who = approvers_text(settings.routes, route) or "NOBODY"
        yield one_line(f"    {route_text(route)}; may approve: {who}")
    if settings.api is not None:
        names = dict.fromkeys(token.name for token in settings.api.tokens)
        yield f"  api       {bots.url}/openapi.json; tokens: {', '.join(names)}"
    if settings.aap is not None:
        who = ", ".join(dict.fromkeys(one.name for one in settings.aap.provisioners)) or "none"
        yield f"  aap       {bots.url}/aap; provisioners: {who}"
    word = coloured("warning", colour=colour)
    for text in (*(warning.text for warning in settings.warnings), *settings.api_warnings):
        yield f"{word}: {one_line(text)}"
    for finding in bots.findings:
        if finding.level != "ok":
            yield f"{word}: {one_line(f'{finding.subject}: {finding.text}')}"


def _set_up_logging(platforms: Iterable[Configured]) -> None:
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    adapters = (type(on.platform).__module__.partition(".")[0] for on in platforms)
    for name in ("sayso", "sayso_bots", *adapters):
        logging.getLogger(name).setLevel(logging.INFO)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
