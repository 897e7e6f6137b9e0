"""What ``sayso mcp`` and ``sayso mcp-proxy`` read: as whom they ask, where, and for how long."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS
from sayso.calls import RunRef, new_id
from sayso.errors import ConfigError
from sayso_bots.cli.arguments import add_store
from sayso_bots.cli.call import UsageError
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import who_and_where
from sayso_bots.mcp.approvals import Asker
from sayso_bots.mcp.asking import Limits
from sayso_bots.settings.durations import parse_duration
from sayso_bots.settings.settings import AskSettings, read_ask_settings
from sayso_bots.settings.source import CONFIG_VARIABLE

KEYS_VARIABLE = "SAYSO_MCP_KEYS"
_SHORTEST_KEY = 32


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings, and as whom to ask."""

    settings: AskSettings
    asker: Asker
    keys: tuple[bytes, ...]
    limits: Limits


def add_asking(parser: Parser) -> None:
    """The options that both commands have."""
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or mcp)")
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="what Always is remembered for (default: $SAYSO_SESSION or user@host)",
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
        "--chat-url", metavar="URL", help="where people find the chat, for clients that open it"
    )
    add_store(parser)


def read_setup(args: argparse.Namespace, env: Mapping[str, str]) -> Setup:
    """What the command line, the environment and the settings say.

    Raises:
        ConfigError: one of them is wrong.
    """
    if find_spec("cryptography") is None:
        raise ConfigError("MCP needs cryptography: install Sayso with its extra `mcp`")
    config = args.config or env.get(CONFIG_VARIABLE, "")
    if config and not Path(config).is_absolute():
        raise ConfigError(f"{config} is looked for wherever the client works: write where it is")
    # Without one, what an agent may have written into its own folder must not count.
    settings = read_ask_settings(config or os.devnull, env, store_url=args.store)
    if settings.store.is_memory:
        raise ConfigError(
            f"{settings.store.name} is memory://, which nobody outside this process can see; "
            "use the Redis of `sayso serve`"
        )
    agent = args.agent or env.get("SAYSO_AGENT") or "mcp"
    session = args.session or env.get("SAYSO_SESSION") or who_and_where()
    project = args.project or env.get("SAYSO_PROJECT") or ""
    # What the gate logs while it tries again ends in a result that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    return Setup(
        settings,
        Asker(
            RunRef(agent, session, run_id=new_id(), project=project),
            _given(args.timeout, "--timeout"),
            _given(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS,
        ),
        _keys(env),
        Limits(chat_url=args.chat_url or ""),
    )


def _keys(env: Mapping[str, str]) -> tuple[bytes, ...]:
    """The keys that seal what clients carry, the newest first; none is one of the store."""
    keys = tuple(key.strip().encode() for key in env.get(KEYS_VARIABLE, "").split(",") if key)
    if any(len(key) < _SHORTEST_KEY for key in keys):
        raise ConfigError(
            f"{KEYS_VARIABLE} holds a key of less than {_SHORTEST_KEY} characters; make one with "
            "`openssl rand -hex 32`"
        )
    return keys


def _given(written: str | None, option: str) -> float | None:
    try:
        return None if written is None else parse_duration(written).total_seconds()
    except ValueError as error:
        raise UsageError(f"{option} {written!r:.40} {error}") from None
