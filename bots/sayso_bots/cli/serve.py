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

from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_config
from sayso_bots.cli.parser import Parser
from sayso_bots.config.platforms import Configured
from sayso_bots.config.routes import format_approvers, format_route
from sayso_bots.config.settings import Settings
from sayso_bots.process.log_formats import LOG_FORMATS, LOG_LEVELS, set_up_logging
from sayso_bots.process.resources import collect_seldom, notify_service_manager
from sayso_bots.process.terminal import colour_word, wants_colour
from sayso_bots.server.reloading import Reloading, Rereading
from sayso_bots.server.server import Serving, serving

_log = logging.getLogger(__name__)

_STOPPING = "sayso: stopping; presses in flight are finished first"
_STOPPED = "sayso: stopped"


def add_arguments(parser: Parser) -> None:
    """Add the settings and the form of the log."""
    add_config(parser)
    parser.add_argument(
        "--log-format",
        choices=LOG_FORMATS,
        default="text",
        help="how lines of the log are written (default: text)",
    )
    parser.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        default="info",
        help="from which level on lines are written (default: info)",
    )
    parser.set_defaults(run=serve_command)


def serve_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serve until SIGTERM or Ctrl-C, then finish what is under way; 0."""
    rereading = Rereading(args.config, env)
    settings = rereading.read().settings
    say = _set_up_logging(args, settings.platforms.values())
    colour = wants_colour(sys.stderr, env) and say is _say
    asyncio.run(_serve(settings, rereading, env, say, colour=colour))
    say(_STOPPED)
    return 0


async def _serve(
    settings: Settings,
    rereading: Rereading,
    env: Mapping[str, str],
    say: Callable[[str], None],
    *,
    colour: bool,
) -> None:
    stop, serving_task = asyncio.Event(), asyncio.current_task()
    started = False

    def stop_once() -> None:
        stop.set()
        if not started and serving_task is not None:
            serving_task.cancel()

    with _stop_signals(stop_once):
        try:
            async with (
                serving(settings, rereading=rereading) as bots,
                _hang_up(bots.reloading),
            ):
                started = True
                collect_seldom()
                for line in summary(settings, bots, colour=colour):
                    say(line)
                notify_service_manager("READY=1", env)
                await _until(stop, bots.broken)
                notify_service_manager("STOPPING=1", env)
                say(_STOPPING)
        except asyncio.CancelledError:
            if not stop.is_set():
                raise


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
    """Call ``stop`` at SIGTERM or Ctrl-C; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread listen for signals.
        return
    is_told = False

    def stop_or_exit() -> None:
        nonlocal is_told
        if is_told:
            os._exit(130)
        is_told = True
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
    """Yield the lines for an operator at the start: address, bots, routes, problems."""
    yield f"sayso serves on {bots.url} (settings from {on_one_line(settings.source)})"
    yield f"  store     {settings.store.shown}"
    for name, text in bots.platforms.items():
        yield f"  {name:8}  {on_one_line(text)}"
    yield f"  routes    {len(settings.routes.routes)}, the first that matches:"
    for route in settings.routes.routes:
        who = format_approvers(settings.routes, route) or "NOBODY"
        yield on_one_line(f"    {format_route(route)}; may approve: {who}")
    if settings.api is not None:
        names = dict.fromkeys(token.name for token in settings.api.tokens)
        yield f"  api       {bots.url}/openapi.json; tokens: {', '.join(names)}"
    word = colour_word("warning", colour=colour)
    for text in (*(warning.text for warning in settings.warnings), *settings.api_warnings):
        yield f"{word}: {on_one_line(text)}"
    for finding in bots.findings:
        if finding.level != "ok":
            yield f"{word}: {on_one_line(f'{finding.subject}: {finding.text}')}"


def _set_up_logging(
    args: argparse.Namespace, platforms: Iterable[Configured]
) -> Callable[[str], None]:
    """Write the log as it is wanted; the function that says what is no part of it."""
    adapters = (type(on.platform).__module__.partition(".")[0] for on in platforms)
    names = ("sayso", "sayso_bots", *adapters)
    set_up_logging(names, written_as=args.log_format, level=args.log_level)
    # A line that is no object would be in the way of whoever reads the log as JSON.
    return _log.info if args.log_format == "json" else _say


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
