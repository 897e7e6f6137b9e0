"""Setup of ``sayso mcp`` and ``sayso mcp-proxy``: as whom they ask, where, and for how long."""

from __future__ import annotations

import argparse
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS
from sayso.calls import Folder, RunRef, new_id
from sayso.errors import ConfigError
from sayso_bots.asking.service import Requester
from sayso_bots.cli.arguments import add_asking_store
from sayso_bots.cli.named import LOOPBACK, named_settings, read_token, seconds_of, with_login
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import who_and_where
from sayso_bots.config.store_settings import AskSettings

TOKEN_VARIABLE = "SAYSO_MCP_TOKEN"  # noqa: S105  the name of a secret, not the secret


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings, and as whom to ask."""

    settings: AskSettings
    requester: Requester
    run: RunRef
    folder: Folder | None = None


def add_asking(parser: Parser) -> None:
    """Add the options that both commands have."""
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or mcp)")
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="what Always is remembered for (default: $SAYSO_SESSION; without one, for nothing)",
    )
    parser.add_argument(
        "--project", metavar="NAME", help="what it works on: Always can be stored for it"
    )
    parser.add_argument(
        "--timeout", metavar="10m", help="how long to wait at most (default: the route's, or 10m)"
    )
    parser.add_argument(
        "--patience", metavar="10s", help="how long a store that is away is waited for (10s)"
    )
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="serve clients over HTTP instead of stdin and stdout"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="a name under which clients over HTTP reach this, besides those of this machine",
    )
    add_asking_store(parser)


def read_http_token(env: Mapping[str, str], host: str) -> str:
    """Return the token of clients over HTTP; empty where only this machine can reach us.

    Raises:
        ConfigError: others can, and would need to bring nothing.
    """
    token = read_token(env, TOKEN_VARIABLE)
    if not token and host not in LOOPBACK:
        raise ConfigError(
            f"--listen {host} lets other machines in: set {TOKEN_VARIABLE} to what clients must "
            "bring as `Authorization: Bearer …`"
        )
    return token


def read_setup(args: argparse.Namespace, env: Mapping[str, str]) -> Setup:
    """Read the command line, the environment and the settings.

    Raises:
        ConfigError: one of them is wrong.
    """
    if find_spec("aiohttp") is None:
        raise ConfigError("MCP needs aiohttp: install Sayso with its extra `mcp`")
    store = with_login(args.store, env)
    settings = named_settings(args.config, store, env, who="client")
    agent = args.agent or env.get("SAYSO_AGENT") or "mcp"
    session = args.session or env.get("SAYSO_SESSION")
    project = args.project or env.get("SAYSO_PROJECT") or ""
    # What the gate logs while it tries again ends in a result that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    return Setup(
        settings,
        Requester(
            agent,
            seconds_of(args.timeout, "--timeout") or math.inf,
            seconds_of(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS,
        ),
        RunRef(
            agent,
            session or who_and_where(),
            run_id=new_id(),
            project=project,
            is_named=bool(session),
        ),
    )
