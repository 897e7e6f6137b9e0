"""``sayso api token``: make a bearer token for the hosted API."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from sayso.errors import ConfigError
from sayso_bots.settings.credentials import holds_api_token, shown
from sayso_bots.settings.tokens import TOKEN_NAME, new_token, token_hash


def token_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print a new token on stdout, once, and what the settings need to know of it on stderr."""
    if not TOKEN_NAME.fullmatch(args.name) or holds_api_token(args.name):
        raise ConfigError(f"{shown(args.name)} is no name: 1 to 64 letters, digits and _ . -")
    agents = ", ".join(_toml(pattern) for pattern in args.agent or ["*"])
    token = new_token()
    print(token)
    lines = (
        "The token above is shown only now. Add to sayso.toml, and restart `sayso serve`:",
        "",
        "[[api.token]]",
        f'name = "{args.name}"',
        f'sha256 = "{token_hash(token)}"',
        f"agents = [{agents}]",
    )
    print("\n".join(lines), file=sys.stderr)
    return 0


def _toml(pattern: str) -> str:
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise ConfigError("--agent is not UTF-8; write the agent's name as it asks") from None
    # JSON's escapes are TOML's, but for the one character that JSON leaves alone.
    return json.dumps(pattern, ensure_ascii=False).replace("\x7f", "\\u007f")
