"""Whatever the schema and the answers: nothing gets through that the schema does not allow."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st
from support.schemas import an_object

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.json_schema import build_schema_form

_PATTERNS = st.sampled_from(
    ["a", "^a+$", r"\d", r"^[\w.-]+$", "[^a-c]", r"\bx\b", "^.$", r"\s", "a|b", "^(?:a|1){1,3}$"]
)


_TEXTS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": st.integers(0, 4),
        "maxLength": st.integers(0, 6),
        "pattern": _PATTERNS,
        "title": st.text(max_size=5),
        "default": st.text(max_size=3),
    },
)


_BOUNDS = st.one_of(st.integers(-5, 5), st.floats(-5, 5), st.integers(2**53, 2**53 + 9))


_NUMBERS = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        "minimum": _BOUNDS,
        "maximum": _BOUNDS,
        "exclusiveMinimum": _BOUNDS,
        "exclusiveMaximum": _BOUNDS,
    },
)


_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=3))


_ENUMS = st.fixed_dictionaries({"enum": st.lists(_SCALARS, min_size=1, max_size=4)})


_ARRAYS = st.fixed_dictionaries(
    {"type": st.just("array"), "items": _ENUMS},
    optional={
        "minItems": st.integers(0, 3),
        "maxItems": st.integers(0, 3),
        "uniqueItems": st.booleans(),
    },
)


_DATES = st.just({"type": "string", "format": "date"})


_PLAIN = st.one_of(_TEXTS, _NUMBERS, _ENUMS, _ARRAYS, _DATES, st.just({"type": "boolean"}))


_OR_NULL = st.tuples(st.sampled_from(["anyOf", "oneOf"]), _PLAIN).map(
    lambda pair: {pair[0]: [pair[1], {"type": "null"}]}
)


_VALUES = st.one_of(_PLAIN, _OR_NULL)


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "b", "a.b", "c~", "d/e"])
    return st.dictionaries(names, values, min_size=1, max_size=4).flatmap(
        lambda properties: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(properties),
                "required": st.lists(st.sampled_from(sorted(properties)), unique=True),
            },
            optional={"additionalProperties": st.just(False)},
        )
    )


_OBJECTS = _objects(
    st.one_of(
        _VALUES,
        _objects(_VALUES),
        _objects(_VALUES).map(lambda one: {"anyOf": [{"type": "null"}, one]}),
    )
)


_RAW = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(["", "a", "aa1", "x", "true", "0", "1", "2", "3.5", "-1", "2026-11-21"]),
    st.sampled_from(["9007199254740993", "1e3", " 2 ", "1_0", "2026-02-30", "\u0663"]),
    st.sampled_from(["{}", '{"a": 1}', "null", "[1]", '{"a": "a", "b": null}']),
    st.text(max_size=5),
    st.lists(st.sampled_from(["0", "1", "2", "3"]), max_size=3),
)


@given(_OBJECTS, st.data())
def test_whatever_is_filled_in_the_data_is_what_the_schema_allows(
    schema: dict[str, Any], drawn: st.DataObject
) -> None:
    try:
        form = build_schema_form(schema)
    except SchemaError:
        return
    raw = {field.name: drawn.draw(_RAW, label=field.name) for field in form.form.fields}
    try:
        data = form.build_data(form.form.read(raw))
    except InvalidInputError as error:
        data, problems = {}, set(error.problems)
    else:
        problems = set()
    assert problems <= set(raw)
    if problems:
        return

    allowed = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    allowed.validate(json.loads(json.dumps(data)))
    form.check_data(data)
    form.describe(data)


@given(_OBJECTS, st.dictionaries(st.sampled_from(["a", "b", "a.b"]), _SCALARS | _RAW, max_size=3))
def test_data_that_passes_the_check_is_what_the_schema_allows(
    schema: dict[str, Any], data: dict[str, Any]
) -> None:
    try:
        form = build_schema_form(schema)
        form.check_data(data)
    except (SchemaError, InvalidInputError):
        return

    allowed = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    allowed.validate(data)


@given(st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_no_schema_is_refused_and_nothing_else(anything: Any) -> None:
    for schema in (anything, {"type": "object", "properties": anything}, an_object(it=anything)):
        with suppress(SchemaError):
            build_schema_form(schema).form.to_raw({})
