"""``sayso hook serve``: answers the HTTP hook of this user's Claude Code. It loads slowly."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Mapping

from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso_bots.cli.hook_event import setup_of
from sayso_bots.cli.named import LOOPBACK, keep_from_children, parse_address, read_token, take_port
from sayso_bots.hook.agents import CLAUDE_CODE, MAX_BYTES
from sayso_bots.hook.http_hook import DECIDE_PATH, explain_version, read_version
from sayso_bots.hook.http_route import HookRoute
from sayso_bots.hook.settings_file import TOKEN_VARIABLE
from sayso_bots.process.resources import raised_file_limit, room_in
from sayso_bots.process.signals import StoppedError, run_stoppable
from sayso_bots.server.webserver import answering, url_of

# Questions wait for people: at the end they are withdrawn.
_FINISH_SECONDS = 1.0


def serve(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Answer hooks until a signal comes.

    Raises:
        ConfigError: the settings are wrong, or there is no token.
        ConfigError: the store's password stands on the command line, or the address is not here.
    """
    keep_from_children(args.store)
    host, port = parse_address(args.listen)
    if host not in LOOPBACK:
        raise ConfigError(f"--listen {host}: hooks are answered on this machine alone; 127.0.0.1")
    token = read_token(env, TOKEN_VARIABLE)
    if not token:
        raise ConfigError(
            f"{TOKEN_VARIABLE} is not set: make one with `openssl rand -hex 32`, and set it here "
            "and where Claude Code is started"
        )
    if why := explain_version(read_version(env)):
        print(f"sayso: {why}", file=sys.stderr)
    # What the gate logs while it tries again ends in a denial that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    try:
        return run_stoppable(_serve(args, env, host, port, token), (signal.SIGTERM, signal.SIGHUP))
    except StoppedError:
        return 143


async def _serve(
    args: argparse.Namespace, env: Mapping[str, str], host: str, port: int, token: str
) -> int:
    settings, _ = setup_of(args, env, CLAUDE_CODE.key)
    url = settings.store.url
    with take_port(host, port) as sockets:
        async with open_store(url) as store:
            route = HookRoute(store, url, token, lambda: setup_of(args, env, CLAUDE_CODE.key))
            async with answering(
                sockets,
                route.routes(),
                most_connections=room_in(raised_file_limit()).connections,
                handler_cancellation=True,
                most_bytes=MAX_BYTES,
                finish_seconds=_FINISH_SECONDS,
            ):
                print(f"sayso: answers hooks on {url_of(sockets)}{DECIDE_PATH}", file=sys.stderr)
                try:
                    await asyncio.Event().wait()
                finally:
                    await route.close()
    return 0
