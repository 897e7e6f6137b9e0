"""``sayso show``: one request, its cards and how it ended."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from sayso.clock import utc_now
from sayso.durations import duration_text
from sayso.events import UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record
from sayso.text.secrets import hiding, redacted_text
from sayso.text.visible import folded, on_one_line, visible
from sayso.values.value import plain_text
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import (
    add_request,
    ended_text,
    find_request,
    record_as_json,
    say_no_bots,
    time_text,
    with_store,
)
from sayso_bots.config.settings import read_hiding


def add_arguments(parser: Parser) -> None:
    """Add the request and the store."""
    add_request(parser)
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=show_command)


def show_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print all that is known of one request."""

    async def look(backend: Backend) -> tuple[Record, int]:
        return await find_request(backend, args.id), await backend.outbox.count_workers()

    record, desks = with_store(args, env, look)
    if record.ending is None and not desks:
        say_no_bots()
    if args.json:
        print(json.dumps(record_as_json(record), indent=2))
    else:
        with hiding(read_hiding(args.config, env)):
            print("\n".join(_describe(record)))
    return 0


def _describe(record: Record) -> list[str]:
    request = record.request
    state = ended_text(record.ending) if record.ending else _open(request)
    facts = [
        ("request id", request.question_id),
        ("state", state),
        ("tool", request.subject),
        ("agent", request.asker),
        ("session", request.run.session_id),
        ("branch", request.run.branch_id),
        ("run", request.run.run_id),
        ("source", request.source_name),
        ("requested by", request.requested_by or ""),
        ("asked through", request.filed_by or ""),
        ("because", redacted_text(request.why_asked)),
        ("expires", time_text(request.expires_at)),
    ]
    lines = [f"{name + ':':14}{on_one_line(value)}" for name, value in facts if value]
    lines += _content(request)
    for copy in record.copies:
        message = f"message {copy.message_id}" if copy.message_id else "not shown there yet"
        seen = ", shown in full" if copy.revealed else ""
        lines.append(on_one_line(f"{'card:':14}{copy.place} ({message}{seen})"))
    if not record.copies:
        lines.append(f"{'card:':14}none yet")
    return lines


def _content(request: UserInputRequest) -> list[str]:
    body = request.card()
    lines: list[str] = []
    if body.description:
        # Each line of the agent's words is marked, so that none passes for a fact.
        lines += ["description:", *_indent(body.description, "| ")]
    if request.digest_of_arguments:
        lines.append(f"{'digest:':14}{request.digest_of_arguments}")
    lines += ["arguments:", *_indent(body.content)]
    return [*lines, *_indent(plain_text(body.raw))] if body.raw else lines


def _indent(text: str, mark: str = "") -> list[str]:
    return [f"  {mark}{line}" for line in folded(visible(text)).split("\n")]


def _open(request: UserInputRequest) -> str:
    return f"open, expires in {duration_text(request.expires_at - utc_now())}"
