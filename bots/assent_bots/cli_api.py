"""``assent api token``: make a bearer token for the hosted API."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from assent.errors import ConfigError
from assent_bots.api_tokens import TOKEN_NAME, new_token, token_hash


def token_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print a new token on stdout, once, and what the settings need to know of it on stderr."""
    if not TOKEN_NAME.fullmatch(args.name):
        raise ConfigError(f"{args.name!r:.80} is no name: 1 to 64 letters, digits and _ . -")
    agents = args.agent or ["*"]
    token = new_token()
    print(token)
    lines = (
        "The token above is shown only now. Add to assent.toml, and restart `assent serve`:",
        "",
        "[[api.token]]",
        f'name = "{args.name}"',
        f'sha256 = "{token_hash(token)}"',
        f"agents = {json.dumps(agents)}",
    )
    print("\n".join(lines), file=sys.stderr)
    return 0
