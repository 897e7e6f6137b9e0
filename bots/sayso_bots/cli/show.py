"""``sayso show``: one request, its cards and how it ended."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from sayso.clock import utc_now
from sayso.durations import duration_text
from sayso.errors import RequestNotFoundError
from sayso.events import UserInputRequest
from sayso.stores.backend import Backend
from sayso.stores.protocols import Record
from sayso.text.blanks import folded
from sayso.text.secrets import hiding, redacted_text
from sayso.text.visible import visible
from sayso.values.value import plain_text
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.ids import BEGINNING, request_id
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.records import ended_text, one_line, record_as_json, time_text
from sayso_bots.cli.store import say_no_bots, with_store
from sayso_bots.config.settings import read_hiding


def add_arguments(parser: Parser) -> None:
    """Which request, and where the store is."""
    parser.add_argument(
        "id",
        metavar="ID",
        help=f"the request's id, or its first {BEGINNING} characters or more; see `sayso pending`",
    )
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=show_command)


def show_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print all that is known of one request."""

    async def found(backend: Backend) -> tuple[Record, int]:
        args.id = await request_id(backend, args.id)
        record = await backend.store.get(args.id)
        if record is None:
            raise RequestNotFoundError(args.id)
        return record, await backend.outbox.count_workers()

    record, desks = with_store(args, env, found)
    if record.ending is None and not desks:
        say_no_bots()
    if args.json:
        print(json.dumps(record_as_json(record), indent=2))
    else:
        with hiding(read_hiding(args.config, env)):
            print("\n".join(_described(record)))
    return 0


def _described(record: Record) -> list[str]:
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
    lines = [f"{name + ':':14}{one_line(value)}" for name, value in facts if value]
    lines += _content(request)
    for copy in record.copies:
        message = f"message {copy.message_id}" if copy.message_id else "not shown there yet"
        seen = ", shown in full" if copy.revealed else ""
        lines.append(one_line(f"{'card:':14}{copy.place} ({message}{seen})"))
    if not record.copies:
        lines.append(f"{'card:':14}none yet")
    return lines


def _content(request: UserInputRequest) -> list[str]:
    body = request.card()
    lines: list[str] = []
    if body.description:
        # Each line of the agent's words is marked, so that none passes for a fact.
        lines += ["description:", *_indented(body.description, "| ")]
    if request.digest_of_arguments:
        lines.append(f"{'digest:':14}{request.digest_of_arguments}")
    lines += ["arguments:", *_indented(body.content)]
    return [*lines, *_indented(plain_text(body.raw))] if body.raw else lines


def _indented(text: str, mark: str = "") -> list[str]:
    return [f"  {mark}{line}" for line in folded(visible(text)).split("\n")]


def _open(request: UserInputRequest) -> str:
    return f"open, expires in {duration_text(request.expires_at - utc_now())}"
