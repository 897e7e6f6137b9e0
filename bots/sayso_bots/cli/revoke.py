"""``sayso revoke``: take a stored rule back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from sayso.stores.backend import Backend
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import BEGINNING, find_rule_id, who_and_where, with_store


def add_arguments(parser: Parser) -> None:
    """Add the rule and the store."""
    parser.add_argument(
        "rule",
        metavar="RULE",
        help=f"the rule's id or its first characters, {BEGINNING} or more; `sayso rules` lists it",
    )
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=revoke_command)


def revoke_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Take a remembered rule back; 1 when there is none of this id."""
    by = f"cli:{who_and_where()}"

    async def revoke(backend: Backend) -> bool:
        args.rule = await find_rule_id(backend, args.rule)
        return await backend.rules.revoke(args.rule, by=by)

    revoked = with_store(args, env, revoke)
    if args.json:
        print(json.dumps({"ruleId": args.rule, "revoked": revoked}))
    elif revoked:
        print(f"revoked {on_one_line(args.rule)}: its calls are asked about again")
    else:
        print(
            f"not revoked: no rule {on_one_line(args.rule)} is in force; `sayso rules` lists them"
        )
    return 0 if revoked else 1
