"""``sayso audit``: what happened."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from sayso.stores.audit import AuditEntry
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.records import json_time, one_line, time_text
from sayso_bots.cli.store import with_store
from sayso_bots.process.terminal import table

_AUDIT = ("AT", "WHAT", "TOOL", "AGENT", "SESSION", "BY", "ID", "MORE")


def add_arguments(parser: Parser) -> None:
    """How much of it, and where the store is."""
    parser.description = f"{parser.description} Arguments are never in it, only their digests."
    parser.add_argument(
        "--last", type=_count, default=50, metavar="N", help="how many entries (default: 50)"
    )
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=audit_command)


def audit_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what happened last, the newest at the end."""
    entries = with_store(args, env, lambda backend: backend.audit.read(args.last))
    if args.json:
        print(json.dumps([_entry_as_json(entry) for entry in entries]))
    elif entries:
        print(table(_AUDIT, [_entry_row(entry) for entry in entries]))
    else:
        print("Nothing has happened yet.")
    return 0


def _entry_row(entry: AuditEntry) -> tuple[str, ...]:
    about_rule = f"rule {entry.rule_id}" if entry.rule_id else ""
    what = " ".join(word for word in (entry.effect, entry.scope) if word)
    choice = "" if entry.choice == "ask" else entry.choice
    refusal = entry.refusal.replace("_", " ")
    more = (refusal, about_rule, what, choice, entry.place, entry.reason)
    return (
        time_text(entry.at),
        entry.kind.replace("_", " "),
        entry.subject,
        entry.agent_id,
        entry.session_id,
        entry.by,
        entry.question_id,
        one_line(", ".join(filter(None, more))),
    )


def _entry_as_json(entry: AuditEntry) -> Mapping[str, Any]:
    facts = asdict(entry) | {"at": json_time(entry.at)}
    return {to_camel(name): value for name, value in facts.items() if value}


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100000")
    return int(text)
