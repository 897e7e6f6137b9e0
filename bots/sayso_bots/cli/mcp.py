"""``sayso mcp``: a server of tools by which an agent asks, and none that answers."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from sayso_bots.cli.mcp_setup import add_asking
from sayso_bots.cli.parser import Parser

_MORE = """

Its tools ask: request_approval, approval_status, and permission_prompt for
Claude Code's option --permission-prompt-tool. None of them can approve.
"""


def add_arguments(parser: Parser) -> None:
    """As whom it asks, and where."""
    parser.description = f"{parser.description}{_MORE}"
    add_asking(parser)
    parser.set_defaults(run=mcp_command)


def mcp_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serve until the client has gone."""
    from sayso_bots.cli.mcp_serving import own_server

    return own_server(args, env)
