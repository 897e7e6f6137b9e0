"""Schemas of forms, and what a form of one makes of raw answers."""

from __future__ import annotations

from typing import Any

from sayso.forms.schema_form import SchemaForm


def an_object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def read(form: SchemaForm, **raw: Any) -> dict[str, Any]:
    return form.data(form.form.read({name.replace("__", "."): raw[name] for name in raw}))
