"""``sayso cancel``: withdraw a request."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from sayso.clock import utc_now
from sayso.questions.wire import encode
from sayso.stores.backend import Backend
from sayso.stores.protocols import Settled
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import (
    add_request,
    ended_text,
    find_request,
    who_and_where,
    with_store,
)


def add_arguments(parser: Parser) -> None:
    """Add the request, the reason and the store."""
    add_request(parser)
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; stands on the cards")
    add_json(parser)
    add_store(parser)
    parser.set_defaults(run=cancel_command)


def cancel_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Withdraw a request; 1 when it had ended already, and how."""

    async def cancel(backend: Backend) -> tuple[str, Settled]:
        request = (await find_request(backend, args.id)).request
        by, reason = f"cli:{who_and_where()}", args.reason or "withdrawn with `sayso cancel`"
        ending = request.cancelled(at=utc_now(), by=by, reason=reason)
        return request.question_id, await backend.store.settle(request.question_id, ending)

    request_id, settled = with_store(args, env, cancel)
    if args.json:
        shown = {
            "requestId": request_id,
            "cancelled": settled.first,
            "ending": json.loads(encode(settled.ending)),
        }
        print(json.dumps(shown))
    elif settled.first:
        print(f"cancelled {on_one_line(request_id)}")
    else:
        print(f"not cancelled: it was already {ended_text(settled.ending)}")
    return 0 if settled.first else 1
