"""``sayso api token``: make a bearer token for the hosted API."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from sayso.errors import ConfigError
from sayso.text.agents import shown
from sayso_bots.cli.arguments import add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.config.api_tokens import TOKEN_NAME, hash_token, new_token
from sayso_bots.config.source import holds_api_token


def add_arguments(parser: Parser) -> None:
    """Add the name of the token, and its agents."""
    actions = parser.add_group("ACTION")
    text = "make a bearer token and the settings for it"
    token = parser.add_action(actions, "token", token_command, text)
    token.description = (
        f"{token.description} The token is printed once and stored nowhere; the settings hold "
        "its hash."
    )
    token.add_argument("name", metavar="NAME", help="of who will use it; its actor is api:NAME")
    token.add_argument(
        "--agent",
        action="append",
        metavar="PATTERN",
        help="an agent it speaks for, such as deploy-* (default: all of them)",
    )
    add_json(token)


def token_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print a new token on stdout, once, and what the settings need to know of it on stderr."""
    if not TOKEN_NAME.fullmatch(args.name) or holds_api_token(args.name):
        raise ConfigError(
            f"{shown(args.name)} is not a name: use 1 to 64 letters, digits and _ . -"
        )
    patterns = args.agent or ["*"]
    agents = ", ".join(_toml(pattern) for pattern in patterns)
    token = new_token()
    if args.json:
        print(json.dumps(_as_json(args.name, token, patterns)))
        return 0
    print(token)
    lines = (
        "The token above is shown only now. Add to sayso.toml, and restart `sayso serve`:",
        "",
        "[[api.token]]",
        f'name = "{args.name}"',
        f'sha256 = "{hash_token(token)}"',
        f"agents = [{agents}]",
    )
    print("\n".join(lines), file=sys.stderr)
    return 0


def _as_json(name: str, token: str, patterns: Sequence[str]) -> Mapping[str, object]:
    """Return the token, and its settings under the names that they have there."""
    return {"token": token, "name": name, "sha256": hash_token(token), "agents": list(patterns)}


def _toml(pattern: str) -> str:
    # JSON's escapes are TOML's, but for the one character that JSON leaves alone.
    return json.dumps(pattern, ensure_ascii=False).replace("\x7f", "\\u007f")
