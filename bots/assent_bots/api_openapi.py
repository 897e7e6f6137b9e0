"""The hosted API described in OpenAPI 3.1, from the events it takes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from assent.events import (
    Event,
    RequestCancelledEvent,
    RequestExpiredEvent,
    RequestUndeliverableEvent,
)
from assent_bots.api_kinds import Kind, request_kinds, response_kinds
from assent_bots.api_problems import PROBLEM_TYPE

# Four of them, each character escaped as 12 bytes, fit into the line of 8,190 bytes that the web
# server reads.
LONGEST_NAME = 128

_REF = "#/components/schemas/{model}"
# What the server fills in, and what only it says.
_FILLED = frozenset(
    {"run", "sourceName", "callId", "argumentsDigest", "expiresAt", "requestedBy", "textDigest"}
)
_SERVERS_OWN = frozenset({"suggestedRules", "decidedBy", "decidedAt", "rule", "ruleScope"}) | {
    "ruleExpiresAt"
}
_UNANSWERED = (RequestExpiredEvent, RequestCancelledEvent, RequestUndeliverableEvent)

_Json = dict[str, Any]


def description() -> _Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assent",
            "version": version("assent"),
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
            "schemas": {**_events(), **_bodies(), **_answers()},
        },
    }


def _paths() -> _Json:
    branch = "/agents/{agentId}/sessions/{sessionId}/branches/{branchId}"
    where = [_path_parameter(name) for name in ("agentId", "sessionId", "branchId")]
    return {
        f"{branch}/requests": {
            "parameters": where,
            "post": _operation(
                "ask",
                "Ask a person",
                {201: _json("Asked", _location()), 200: _json("Asked")},
                (400, 401, 403, 409, 413, 415, 422, 429, 503),
                body="NewRequest",
            ),
        },
        f"{branch}/requests/{{requestId}}": {
            "parameters": [*where, _path_parameter("requestId")],
            "get": _operation(
                "show",
                "One request and how it ended",
                {200: _json("Asked")},
                (400, 401, 403, 404, 409, 429, 503),
            ),
        },
        f"{branch}/events": {"parameters": where, "get": _events_operation()},
        f"{branch}/events/tickets": {
            "parameters": where,
            "post": _operation(
                "makeTicket",
                "Leave to read this branch for an EventSource",
                {201: _json("Ticket")},
                (400, 401, 403, 429, 503),
            ),
        },
        f"{branch}/responses": {
            "parameters": where,
            "post": _operation(
                "answer",
                "Answer a request",
                {200: _json("Response")},
                (400, 401, 403, 409, 413, 415, 422, 429, 503),
                body="NewResponse",
            ),
        },
        "/openapi.json": {
            "get": {
                **_operation("describe", "This description", {200: _json("Description")}, ()),
                "security": [],
            }
        },
    }


def _events_operation() -> _Json:
    stream = {
        "description": "Server-sent events; each `data` is an Event",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
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
    name: str, summary: str, done: Mapping[int, _Json], failed: tuple[int, ...], body: str = ""
) -> _Json:
    responses = {str(status): content for status, content in done.items()}
    for status in failed:
        responses[str(status)] = _problem(status)
    operation: _Json = {"operationId": name, "summary": summary, "responses": responses}
    if body:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(body)}},
        }
    return operation


def _problem(status: int) -> _Json:
    headers: _Json = {}
    if status == 401:
        headers["WWW-Authenticate"] = {"required": True, "schema": {"type": "string"}}
    if status in (429, 503):
        headers["Retry-After"] = {
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9]+$"},
        }
    content = {PROBLEM_TYPE: {"schema": _ref("Problem")}}
    return {"description": _WHY[status], "headers": headers, "content": content}


_WHY = {
    400: "The address, the position or the JSON cannot be read",
    401: "No token, or one that is not known",
    403: "The token or ticket may not do this",
    404: "This branch has no such request",
    409: "It contradicts what is there; `code` says how",
    410: "Events after this position are no longer kept",
    413: "A body has at most 1 MiB",
    415: "The body is not application/json",
    422: "Fields are wrong; `errors` points at them",
    429: "Too many calls; come back after Retry-After seconds",
    503: "The store does not answer, or there are too many streams",
}


def _json(schema: str, headers: _Json | None = None) -> _Json:
    return {
        "description": schema,
        "headers": headers or {},
        "content": {"application/json": {"schema": _ref(schema)}},
    }


def _location() -> _Json:
    return {"Location": {"required": True, "schema": {"type": "string"}}}


def _path_parameter(name: str) -> _Json:
    schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _ref(name: str) -> _Json:
    return {"$ref": _REF.format(model=name)}


def _events() -> _Json:
    """All events as they are sent."""
    return _schemas(_models(), "serialization")


def _models() -> list[type[Event]]:
    kinds: list[Kind[Any]] = [*request_kinds().values(), *response_kinds().values()]
    return [*(kind.model for kind in kinds), *_UNANSWERED]


def _schemas(models: list[type[Event]], mode: JsonSchemaMode) -> _Json:
    _, found = models_json_schema(
        [(model, mode) for model in models], by_alias=True, ref_template=_REF
    )
    schemas: _Json = found["$defs"]
    return schemas


def _bodies() -> _Json:
    """Requests and responses as they are taken."""
    written = _schemas(_models(), "validation")
    bodies: _Json = {}
    groups: dict[str, Mapping[str, Kind[Any]]] = {
        "NewRequest": request_kinds(),
        "NewResponse": response_kinds(),
    }
    for group, kinds in groups.items():
        names = {}
        for kind in kinds.values():
            name = f"New{kind.model.__name__}"
            names[kind.type_name] = name
            bodies[name] = _body(written[kind.model.__name__], kind.id_name, group)
        bodies[group] = {
            "oneOf": [_ref(name) for name in names.values()],
            "discriminator": {
                "propertyName": "type",
                "mapping": {kind: _REF.format(model=name) for kind, name in names.items()},
            },
        }
    return bodies


def _body(schema: _Json, id_name: str, group: str) -> _Json:
    optional = _FILLED | _SERVERS_OWN | ({id_name} if group == "NewRequest" else set())
    properties = {
        name: field for name, field in schema["properties"].items() if name not in _SERVERS_OWN
    }
    if group == "NewRequest":
        properties["run"] = {"type": "object", "properties": {"runId": {"type": "string"}}}
        properties["timeout"] = {
            "description": "Seconds, or a text such as 10m; instead of expiresAt",
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": 2_592_000},
                {"type": "string"},
            ],
        }
    else:
        properties["choiceKey"] = {"type": "string", "description": "A button of the card"}
        properties["inputs"] = {"type": "object", "description": "What fills in its form"}
    required = [name for name in schema.get("required", []) if name not in optional]
    return {
        "type": "object",
        "title": schema["title"],
        "properties": properties,
        "required": ["type", *(name for name in required if name != "type")],
    }


def _answers() -> _Json:
    requests = [_ref(kind.model.__name__) for kind in request_kinds().values()]
    responses = [_ref(kind.model.__name__) for kind in response_kinds().values()]
    endings = [*responses, *(_ref(model.__name__) for model in _UNANSWERED)]
    text = {"type": "string"}
    return {
        "Request": {"anyOf": requests},
        "Response": {"anyOf": responses},
        "Ending": {"anyOf": endings},
        "Asked": {
            "type": "object",
            "description": "A request, and how it ended: null while it is open",
            "properties": {
                "request": _ref("Request"),
                "response": {"anyOf": [_ref("Ending"), {"type": "null"}]},
            },
            "required": ["request", "response"],
        },
        "Ticket": {
            "type": "object",
            "properties": {"ticket": text, "expiresInSeconds": {"type": "integer"}},
            "required": ["ticket", "expiresInSeconds"],
        },
        "Description": {"type": "object"},
        "Problem": {
            "type": "object",
            "properties": {
                "type": text,
                "title": text,
                "status": {"type": "integer"},
                "detail": text,
                "code": text,
                "errors": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"pointer": text, "detail": text},
                        "required": ["pointer", "detail"],
                    },
                },
            },
            "required": ["type", "title", "status", "detail", "code"],
        },
    }
