"""``sayso mcp``: a server of tools by which an agent asks, and none that answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from sayso.errors import ConfigError
from sayso.text.secrets import has_login
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_asking_store, add_json
from sayso_bots.cli.mcp_setup import add_asking
from sayso_bots.cli.named import (
    named_settings,
    options_of,
    say_login,
    seconds_of,
    with_login,
    written_address,
    written_config,
)
from sayso_bots.cli.parser import Parser
from sayso_bots.hook.settings_file import this_command
from sayso_bots.mcp.install.clients import CLIENTS, SCOPES
from sayso_bots.mcp.install.wrapping import SettingsFile

_MORE = """

Its tools ask: request_approval, approval_status, and permission_prompt for
Claude Code's option --permission-prompt-tool. None of them can approve.
"""


def add_arguments(parser: Parser) -> None:
    """Add as whom it asks, and where."""
    parser.description = f"{parser.description}{_MORE}"
    add_asking(parser)
    actions = parser.add_group("ACTION")
    text = "put the proxy before the servers of a client, or take it out again"
    install = parser.add_action(actions, "install", install_command, text)
    install.add_argument(
        "client", choices=tuple(CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS)
    )
    install.add_argument(
        "server", nargs="*", default=[], metavar="SERVER", help="which of its servers (all)"
    )
    install.add_argument("--undo", action="store_true", help="take out what was written")
    install.add_argument(
        "--scope",
        choices=SCOPES,
        default=SCOPES[0],
        metavar="SCOPE",
        help="user (in your home) or project (in this folder)",
    )
    install.add_argument("--file", metavar="FILE", help="the settings, if they are elsewhere")
    install.add_argument(
        "--timeout", metavar="10m", help="how long to wait at most (default: the route's, or 10m)"
    )
    add_json(install)
    add_asking_store(install)
    # Without an action it serves.
    parser.set_defaults(run=mcp_command)


def mcp_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serve until the client has gone."""
    from sayso_bots.cli.mcp_serving import own_server

    return own_server(args, env)


def install_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Write the proxy into a client's settings, or take it out."""
    client = CLIENTS[args.client]
    at = Path(args.file).absolute() if args.file else client.file(args.scope, env, Path.cwd())
    file = SettingsFile(client, at)
    if args.undo:
        if args.server:
            raise ConfigError(
                "--undo is for all servers: name none, or install before those that are to stay"
            )
        names = file.undo()
        _tell(args, at, names, [], changed=bool(names), said="is taken out; it stood before")
        return 0
    if args.store and has_login(args.store):
        raise ConfigError("--store holds a password, which would stand in a file; leave it out")
    config = written_config(args.config, env)
    settings = named_settings(config, with_login(args.store, env), env, who="client")
    seconds_of(args.timeout, "--timeout")
    address = written_address(settings.store)
    given = {"--config": config, "--store": address, "--timeout": args.timeout}

    def before(name: str) -> tuple[str, ...]:
        return (*this_command(), "mcp-proxy", *options_of({**given, "--agent": name}), "--")

    done, left, changed = file.install(args.server, before)
    _tell(args, at, done, left, changed=changed, said="stands before")
    for name in left:
        print(_ADDRESS.format(name=on_one_line(name)), file=sys.stderr)
    say_login(settings.store, client.title)
    return 0


_ADDRESS = (
    "sayso: {name} is not started by a command, so nothing was put before it; name its address "
    "with `sayso mcp-proxy --url`"
)


def _tell(
    args: argparse.Namespace,
    at: Path,
    names: list[str],
    left: list[str],
    *,
    changed: bool,
    said: str,
) -> None:
    if args.json:
        facts = {"file": str(at), "changed": changed, "servers": names, "left": left}
        print(json.dumps(facts))
        return
    listed = ", ".join(map(on_one_line, names)) or "no server"
    print(f"{at}: the proxy {said} {listed}{'' if changed else '; nothing was changed'}")
