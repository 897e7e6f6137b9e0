"""From values back to the inputs of a form: what a platform would have given for them."""

from __future__ import annotations

from typing import Any

from sayso.errors import InvalidInputError
from sayso.forms.form import Form, FormField
from sayso.forms.inputs import Inputs, Raw


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def raw_input(field: FormField, value: Any) -> Raw:
    """What a platform would give for a value; None for None.

    Raises:
        ValueError: no input can stand for the value.
    """
    if value is None:
        return None
    if field.kind == "option":
        return _position(field, value)
    if field.kind == "options" and isinstance(value, list):
        return [_position(field, item) for item in value]
    if field.item is not None and isinstance(value, list) and None not in value:
        return [str(raw_input(field.item, item)) for item in value]
    if field.kind == "boolean" and isinstance(value, bool):
        return value
    if field.kind in ("integer", "number") and isinstance(value, int | float):
        if not isinstance(value, bool):
            return str(value)
    elif field.kind in ("text", "date", "datetime", "email", "url") and isinstance(value, str):
        return value
    raise ValueError(f"this is not a value of a field of kind {field.kind}")


def raw_inputs(form: Form, values: Inputs) -> Inputs:
    """What a platform would give for values by the names of the form's fields.

    Raises:
        InvalidInputError: there is no such field, or no input can stand for a value.
    """
    fields = {field.name: field for field in form.fields}
    problems = {name: "there is no such field" for name in values if name not in fields}
    raw: dict[str, Raw] = {}
    for name in values.keys() & fields.keys():
        try:
            raw[name] = raw_input(fields[name], values[name])
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        raise InvalidInputError(problems)
    return raw


def _position(field: FormField, value: Any) -> str:
    for position, option in enumerate(field.options):
        if same(option.value, value):
            return str(position)
    raise ValueError("this is not one of the options")
