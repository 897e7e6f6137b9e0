"""``sayso cancel``: withdraw a request."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from sayso.clock import utc_now
from sayso.errors import RequestNotFoundError
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.protocols import Settled
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.ids import BEGINNING, request_id
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.records import ended_text, one_line
from sayso_bots.cli.store import who_and_where, with_store


def add_arguments(parser: Parser) -> None:
    """Which request, why, and where the store is."""
    parser.add_argument(
        "id",
        metavar="ID",
        help=f"the request's id, or its first {BEGINNING} characters or more; see `sayso pending`",
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; stands on the cards")
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=cancel_command)


def cancel_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Withdraw a request; 1 when it had ended already, and how."""

    async def cancelled(backend: Backend) -> Settled:
        args.id = await request_id(backend, args.id)
        record = await backend.store.get(args.id)
        if record is None:
            raise RequestNotFoundError(args.id)
        by, reason = f"cli:{who_and_where()}", args.reason or "withdrawn with `sayso cancel`"
        ending = record.request.cancelled(at=utc_now(), by=by, reason=reason)
        return await backend.store.settle(args.id, ending)

    settled = with_store(args, env, cancelled)
    if args.json:
        shown = {
            "requestId": args.id,
            "cancelled": settled.first,
            "ending": json.loads(encode(settled.ending)),
        }
        print(json.dumps(shown))
    elif settled.first:
        print(f"cancelled {one_line(args.id)}")
    else:
        print(f"not cancelled: it was already {ended_text(settled.ending)}")
    return 0 if settled.first else 1
