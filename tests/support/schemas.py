"""Schemas of forms, and what a form of one makes of raw answers."""

from __future__ import annotations

from typing import Any

from sayso.forms.form import FormField
from sayso.forms.json_schema import SchemaForm, build_schema_form


def an_object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def a_field(schema: object, **around: object) -> FormField:
    (field,) = build_schema_form(an_object(it=schema) | around).form.fields
    return field


def read(form: SchemaForm, **raw: Any) -> dict[str, Any]:
    return form.build_data(form.form.read(raw))


ADDRESS = an_object(city={"type": "string"}, floor={"type": "integer"})

COMMON = an_object(
    at={"type": "string", "format": "date-time", "title": "At"},
    to={"type": "string", "format": "email", "title": "To"},
    page={"type": "string", "format": "uri", "title": "Page"},
    tags={"type": "array", "items": {"type": "string"}, "title": "Tags"},
    level={"oneOf": [{"const": "lo", "title": "Low"}, {"const": "hi", "title": "High"}]},
    servers={
        "type": "array",
        "items": an_object(host={"type": "string"}, port={"type": "integer"}),
        "maxItems": 3,
        "title": "Servers",
    },
    pay={
        "title": "Pay",
        "oneOf": [
            an_object(kind={"const": "card"}, number={"type": "string"}),
            an_object(kind={"const": "bank"}, iban={"type": "string"}),
        ],
    },
)
"""What is commonly asked for, in one schema; ``COMMON_DATA`` is what a person fills in."""

COMMON_DATA = {
    "at": "2026-11-21T14:30:00Z",
    "to": "ana@example.com",
    "page": "https://example.com/a",
    "tags": ["new", "a, b"],
    "level": "hi",
    "servers": [{"host": "web", "port": 80}],
    "pay": {"kind": "bank", "iban": "DE"},
}
