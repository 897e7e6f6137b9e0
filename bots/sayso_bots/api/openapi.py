"""The hosted API described in OpenAPI 3.1, from the events it takes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from sayso.events import (
    Event,
    RequestCancelledEvent,
    RequestExpiredEvent,
    RequestUndeliverableEvent,
)
from sayso.questions.permission import PermissionApprovedEvent, PermissionDeniedEvent
from sayso_bots.api.answers import FILLED as FILLED_IN
from sayso_bots.api.kinds import Kind, request_kinds, response_kinds
from sayso_bots.api.problems import PROBLEM_TYPE
from sayso_bots.api.requests import FILLED, LONGEST, LONGEST_NAME

_REF = "#/components/schemas/{model}"
# What only the server says.
_SERVERS_OWN = frozenset({"suggestedRules", "decidedBy", "decidedAt", "rule", "ruleScope"}) | {
    "ruleExpiresAt"
}
_UNANSWERED = (RequestExpiredEvent, RequestCancelledEvent, RequestUndeliverableEvent)
_OBSERVED = (PermissionApprovedEvent, PermissionDeniedEvent)

_Json = dict[str, Any]


def description() -> _Json:
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
        "description": "Server-sent events; each `data` is an Event, its `event` the type",
        "content": {
            "text/event-stream": {"schema": {"type": "string"}, "x-event-data": _ref("Event")}
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
    name: str, summary: str, done: Mapping[int, _Json], failed: tuple[int, ...], body: str = ""
) -> _Json:
    responses = {str(status): content for status, content in done.items()}
    for status in (*failed, 500):
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
    429: "Too many calls or streams of this token; come back after Retry-After seconds",
    500: "A fault of ours; the log of the bots says why",
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
    return [*(kind.model for kind in kinds), *_UNANSWERED, *_OBSERVED]


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
    properties = {
        name: field for name, field in schema["properties"].items() if name not in _SERVERS_OWN
    }
    needed = [name for name in schema.get("required", []) if name != "type"]
    if group == "NewRequest":
        needed = [name for name in needed if name not in FILLED and name != id_name]
        properties.update(_asking(properties))
        body: _Json = {"required": ["type", *needed]}
    else:
        content = [name for name in needed if name != id_name and name not in FILLED_IN]
        properties["choiceKey"] = {"type": "string", "description": "A button of the card"}
        properties["inputs"] = {"type": "object", "description": "What fills in its form"}
        body = {"required": ["type", id_name]}
        if content:
            # Either it says what is answered, or names the button that does.
            body["anyOf"] = [{"required": content}, {"required": ["choiceKey"]}]
    kept = {"type", id_name, *needed}
    shown = {
        name: field if name in kept else {"anyOf": [field, {"type": "null"}]}
        for name, field in properties.items()
    }
    return {"type": "object", "title": schema["title"], "properties": shown, **body}


def _asking(properties: _Json) -> _Json:
    """Fields that are written otherwise than they are sent, or not at any length."""
    changed: _Json = {
        name: {**properties[name], "maxLength": most}
        for name, most in LONGEST.items()
        if name in properties
    }
    if "functionName" in changed:
        changed["functionName"]["minLength"] = 1
    run_id = {"type": ["string", "null"], "maxLength": LONGEST_NAME}
    changed["run"] = {"type": "object", "properties": {"runId": run_id}}
    changed["timeout"] = {
        "description": "Seconds, or a text such as 10m; instead of expiresAt",
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 2_592_000},
            {"type": "string"},
        ],
    }
    return changed


def _answers() -> _Json:
    requests = [_ref(kind.model.__name__) for kind in request_kinds().values()]
    responses = [_ref(kind.model.__name__) for kind in response_kinds().values()]
    endings = [*responses, *(_ref(model.__name__) for model in _UNANSWERED)]
    text = {"type": "string"}
    observed = [_ref(model.__name__) for model in _OBSERVED]
    return {
        "Event": {"anyOf": [*requests, *endings, *observed, _ref("StreamError")]},
        "StreamError": {
            "type": "object",
            "description": "The last event, `stream-error`, of a stream that is cut off",
            "properties": {"code": text, "detail": text, "lastEventId": text},
            "required": ["code", "detail", "lastEventId"],
        },
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
        "Problem": _problem_schema(),
    }


def _problem_schema() -> _Json:
    text = {"type": "string"}
    wrong = {
        "type": "object",
        "properties": {"pointer": text, "detail": text},
        "required": ["pointer", "detail"],
    }
    return {
        "type": "object",
        "properties": {
            "type": text,
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": text,
            "errors": {
                "description": "Wrong fields; of a 409 without any, its detail under its code",
                "anyOf": [
                    {"type": "array", "items": wrong},
                    {
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": text},
                    },
                ],
            },
            "response": {"description": "Of AlreadyAnswered: what counts", **_ref("Ending")},
            "lastEventId": {"description": "Of EventsGone: where the stream ends now", **text},
        },
        "required": ["type", "title", "status", "detail", "code"],
    }
