"""``sayso acp``: between an editor and its agent; the first answer, there or in chat, counts."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath

from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS, DEFAULT_TIMEOUT_SECONDS
from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso_bots.acp.messages import MOST_BYTES
from sayso_bots.acp.proxy import Proxy
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.cli.arguments import add_asking_store
from sayso_bots.cli.named import keep_from_children, named_settings, seconds_of
from sayso_bots.cli.parser import Parser
from sayso_bots.config.store_settings import AskSettings
from sayso_bots.process.lines import Child, Lines, child_of, our_lines
from sayso_bots.process.signals import StoppedError, run_stoppable
from sayso_bots.strict_json import MalformedMessageError

_MORE = """

Write the command of the agent after --, and this command where the editor wants the agent's:
  sayso acp -- npx -y @zed-industries/claude-code-acp
What the agent asks the editor is asked in chat as well. The first answer counts.
Settings in the folder it works in are not read: name them with --config or $SAYSO_CONFIG.
"""


def add_arguments(parser: Parser) -> None:
    """Add the agent, as whom it asks, and for how long."""
    parser.description = f"{parser.description}{_MORE}"
    parser.add_argument(
        "command", nargs="*", default=[], metavar="COMMAND", help="the command of the agent"
    )
    parser.add_argument(
        "--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or the command's name)"
    )
    parser.add_argument(
        "--chat-only", action="store_true", help="do not ask the editor: only people in chat answer"
    )
    parser.add_argument("--timeout", metavar="10m", help="how long to wait at most (10m)")
    parser.add_argument(
        "--patience", metavar="10s", help="how long a store that is away is waited for (10s)"
    )
    add_asking_store(parser)
    parser.set_defaults(run=acp_command)


def acp_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Stand between until one of the two has gone; 1 where it was the agent."""
    if not args.command:
        raise ConfigError("no agent is named: write its command after --")
    keep_from_children(args.store)
    settings = named_settings(args.config, args.store, env)
    requester = Requester(
        args.agent or env.get("SAYSO_AGENT") or PurePath(args.command[0]).name,
        seconds_of(args.timeout, "--timeout") or DEFAULT_TIMEOUT_SECONDS,
        seconds_of(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS,
    )
    # What is written there goes to the editor's log; the gate's own tries are said better.
    logging.basicConfig(level=logging.WARNING, format="sayso: %(message)s")
    logging.getLogger("sayso").setLevel(logging.ERROR)
    try:
        work = _between(args, env, settings, requester)
        return run_stoppable(work, (signal.SIGTERM, signal.SIGHUP))
    except StoppedError:
        return 143


async def _between(
    args: argparse.Namespace, env: Mapping[str, str], settings: AskSettings, requester: Requester
) -> int:
    async with (
        open_store(settings.store.url) as backend,
        our_lines(MOST_BYTES) as editor,
        child_of(args.command, env, MOST_BYTES) as agent,
    ):
        service = AskService(backend, settings, requester, "acp")
        return await _talk(editor, agent, service, chat_only=args.chat_only)


async def _talk(editor: Lines, agent: Child, service: AskService, *, chat_only: bool) -> int:
    proxy = Proxy(service, to_editor=editor.write, to_agent=agent.lines.write, chat_only=chat_only)
    from_editor = asyncio.create_task(_handed_on(editor, proxy.from_editor))
    from_agent = asyncio.create_task(_handed_on(agent.lines, proxy.from_agent))
    both = {from_editor, from_agent}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if from_editor.done():
            return from_editor.result()
        print("sayso: the agent has ended", file=sys.stderr)
        return 1
    finally:
        for task in both:
            task.cancel()
        await asyncio.wait(both)
        await proxy.close()


async def _handed_on(lines: Lines, take: Callable[[bytes], Awaitable[None]]) -> int:
    """Hand on lines until there are no more, or one that nobody can read."""
    try:
        while (line := await lines.read()) is not None:
            await take(line)
    except MalformedMessageError:
        print("sayso: a message is longer than 16 MiB", file=sys.stderr)
        return 1
    return 0
