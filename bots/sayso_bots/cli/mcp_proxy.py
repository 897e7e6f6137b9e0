"""``sayso mcp-proxy``: between an MCP client and a server; a person is asked before a tool runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from urllib.parse import urlsplit

from sayso.errors import ConfigError
from sayso_bots.cli.mcp_setup import add_asking
from sayso_bots.cli.parser import Parser

_MORE = """

Write the command of the server after --, or its address:
  sayso mcp-proxy --agent files -- npx -y @modelcontextprotocol/server-filesystem /srv
  sayso mcp-proxy --agent wiki --url https://mcp.example.com/mcp
A tool whose call is not approved does not run: the model reads why.
"""


def add_arguments(parser: Parser) -> None:
    """Add the server, as whom to ask, and for how long."""
    parser.description = f"{parser.description}{_MORE}"
    parser.add_argument(
        "server", nargs="*", default=[], metavar="SERVER", help="the command of the server"
    )
    parser.add_argument("--url", metavar="URL", help="the server's address, for streamable HTTP")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME=VARIABLE",
        help="a header for the server, whose value is in this environment variable",
    )
    add_asking(parser)
    parser.set_defaults(run=mcp_proxy_command)


def mcp_proxy_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Stand between until the client or the server has gone; 1 where it was the server."""
    if bool(args.server) == bool(args.url):
        raise ConfigError("name one server: its command after --, or its address with --url")
    if args.url and not _is_address(args.url):
        raise ConfigError(f"--url {args.url!r:.60}: write https://HOST/PATH")
    from sayso_bots.cli.mcp_serving import proxied

    return proxied(args, env)


def _is_address(written: str) -> bool:
    try:
        parts = urlsplit(written)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
