"""Servers of ``sayso mcp`` and ``sayso mcp-proxy``. Loaded by them alone: it takes a while."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

from sayso.agent.place import here, project_folder
from sayso.errors import ConfigError
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso_bots.asking.service import AskService
from sayso_bots.cli.mcp_setup import Setup, read_http_token, read_setup
from sayso_bots.cli.named import LOOPBACK, keep_from_children, parse_address, take_port
from sayso_bots.mcp.approvals import Approvals, ServerGoneError
from sayso_bots.mcp.builtin import Asked, Own
from sayso_bots.mcp.guard import Guard, Running
from sayso_bots.mcp.http_transport import PATH, HttpTransport
from sayso_bots.mcp.messages import MOST_BYTES
from sayso_bots.mcp.proxy import Proxy
from sayso_bots.mcp.stdio import Conversation, Process
from sayso_bots.mcp.upstreams import BuiltinUpstream, HttpUpstream, ProcessUpstream, Upstream
from sayso_bots.mcp.web import Peer, Web
from sayso_bots.process.lines import Lines, our_lines
from sayso_bots.process.signals import StoppedError, run_stoppable
from sayso_bots.server.webserver import answering, url_of
from sayso_bots.strict_json import MalformedMessageError

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def own_server(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serve the tools that ask, until the client has gone."""
    setup = read_setup(args, env)
    if args.listen:
        return _until_stopped(_listening(args, env, setup, BuiltinUpstream(Own()), own=True))
    # The calls that its clients name are those of an agent that works in this folder.
    setup = replace(setup, folder=project_folder(str(Path.cwd())))
    return _until_stopped(_own(setup))


async def _own(setup: Setup) -> int:
    async with open_store(setup.settings.store.url) as backend, our_lines(MOST_BYTES) as lines:
        await Conversation(lines, _proxy(setup, backend, own=True), Own()).run()
    return 0


def proxied(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Stand between until the client or the server has gone."""
    if args.server:
        keep_from_children(args.store)
    setup, headers = read_setup(args, env), _headers(args.header, env)
    if args.listen:
        return _until_stopped(_before_all(args, env, setup, headers))
    if args.url:
        return _until_stopped(_before_address(args.url, headers, setup))
    return _until_stopped(_before_process(args.server, env, setup))


async def _before_all(
    args: argparse.Namespace, env: Mapping[str, str], setup: Setup, headers: Mapping[str, str]
) -> int:
    if args.server and which(args.server[0], path=env.get("PATH")) is None:
        # Else only its clients would read so.
        raise ConfigError(f"the server cannot be started: there is no command {args.server[0]}")
    web = Web(args.url, headers) if args.url else None
    upstream = HttpUpstream(web) if web is not None else ProcessUpstream(args.server, env)
    return await _listening(args, env, setup, upstream)


async def _listening(
    args: argparse.Namespace,
    env: Mapping[str, str],
    setup: Setup,
    upstream: Upstream,
    *,
    own: bool = False,
) -> int:
    """Serve clients over HTTP until a signal comes."""
    host, port = parse_address(args.listen)
    token = read_http_token(env, host)
    names = {*LOOPBACK, *args.name} if host in LOOPBACK or args.name else ()
    try:
        with take_port(host, port) as sockets:
            async with open_store(setup.settings.store.url) as backend:
                proxy = _proxy(setup, backend, own=own)
                http = HttpTransport(proxy, upstream, token=token, names=names)
                async with answering(sockets, http.routes(), handler_cancellation=True):
                    print(f"sayso: serves MCP on {url_of(sockets)}{PATH}", file=sys.stderr)
                    try:
                        await asyncio.Event().wait()
                    finally:
                        await http.finish()
    finally:
        await upstream.close()
    return 0


async def _before_process(command: list[str], env: Mapping[str, str], setup: Setup) -> int:
    async with open_store(setup.settings.store.url) as backend, our_lines(MOST_BYTES) as lines:
        server = Process(command, lines.write)
        try:
            await server.start(env)
        except ServerGoneError as error:
            raise ConfigError(f"the server cannot be started: {error}") from None
        try:
            talking = asyncio.create_task(Conversation(lines, _proxy(setup, backend), server).run())
            async with _ending(talking):
                ended = asyncio.create_task(server.ended.wait())
                async with _ending(ended):
                    await asyncio.wait({talking, ended}, return_when=asyncio.FIRST_COMPLETED)
                if talking.done():
                    talking.result()
                    return 0
        finally:
            await server.close()
        print(f"sayso: the server has ended, with code {server.code}", file=sys.stderr)
        return 1


async def _before_address(url: str, headers: Mapping[str, str], setup: Setup) -> int:
    async with open_store(setup.settings.store.url) as backend, our_lines(MOST_BYTES) as lines:
        web = Web(url, headers)
        peer = Listening(web, lines)
        try:
            await Conversation(lines, _proxy(setup, backend), peer).run()
        finally:
            await peer.leave()
            await web.close()
    return 0


class Listening(Peer):
    """The address as the client at our stdin speaks to it: it hears all that the server says."""

    def __init__(self, web: Web, lines: Lines) -> None:
        super().__init__(web)
        self._lines = lines
        self._hearing: asyncio.Task[None] | None = None

    async def send(self, message: Any) -> None:
        """Hand on; once the client has begun, the server may speak by itself."""
        await super().send(message)
        if message.method == "notifications/initialized" and self._hearing is None:
            self._hearing = asyncio.create_task(self.listen(self._lines.write))

    async def leave(self) -> None:
        """Hear no more, and tell the server."""
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait({self._hearing})
        await super().leave()


@asynccontextmanager
async def _ending(task: asyncio.Task[Any]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _proxy(setup: Setup, backend: Backend, *, own: bool = False) -> Proxy:
    service = AskService(backend, setup.settings, setup.requester, "mcp", locate=here)
    approvals = Approvals(service, setup.run, setup.folder)
    running = Running(approvals, reports=not own)
    return (Asked if own else Proxy)(Guard(approvals, running, setup.run.agent_id))


def _until_stopped(work: Coroutine[Any, Any, int]) -> int:
    try:
        return run_stoppable(work, _SIGNALS)
    except StoppedError:
        return 143
    except MalformedMessageError:
        print("sayso: a message is too long; what follows it cannot be read", file=sys.stderr)
        return 1


def _headers(written: list[str], env: Mapping[str, str]) -> Mapping[str, str]:
    """The headers for the server; their values are never on a command line.

    Raises:
        ConfigError: a variable is not set.
    """
    found = {}
    for one in written:
        name, equals, variable = one.partition("=")
        if not equals or not name or not variable:
            raise ConfigError("--header: write NAME=VARIABLE, where the value is in the variable")
        if not (value := env.get(variable, "")):
            raise ConfigError(f"--header {name}: {variable} is not set")
        found[name] = value
    return found
