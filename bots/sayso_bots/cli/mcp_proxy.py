"""``sayso mcp-proxy``: between an MCP client and a server; a person is asked before a tool runs."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping

from sayso.errors import ConfigError
from sayso.stores.connect import open_backend
from sayso_bots.cli.call import UsageError
from sayso_bots.cli.mcp_setup import Setup, add_asking, read_setup
from sayso_bots.cli.parser import Parser
from sayso_bots.mcp.asking import ServerGoneError
from sayso_bots.mcp.servers.process import Process
from sayso_bots.mcp.stdio import Conversation, our_lines
from sayso_bots.process.signals import StoppedError, run_stoppable

_MORE = """

Write the command of the server after --:
  sayso mcp-proxy --agent files -- npx -y @modelcontextprotocol/server-filesystem /srv
A tool whose call is not approved does not run: the model reads why.
"""


def add_arguments(parser: Parser) -> None:
    """Which server, who asks, and how long to wait."""
    parser.description = f"{parser.description}{_MORE}"
    parser.add_argument("server", nargs="*", metavar="SERVER", help="the command of the server")
    add_asking(parser)
    parser.set_defaults(run=mcp_proxy_command)


def mcp_proxy_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Stand between until the client or the server has gone; 1 where it was the server."""
    if not args.server:
        raise UsageError("no server is named: write its command after --")
    setup = read_setup(args, env)
    try:
        return run_stoppable(_proxied(args, env, setup), (signal.SIGTERM, signal.SIGHUP))
    except StoppedError:
        return 143


async def _proxied(args: argparse.Namespace, env: Mapping[str, str], setup: Setup) -> int:
    async with open_backend(setup.settings.store.url) as backend, our_lines() as lines:
        proxy = setup.proxy(backend)
        server = Process(args.server, lines.write)
        try:
            await server.start(env)
        except ServerGoneError as error:
            raise ConfigError(f"the server cannot be started: {error}") from None
        try:
            return await _talk(Conversation(lines, proxy, server), server)
        finally:
            await proxy.tasks.finish()
            await server.close()


async def _talk(conversation: Conversation, server: Process) -> int:
    """Hand on what passes until the client has gone, or the server."""
    talking = asyncio.create_task(conversation.run())
    ended = asyncio.create_task(server.ended.wait())
    try:
        await asyncio.wait({talking, ended}, return_when=asyncio.FIRST_COMPLETED)
        if talking.done():
            talking.result()
            return 0
        print("sayso: the server has ended", file=sys.stderr)
        return 1
    finally:
        for task in (talking, ended):
            task.cancel()
        await asyncio.wait({talking, ended})
