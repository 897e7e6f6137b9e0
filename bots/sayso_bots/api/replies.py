"""Addresses and answers of the hosted API: whose branch, and requests, events and other JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from aiohttp import web

from sayso.calls import RunRef, new_id
from sayso.events import Event, Resolution
from sayso.stores.protocols import Record
from sayso_bots.api.problems import ApiProblem
from sayso_bots.api.requests import LONGEST_NAME

BRANCH = "/agents/{agentId:[^/]+}/sessions/{sessionId:[^/]+}/branches/{branchId:[^/]+}"
"""The path of a branch, under which its endpoints stand."""


def run_of(request: web.Request) -> RunRef:
    """The branch that a call is about, with a run of its own.

    Raises:
        ApiProblem: the address has no names, or none that can be kept.
    """
    agent_id, session_id, branch_id = (
        request.match_info[name] for name in ("agentId", "sessionId", "branchId")
    )
    if not all(map(_is_name, request.match_info.values())) or not _is_text(
        request.rel_url.raw_path
    ):
        detail = (
            f"ids in addresses have at most {LONGEST_NAME} printable characters and are not . or .."
        )
        raise ApiProblem(400, "InvalidAddress", detail)
    return RunRef(agent_id, session_id, branch_id, new_id())


def _is_name(name: str) -> bool:
    # Clients and proxies take . and .. for another address.
    return len(name) <= LONGEST_NAME and name.isprintable() and name not in (".", "..")


def _is_text(raw_path: str) -> bool:
    try:
        unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        return False
    return True


def already_answered(record: Record) -> ApiProblem:
    """The problem that a late answer meets, with the ending that counts."""
    ending = record.ending
    if ending is None:
        raise TypeError("only what has ended was answered")
    by = f" by {ending.decided_by}" if ending.decided_by else ""
    detail = f"it is already {ending.outcome.value}{by}"
    return ApiProblem(409, "AlreadyAnswered", detail, response=_plain(ending))


def denied_by_rule(ending: Resolution) -> ApiProblem:
    """The problem that an approval meets where a rule denies the call, with what was recorded."""
    return ApiProblem(409, "DeniedByRule", ending.reason, response=_plain(ending))


def record_reply(record: Record, status: int, location: str = "") -> web.Response:
    """A request, and how it ended."""
    headers = {"Location": location} if location else {}
    return object_reply(_stands(record), status, headers)


def records_reply(records: Sequence[Record], status: int) -> web.Response:
    """Requests that were asked together, and how each ended."""
    return object_reply({"requests": [_stands(record) for record in records]}, status)


def _stands(record: Record) -> dict[str, Any]:
    response = None if record.ending is None else _plain(record.ending)
    return {"request": _plain(record.request), "response": response}


def event_reply(event: Event) -> web.Response:
    """One event."""
    return object_reply(_plain(event), 200)


def _plain(event: Event) -> dict[str, Any]:
    return event.model_dump(mode="json", by_alias=True)


def object_reply(
    content: Mapping[str, Any], status: int, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A JSON object."""
    return json_reply(written(content), status, headers)


def written(content: Mapping[str, Any]) -> bytes:
    """The object as JSON."""
    return json.dumps(content, ensure_ascii=False).encode()


def json_reply(body: bytes, status: int, headers: Mapping[str, str] | None = None) -> web.Response:
    """JSON that is written already; no cache keeps it."""
    return web.Response(
        status=status,
        body=body,
        headers={**(headers or {}), "Cache-Control": "no-store"},
        content_type="application/json",
    )
