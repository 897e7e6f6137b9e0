"""``sayso pending``: the requests that wait."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence

from sayso.clock import utc_now
from sayso.durations import duration_text
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import record_as_json, say_no_bots, with_store
from sayso_bots.process.terminal import table


def add_arguments(parser: Parser) -> None:
    """Add the store."""
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=pending_command)


def pending_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List what waits, the one that expires first first."""

    async def look(backend: Backend) -> tuple[Sequence[Record], int]:
        return await backend.store.list_requests(), await backend.outbox.count_workers()

    records, desks = with_store(args, env, look)
    if not desks:
        say_no_bots()
    if args.json:
        print(json.dumps([record_as_json(record) for record in records]))
    elif records:
        print(
            table(
                ("REQUEST ID", "TOOL", "AGENT", "SESSION", "EXPIRES IN", "SHOWN IN"), _rows(records)
            )
        )
    else:
        print("Nothing waits. `sayso ask TOOL` asks something.")
    return 0


def _rows(records: Sequence[Record]) -> list[tuple[str, ...]]:
    now = utc_now()
    return [
        (
            record.request.question_id,
            record.request.subject,
            record.request.asker,
            record.request.run.session_id,
            duration_text(record.request.expires_at - now),
            ", ".join(_places(record)) or "nowhere yet",
        )
        for record in records
    ]


def _places(record: Record) -> list[str]:
    return [str(copy.place) for copy in record.copies if copy.message_id]
