"""A JSON Schema as a form, and its answers as data that the schema allows.

Strings, numbers, booleans, choices and lists of strings are fields, like those of MCP's
elicitation. Every other property is one field of JSON text. Whatever a field does not
check itself, jsonschema-rs checks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from gettext import NullTranslations
from typing import Any

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import NULL, Form, FormField, without_null
from sayso.forms.form_values import Inputs, is_same_json
from sayso.forms.json_text import MAX_SCHEMA_BYTES
from sayso.forms.schema_fields import build_field, pointer, prefill, resolve, unknown_words
from sayso.locales import ENGLISH
from sayso.text.secrets import redacted
from sayso.text.visible import visible

# Words of the whole schema whose properties can be asked for one by one.
_OBJECT = {"type", "properties", "required", "additionalProperties", "$schema", "$id"}
# The field of data that is asked for as one JSON text.
_WHOLE = "data"


@dataclass(frozen=True, slots=True)
class _Property:
    """A property of the data and its field; without a name, it is the whole of the data."""

    name: str
    field: FormField
    required: bool
    nullable: bool

    @property
    def may_be_empty(self) -> bool:
        return self.field.kind in ("options", "list") and not self.field.minimum


class SchemaForm:
    """The form of a schema. Data that was filled in is data that the schema allows."""

    def __init__(
        self,
        form: Form,
        properties: tuple[_Property, ...],
        translations: NullTranslations = ENGLISH,
    ) -> None:
        self.form = form
        self._properties = properties
        self._translations = translations

    def build_data(self, values: Inputs) -> dict[str, Any]:
        """Build the data from the values that the form has read."""
        data: dict[str, Any] = {}
        for one in self._properties:
            value = values.get(one.field.name)
            if not one.name:
                return dict(value or {})
            if value is not None:
                data[one.name] = without_null(value)
            elif one.required and one.nullable:
                data[one.name] = None
            elif one.required and one.may_be_empty:
                data[one.name] = []
        return data

    def check_data(self, data: Mapping[str, Any]) -> None:
        """Check data that comes from elsewhere.

        Raises:
            InvalidInputError: the form could not have built it.
        """
        slim, values = self._split(data)
        built = self.build_data(self.form.read(self.form.to_raw(values)))
        if not is_same_json(built, slim):
            raise InvalidInputError({"data": "it is not what the form asks for"})

    def prefill(self, data: Mapping[str, Any]) -> SchemaForm:
        """Return the same form, each field beginning with its value in the data.

        Raises:
            InvalidInputError: a field cannot show its value as it is.
        """
        _, values = self._split(data)
        fields = [prefill(one, values.get(one.name)) for one in self.form.fields]
        if None in fields:
            raise InvalidInputError({"data": "a field cannot hold it as it is"})
        form = replace(self.form, fields=tuple(filter(None, fields)))
        return SchemaForm(form, self._properties, self._translations)

    def describe(self, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the data as pairs of a label and a visible text, without secrets."""
        _, values = self._split(data)
        return tuple(
            (one.field.label, _describe(one, values[one.field.name], self._translations))
            for one in self._properties
            if one.field.name in values
        )

    def _split(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data without empty optional values, and the values of the fields."""
        if "" in self._by_name:
            return dict(data), {_WHOLE: dict(data)}
        slim: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for name, value in data.items():
            one = self._by_name.get(name)
            if one is None:
                raise InvalidInputError({"data": f"there is no property {name!r:.60}"})
            is_empty = (value is None and one.nullable) or (value == [] and one.may_be_empty)
            if not is_empty:
                values[one.field.name] = NULL if value is None else value
            if not is_empty or one.required:
                slim[name] = value
        return slim, values

    @cached_property
    def _by_name(self) -> Mapping[str, _Property]:
        return {one.name: one for one in self._properties}


def build_schema_form(
    schema: Mapping[str, Any], *, note: str = "", translations: NullTranslations = ENGLISH
) -> SchemaForm:
    """Build the form that asks for data of a JSON Schema.

    Raises:
        SchemaError: the schema cannot be asked in chat; the error says which part and why.
    """
    properties, form = _build(json.dumps(to_plain_schema(schema)), translations)
    return SchemaForm(replace(form, note=note), properties, translations)


def to_plain_schema(schema: Any) -> dict[str, Any]:
    """Return a copy of the schema as plain JSON.

    Raises:
        SchemaError: the schema is no JSON object, or larger than 64 KiB.
    """
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError("", f"the schema is not JSON ({type(error).__name__})") from None
    if len(text) > MAX_SCHEMA_BYTES:
        raise SchemaError("", f"the schema takes {len(text)} bytes, over {MAX_SCHEMA_BYTES}")
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise SchemaError("", "a schema is an object")
    return plain


# A desk reads the same schema again with every press.
@lru_cache(maxsize=128)
def _build(schema: str, translations: NullTranslations) -> tuple[tuple[_Property, ...], Form]:
    root = json.loads(schema)
    found = resolve(root, root)
    if found is None or found.kind != "object" or found.nullable:
        raise SchemaError("", "data that is asked for in chat is an object")
    at = "" if found.node == root else str(root.get("$ref", ""))[1:]
    properties = []
    if (listed := _list_properties(found.node)) is None:
        field, _ = build_field(root, found.node, at, _WHOLE, translations, required=True)
        properties.append(_Property("", field, required=True, nullable=False))
    for name, node in (listed or {}).items():
        place, needed = pointer(at, "properties", name), name in found.node.get("required", ())
        field, nullable = build_field(root, node, place, name, translations, required=needed)
        properties.append(_Property(name, field, needed, nullable))
    fields = tuple(one.field for one in properties)
    try:
        return tuple(properties), Form(
            translations.gettext("Fill in"), fields, confirms=len(fields) > 1
        )
    except ValueError as error:
        raise SchemaError(at, str(error)) from None


def _list_properties(node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the properties of an object; None where the schema says more about it."""
    listed, required = node.get("properties"), node.get("required", [])
    is_flat = (
        isinstance(listed, dict)
        and not unknown_words(node, _OBJECT)
        and isinstance(node.get("additionalProperties", True), bool)
        and isinstance(required, list)
        and all(isinstance(name, str) and name in listed for name in required)
    )
    return listed or None if is_flat else None


def _describe(one: _Property, value: Any, translations: NullTranslations) -> str:
    if one.field.options:
        chosen = value if isinstance(value, list) else [value]
        return ", ".join(
            option.label
            for item in chosen
            for option in one.field.options
            if is_same_json(without_null(option.value), without_null(item))
        )
    if one.field.kind == "json":
        return visible(json.dumps(_redact(one, without_null(value)), ensure_ascii=False))
    if isinstance(value, bool):
        return translations.gettext("yes") if value else translations.gettext("no")
    items = value if isinstance(value, list) else [value]
    return ", ".join(visible(_redact(one, str(item))) for item in items)


def _redact(one: _Property, value: Any) -> Any:
    # A secret is known by the name of its property or by the words shown for it.
    (shown,) = redacted({one.name: value}).values()
    (again,) = redacted({one.field.label: shown}).values()
    return again
