"""``sayso hook``: an agent's own hook asks here; `install` writes it into the agent's settings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sayso_bots.cli.arguments import add_asking_store, add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.hook.agents import AGENTS, CLAUDE_CODE
from sayso_bots.hook.settings_file import DEFAULT_ADDRESS, SCOPES, TOKEN_VARIABLE

if TYPE_CHECKING:
    from sayso_bots.cli.parser import Commands

_MORE = """

The answer is on stdout, as {title} wants it. Whatever goes wrong is a denial, or exit code 2,
which stops the call as well. Settings in the folder it works in are not read: name them
with --config or $SAYSO_CONFIG, by their whole path.
"""
_MORE_ON_SERVING = f"""

It needs ${TOKEN_VARIABLE} of 32 characters or more, which Claude Code brings, and
serves this machine alone. `sayso hook install claude-code --http` writes the hook.
"""


def add_arguments(parser: Parser) -> None:
    """Which agent's hook, or into which settings to write it."""
    actions = parser.add_group("ACTION")
    for agent in AGENTS.values():
        text = f"answer one event of a hook of {agent.title}"
        event = parser.add_action(actions, agent.key, by_hand, text)
        event.description = f"{event.description}{_MORE.format(title=agent.title)}"
        event.help_code = 2
        event.set_defaults(hooks=agent.key)
        _add_asking(event)
        add_asking_store(event)
    _add_install(parser, actions)
    serve = parser.add_action(actions, "serve", serve_command, "answer the HTTP hook of this user")
    serve.description = f"{serve.description}{_MORE_ON_SERVING}"
    _add_listen(serve)
    _add_asking(serve)
    add_asking_store(serve)


def _add_install(parser: Parser, actions: Commands) -> None:
    text = "write the hook into an agent's settings, or take it out again"
    install = parser.add_action(actions, "install", install_command, text)
    install.add_argument(
        "for_agent", choices=tuple(AGENTS), metavar="AGENT", help=" or ".join(AGENTS)
    )
    install.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        metavar="SCOPE",
        help="user (in your home), project (in this folder) or local (.claude/settings.local.json)",
    )
    install.add_argument(
        "--event",
        choices=CLAUDE_CODE.events,
        default=CLAUDE_CODE.events[0],
        metavar="EVENT",
        help="PreToolUse for every call, PermissionRequest where the agent would ask itself",
    )
    install.add_argument(
        "--matcher", default="*", metavar="TOOLS", help="the tools, such as 'Bash|Edit' (all)"
    )
    install.add_argument("--undo", action="store_true", help="take out what was written")
    add_json(install)
    install.add_argument(
        "--http",
        action="store_true",
        help="write the HTTP hook of Claude Code, which `sayso hook serve` answers",
    )
    _add_listen(install)
    _add_asking(install)
    add_asking_store(install)


def _add_listen(parser: Parser) -> None:
    parser.add_argument(
        "--listen",
        default=DEFAULT_ADDRESS,
        metavar="HOST:PORT",
        help=f"where the HTTP hook is answered, on this machine ({DEFAULT_ADDRESS})",
    )


def _add_asking(parser: Parser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: its own name)")
    parser.add_argument(
        "--timeout", metavar="10m", help="how long to wait at most (default: 9m, or 10m installed)"
    )
    parser.add_argument(
        "--patience", metavar="10s", help="how long a store that is away is waited for (10s)"
    )


def by_hand(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Say who starts this: a terminal is at its input."""
    agent = AGENTS[args.hooks]
    print(
        (
            f"sayso: {agent.title} starts this and writes the event to its input; `sayso hook "
            f"install {agent.key}` puts it into the settings"
        ),
        file=sys.stderr,
    )
    return 2


def serve_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Answer the HTTP hook of Claude Code until a signal comes."""
    from sayso_bots.cli.hook_serving import serve

    return serve(args, env)


def install_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Write the hook into the settings, or take it out."""
    from sayso_bots.cli.hook_install import install

    return install(args, env)
