"""A schema that would take long is refused before anything is held against it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sayso.errors import SchemaError
from sayso.forms.json_text import SchemaValidator, count_schemas, count_values
from sayso.testing import a_request


def problem(schema: dict[str, Any], data: Any) -> str:
    return SchemaValidator(schema).describe_problems(data)


def doubling(levels: int, **more: Any) -> dict[str, Any]:
    """Small, and twice as large with each level once its references are written out."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, levels + 1):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"anyOf": [below, below]}
    return {"$defs": definitions, **more}


BOMB = doubling(20, properties={"a": {"$ref": "#/$defs/d20"}})


def test_a_small_schema_that_grows_without_end_is_refused_at_once() -> None:
    start = time.thread_time()

    with pytest.raises(SchemaError, match="written out are over 1,000"):
        problem(BOMB, {"a": 1})
    assert time.thread_time() - start < 1


@pytest.mark.parametrize("kind", [dict, list])
def test_parts_that_a_reference_repeats_are_counted_no_further_than_they_may_be(
    kind: type[Any],
) -> None:
    parts = {"b": {"allOf": [kind() for _ in range(7_000)]}}
    schema = {"$defs": parts, "properties": {"x": {"allOf": [{"$ref": "#/$defs/b"}] * 999}}}
    start = time.thread_time()

    with pytest.raises(SchemaError, match="written out are over 50,000"):
        problem(schema, {"x": 1})
    assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "#"}, "contains itself"),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "contains itself"),
        ({"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}, "contains itself"),
        ({"properties": {"a": {"$ref": "#/%70roperties/a"}}}, "contains itself"),
        ({"$ref": "other.json"}, "not JSON Pointers"),
        ({"$ref": "#name"}, "not JSON Pointers"),
        ({"items": {"$dynamicRef": "#name"}}, "not JSON Pointers"),
        ({"items": {"$id": "other", "$ref": "#/$defs/a"}}, "not JSON Pointers"),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "items": {"id": "other"}},
            "not JSON Pointers",
        ),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"anyOf": [True, {"$ref": "#/anyOf/2"}]}, "leads nowhere"),
    ],
)
def test_references_whose_end_cannot_be_told_are_refused(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        problem(schema, {})


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(20_000):
        schema = {"not": schema}

    with pytest.raises(SchemaError, match="nested too deeply"):
        problem(schema, {})


@pytest.mark.parametrize(
    "schema", [BOMB, {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}]
)
def test_a_tool_with_such_a_schema_is_asked_about_and_nothing_is_edited(
    schema: dict[str, Any],
) -> None:
    request = a_request().model_copy(update={"arguments_schema": schema})

    keys = [choice.key for choice in request.card().more]

    assert "edit" not in keys
    assert "edit" in [choice.key for choice in a_request().card().more]


def test_what_a_schema_costs_grows_with_what_is_held_against_it() -> None:
    schema = doubling(8, properties={"a": {"items": {"$ref": "#/$defs/d8"}}})

    assert problem(schema, {"a": ["x"] * 20}) == ""
    with pytest.raises(SchemaError, match="too large for so many values"):
        problem(schema, {"a": [1] * 1_000})


def test_a_reference_counts_as_often_as_it_is_followed_and_definitions_only_then() -> None:
    two = {"properties": {"a": {"type": "string"}}}
    unused: dict[str, object] = {"b": {"not": {"not": {}}}}
    schema = {"$defs": {"two": two, **unused}, "anyOf": [{"$ref": "#/$defs/two"}] * 3}

    # The root, three references, and three times a schema, its properties and one of them.
    assert count_schemas(schema) == 1 + 3 + 3 * 3
    assert count_values({"a": [1, {"b": 2}]}) == 5


@pytest.mark.parametrize("name", ["$ref", "$id", "default", "id"])
def test_properties_may_be_called_like_words_of_the_schema(name: str) -> None:
    schema = {"properties": {name: {"type": "string"}}}

    assert problem(schema, {name: "x"}) == ""
    assert problem(schema, {name: 1}) != ""
