"""The schemas of the hosted API: events as they are sent, bodies as they are taken, answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from sayso.events import (
    Event,
    RequestCancelledEvent,
    RequestExpiredEvent,
    RequestUndeliverableEvent,
)
from sayso.questions.permission_answer import PermissionApprovedEvent, PermissionDeniedEvent
from sayso_bots.api.answers import FILLED as FILLED_IN
from sayso_bots.api.asking import MOST_TOGETHER, TOGETHER
from sayso_bots.api.bodies import Kind, request_kinds, response_kinds
from sayso_bots.api.requests import FILLED, LONGEST, LONGEST_NAME

_REF = "#/components/schemas/{model}"
# What only the server says.
_SERVERS_OWN = frozenset({"suggestedRules", "denyRules", "askedBecause"}) | {
    *("decidedBy", "decidedAt", "rule", "ruleScope", "ruleExpiresAt", "ruleId", "line"),
}
_FILLED_BY_GATES = ("run", "expiresAt", "argumentsDigest")
_UNANSWERED = (RequestExpiredEvent, RequestCancelledEvent, RequestUndeliverableEvent)
_OBSERVED = (PermissionApprovedEvent, PermissionDeniedEvent)

Json = dict[str, Any]


def schemas() -> Json:
    """All schemas by their names."""
    return {**_events(), **_bodies(), **_answers()}


def ref(name: str) -> Json:
    """A reference to the schema of this name."""
    return {"$ref": _REF.format(model=name)}


def _events() -> Json:
    """All events as they are sent."""
    found = _schemas(_models(), "serialization")
    for kind in request_kinds().values():
        schema = found[kind.model.__name__]
        # A gate fills them in where an agent leaves them out: what is sent has them.
        filled = [name for name in _FILLED_BY_GATES if name in schema["properties"]]
        schema["required"] = sorted({*schema.get("required", ()), *filled})
    return found


def _models() -> list[type[Event]]:
    kinds: list[Kind[Any]] = [*request_kinds().values(), *response_kinds().values()]
    return [*(kind.model for kind in kinds), *_UNANSWERED, *_OBSERVED]


def _schemas(models: list[type[Event]], mode: JsonSchemaMode) -> Json:
    _, found = models_json_schema(
        [(model, mode) for model in models], by_alias=True, ref_template=_REF
    )
    schemas: Json = found["$defs"]
    return schemas


def _bodies() -> Json:
    """Requests and responses as they are taken."""
    written = _schemas(_models(), "validation")
    bodies: Json = {}
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
            "oneOf": [ref(name) for name in names.values()],
            "discriminator": {
                "propertyName": "type",
                "mapping": {kind: _REF.format(model=name) for kind, name in names.items()},
            },
        }
    bodies["NewBatch"] = _batch()
    bodies["NewAsking"] = {"oneOf": [ref("NewRequest"), ref("NewBatch")]}
    return bodies


def _batch() -> Json:
    """Several requests as they are taken."""
    several = {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_TOGETHER,
        "items": ref("NewRequest"),
    }
    return {
        "type": "object",
        "description": "Requests of one run, which are asked together; all of them, or none",
        "properties": {TOGETHER: several},
        "required": [TOGETHER],
        "additionalProperties": False,
    }


def _body(schema: Json, id_name: str, group: str) -> Json:
    properties = {
        name: field for name, field in schema["properties"].items() if name not in _SERVERS_OWN
    }
    needed = [name for name in schema.get("required", []) if name != "type"]
    if group == "NewRequest":
        needed = [name for name in needed if name not in FILLED and name != id_name]
        properties.update(_asking(properties))
        body: Json = {"required": ["type", *needed]}
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


def _asking(properties: Json) -> Json:
    """Fields that are written otherwise than they are sent, or not at any length."""
    changed: Json = {
        name: {**properties[name], "maxLength": most}
        for name, most in LONGEST.items()
        if name in properties
    }
    if "functionName" in changed:
        changed["functionName"]["minLength"] = 1
    run_id = {"type": ["string", "null"], "maxLength": LONGEST_NAME}
    project = {"type": "string", "maxLength": LONGEST_NAME}
    own = {"runId": run_id, "project": project}
    changed["run"] = {"type": "object", "properties": own}
    changed["timeout"] = {
        "description": "Seconds, or a string such as 10m; used instead of expiresAt",
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 2_592_000},
            {"type": "string"},
        ],
    }
    return changed


def _answers() -> Json:
    requests = [ref(kind.model.__name__) for kind in request_kinds().values()]
    responses = [ref(kind.model.__name__) for kind in response_kinds().values()]
    endings = [*responses, *(ref(model.__name__) for model in _UNANSWERED)]
    text = {"type": "string"}
    observed = [ref(model.__name__) for model in _OBSERVED]
    return {
        "Event": {"anyOf": [*requests, *endings, *observed, ref("StreamError")]},
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
                "request": ref("Request"),
                "response": {"anyOf": [ref("Ending"), {"type": "null"}]},
            },
            "required": ["request", "response"],
        },
        "AskedTogether": {
            "type": "object",
            "description": "What became of each request of a batch, in their order",
            "properties": {TOGETHER: {"type": "array", "items": ref("Asked")}},
            "required": [TOGETHER],
        },
        "Ticket": {
            "type": "object",
            "properties": {"ticket": text, "expiresInSeconds": {"type": "integer"}},
            "required": ["ticket", "expiresInSeconds"],
        },
        "Description": {"type": "object"},
        "Problem": _problem_schema(),
    }


def _problem_schema() -> Json:
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
            "response": {"description": "Of AlreadyAnswered: what counts", **ref("Ending")},
            "lastEventId": {"description": "Of EventsGone: where the stream ends now", **text},
        },
        "required": ["type", "title", "status", "detail", "code"],
    }
