"""The hosted API described in OpenAPI 3.1, from the events it takes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from sayso.stores.protocols import LONGEST_KEY
from sayso_bots.api.policy import HEADER
from sayso_bots.api.problems import PROBLEM_TYPE
from sayso_bots.api.requests import LONGEST_NAME
from sayso_bots.api.schemas import Json, ref, schemas
from sayso_bots.api.stream import LONGEST_WAIT


def description() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sayso",
            "version": version("sayso"),
            "description": "An agent asks, a person answers in the chat, the agent goes on.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"bearer": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "ticket": {"type": "apiKey", "in": "query", "name": "ticket"},
            },
            "schemas": schemas(),
        },
    }


def _paths() -> Json:
    branch = "/agents/{agentId}/sessions/{sessionId}/branches/{branchId}"
    where = [_path_parameter(name) for name in ("agentId", "sessionId", "branchId")]
    shown = _operation("describe", "This description", {200: _json("Description")}, ())
    paths: Json = {
        f"{branch}{path}": {**one, "parameters": where} for path, one in _branch().items()
    }
    one = f"{branch}/requests/{{requestId}}"
    paths[one]["parameters"] = [*where, _path_parameter("requestId")]
    return {**paths, "/openapi.json": {"get": {**shown, "security": []}}}


_READ = (400, 401, 403)
_WRITTEN = (*_READ, 408, 409, 413, 415, 422, 429, 503)


def _branch() -> dict[str, Json]:
    """The endpoints of a branch, by what their paths end in."""
    asked = {201: _either(_location()), 200: _either()}
    ticket = "Permission for an EventSource to read this branch"
    return {
        "/requests": {
            "post": {
                **_operation("ask", "Ask a person", asked, _WRITTEN, body="NewAsking"),
                "parameters": [_once()],
            }
        },
        "/requests/{requestId}": {
            "get": {
                **_operation(
                    "show",
                    "One request and how it ended, at once or when it ends",
                    {200: _json("Asked")},
                    (*_READ, 404, 409, 429, 503),
                ),
                "parameters": [_wait()],
            },
            "delete": _operation(
                "withdraw",
                "Withdraw a request; one that has ended stays as it is",
                {200: _json("Asked")},
                (*_READ, 404, 408, 409, 413, 429, 503),
            ),
        },
        "/events": {"get": _events_operation()},
        "/events/tickets": {
            "post": _operation("makeTicket", ticket, {201: _json("Ticket")}, (*_READ, 429, 503))
        },
        "/responses": {
            "post": _operation(
                "answer",
                "Answer a request",
                {200: _json("Response")},
                _WRITTEN,
                body="NewResponse",
            )
        },
    }


def _once() -> Json:
    """The key under which a request is asked once."""
    schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}
    return {"name": HEADER, "in": "header", "required": False, "schema": schema}


def _wait() -> Json:
    """How long a look may wait for the end."""
    described = f"A duration such as 25s; more than {LONGEST_WAIT:g} s is cut"
    schema = {"type": "string", "pattern": r"^[1-9][0-9]{0,4}(ms|s|m)$"}
    return {
        "name": "wait",
        "in": "query",
        "required": False,
        "description": described,
        "schema": schema,
    }


def _events_operation() -> Json:
    stream = {
        "description": "Server-sent events; each `data` is an Event, its `event` the type",
        "content": {
            "text/event-stream": {"schema": {"type": "string"}, "x-event-data": ref("Event")}
        },
    }
    operation = _operation(
        "follow",
        "Requests, responses and outcomes of the branch as they happen",
        {200: stream},
        (400, 401, 403, 410, 429, 503),
    )
    position = {"type": "string", "pattern": r"^(0|[A-Za-z0-9_-]{1,32}\.[0-9]{1,15})$"}
    operation["security"] = [{"bearer": []}, {"ticket": []}]
    operation["parameters"] = [
        {"name": "Last-Event-ID", "in": "header", "schema": position},
        {"name": "lastEventId", "in": "query", "schema": position},
    ]
    return operation


def _operation(
    name: str, summary: str, done: Mapping[int, Json], failed: tuple[int, ...], body: str = ""
) -> Json:
    responses = {str(status): content for status, content in done.items()}
    for status in (*failed, 500):
        responses[str(status)] = _problem(status)
    operation: Json = {"operationId": name, "summary": summary, "responses": responses}
    if body:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": ref(body)}},
        }
    return operation


def _problem(status: int) -> Json:
    headers: Json = {}
    if status == 401:
        headers["WWW-Authenticate"] = {"required": True, "schema": {"type": "string"}}
    if status in (429, 503):
        headers["Retry-After"] = {
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9]+$"},
        }
    content = {PROBLEM_TYPE: {"schema": ref("Problem")}}
    return {"description": _WHY[status], "headers": headers, "content": content}


_WHY = {
    400: "The address, the position or the JSON cannot be read",
    401: "No token, or one that is not known",
    403: "The token or ticket may not do this",
    404: "This branch has no such request",
    408: "The call did not arrive within 10 seconds; nothing was done",
    409: "It contradicts what is there; `code` says how",
    410: "Events after this position are no longer kept",
    413: "A body has at most 1 MiB",
    415: "The body is not application/json",
    422: "Fields are wrong; `errors` points at them",
    429: "Too many calls, streams or open requests; come back after Retry-After seconds",
    500: "A fault of ours; the log of the bots says why",
    503: "The store does not answer, or there are too many streams",
}


def _json(schema: str, headers: Json | None = None) -> Json:
    return {
        "description": schema,
        "headers": headers or {},
        "content": {"application/json": {"schema": ref(schema)}},
    }


def _either(headers: Json | None = None) -> Json:
    """The answer to one request, or to a batch of them."""
    answer = _json("Asked", headers)
    schema = {"oneOf": [ref("Asked"), ref("AskedTogether")]}
    return {**answer, "content": {"application/json": {"schema": schema}}}


def _location() -> Json:
    described = "Of one request; a batch has none"
    schema = {"type": "string"}
    return {"Location": {"required": False, "description": described, "schema": schema}}


def _path_parameter(name: str) -> Json:
    schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    return {"name": name, "in": "path", "required": True, "schema": schema}
