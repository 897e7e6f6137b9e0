"""A JSON Schema as a form: all it asks for, and nothing through that it does not allow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.schemas import an_object, read

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import FormField
from sayso.forms.schema_form import schema_form


def a_field(schema: object, **around: object) -> FormField:
    (field,) = schema_form(an_object(it=schema) | around).form.fields
    return field


@pytest.mark.parametrize(
    ("schema", "kind", "raw", "value"),
    [
        ({"type": "string"}, "text", "as it is ", "as it is "),
        ({"type": "string", "format": "date"}, "date", "2026-11-21", "2026-11-21"),
        ({"type": "integer"}, "integer", "3", 3),
        ({"type": "integer", "exclusiveMinimum": 2.5}, "integer", "3", 3),
        ({"type": "number", "maximum": 4}, "number", "4", 4),
        ({"type": "number", "maximum": 4}, "number", "4.0", 4.0),
        ({"type": "boolean"}, "boolean", "false", False),
        ({"enum": ["a", 1, True, None]}, "option", "1", 1),
        ({"enum": ["a", 1, True, None]}, "option", "2", True),
        ({"enum": ["a", 1, True, None]}, "option", "3", None),
        ({"enum": ["1", 1, ""]}, "option", "0", "1"),
        ({"type": "string", "const": "a"}, "option", "0", "a"),
        ({"type": "array", "items": {"enum": ["a", None]}}, "options", ["1", "0"], [None, "a"]),
        ({"type": ["string", "null"]}, "text", "a", "a"),
        ({"type": ["string", "null"]}, "text", "", None),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "integer", "", None),
        ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, "integer", "7", 7),
        ({"type": "array", "items": {"enum": ["a"]}}, "options", [], []),
    ],
)
def test_a_value_is_asked_for_by_its_kind(
    schema: object, kind: str, raw: object, value: object
) -> None:
    form = schema_form(an_object(it=schema))
    data = read(form, it=raw)

    assert form.form.fields[0].kind == kind
    assert json.dumps(data) == json.dumps({"it": value})
    form.check(data)


@pytest.mark.parametrize(
    ("schema", "raw"),
    [
        ({"type": "string", "minLength": 2}, "a"),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "a1"),
        ({"type": "string", "pattern": r"^\d$"}, "٣"),
        ({"type": "string", "format": "date"}, "21.11.2026"),
        ({"type": "integer", "minimum": 3}, "2"),
        ({"type": "integer", "exclusiveMinimum": 3}, "3"),
        ({"type": "integer", "exclusiveMaximum": 3}, "3"),
        ({"type": "integer", "maximum": 2.5}, "3"),
        ({"type": "number", "exclusiveMinimum": 3}, "3"),
        ({"type": "number", "exclusiveMaximum": 0.3}, "0.3"),
        ({"type": "number", "minimum": 2**53 + 1}, "9007199254740992"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}, ["0"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, ["0", "1"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, []),
        ({"type": "string"}, ""),
    ],
)
def test_a_value_that_the_schema_does_not_allow_is_named(schema: object, raw: object) -> None:
    form = schema_form(an_object(it=schema))

    with pytest.raises(InvalidInputError) as error:
        read(form, it=raw)

    assert list(error.value.problems) == ["it"]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array", "items": {"type": "boolean"}}, "/properties/it/items: an array of bool"),
        ({"type": "array"}, "/properties/it/items: a schema that is true"),
        ({"type": "array", "items": {"type": "object"}}, "/properties/it/items: an object without"),
        ({"type": "array", "items": {"enum": [1]}, "contains": {}}, "/properties/it/contains: 'co"),
        ({"type": "array", "items": {"enum": [1]}, "minItems": 2}, "/properties/it: no value fits"),
        ({"type": "string", "format": "uuid"}, "/properties/it/format: the format 'uuid'"),
        ({"type": "string", "format": "date", "pattern": "2"}, "/properties/it/pattern: 'pattern'"),
        ({"type": "string", "pattern": "(?=a)"}, "/properties/it/pattern: '(?=' is not supported"),
        ({"type": "string", "pattern": "a)"}, "/properties/it/pattern: this pattern is not under"),
        ({"type": "string", "pattern": "(a{999}){999}"}, "/properties/it/pattern: this pattern is"),
        ({"type": "string", "pattern": 3}, "/properties/it/pattern: a pattern must be a string"),
        ({"type": "string", "minLength": 4_001}, "/properties/it: no value fits"),
        ({"type": "string", "minLength": True}, "/properties/it/minLength: this is a whole number"),
        ({"type": "string", "minimum": 3}, "/properties/it/minimum: 'minimum' of a text"),
        ({"type": "string", "not": {}}, "/properties/it/not: 'not' of a text"),
        ({"type": "string", "unheardOf": 1}, "/properties/it/unheardOf: 'unheardOf' of a text"),
        ({"type": "integer", "multipleOf": 5}, "/properties/it/multipleOf: 'multipleOf'"),
        ({"type": "integer", "minimum": "3"}, "/properties/it/minimum: a bound is a number"),
        ({"type": "integer", "exclusiveMinimum": True}, "/properties/it/exclusiveMinimum: a bound"),
        ({"type": "integer", "minimum": 10**400}, "/properties/it/minimum: a bound is a number"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "/properties/it: no value fits"),
        ({"type": "number", "exclusiveMinimum": 3, "maximum": 3}, "/properties/it: no value fits"),
        ({"type": "boolean", "allOf": []}, "/properties/it/allOf: 'allOf' of a boolean"),
        ({"type": "null"}, "/properties/it: null cannot be asked"),
        ({"type": "strange"}, "/properties/it: strange cannot be asked"),
        ({"type": 7}, "/properties/it: value cannot be asked"),
        ({"type": ["string", "integer"]}, "/properties/it/type: one type"),
        ({}, "/properties/it: a schema without a type"),
        (True, "/properties/it: a schema that is true or false"),
        ({"enum": []}, "/properties/it/enum: an enum has 1 to 250"),
        ({"enum": "abc"}, "/properties/it/enum: an enum has 1 to 250"),
        ({"enum": list(range(251))}, "/properties/it/enum: an enum has 1 to 250"),
        ({"enum": [1, {}]}, "/properties/it/enum/1: an option must be"),
        ({"enum": [1, 1.0]}, "/properties/it/enum/1: this value appears twice"),
        ({"enum": ["a", "b\u200b", "b⟨U+200B⟩"]}, "/properties/it/enum/2: this option looks"),
        ({"enum": ["x" * 101]}, "/properties/it/enum/0: an option has at most 100"),
        ({"enum": ["a"], "type": "integer"}, "/properties/it/enum/0: this value is not of"),
        ({"enum": ["a"], "const": "a"}, "/properties/it/const: an enum or a const"),
        ({"enum": ["a"], "minLength": 5}, "/properties/it/minLength: 'minLength' of a choice"),
        ({"const": [1]}, "/properties/it/const: an option must be"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "/properties/it/anyOf: only a cho"),
        ({"anyOf": []}, "/properties/it/anyOf: only a choice"),
        ({"anyOf": [{"type": "null"}, {"type": "null"}]}, "/properties/it/anyOf: only a choice"),
        (
            {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "null"}]},
            "/properties/it/anyOf/0/anyOf: only one `or null`",
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 3}, "/properties/it/maxL"),
        ({"oneOf": [{"enum": ["a", None]}, {"type": "null"}]}, "/properties/it/oneOf/0: null fits"),
        ({"$ref": "https://example.com/schema"}, "/properties/it/$ref: 'https://example.com/sch"),
        ({"$ref": "#/$defs/None"}, "/properties/it/$ref: '#/$defs/None' is not one"),
        ({"$ref": "#/$defs/Loop"}, "/$defs/Loop: a schema that contains itself"),
        ({"$ref": "#/$defs/Either"}, "/$defs/Either/oneOf: only a choice"),
        ({"$ref": "#/$defs/Word", "maxLength": 3}, "/properties/it/maxLength: 'maxLength' of a r"),
        ({"type": "object"}, "/properties/it: an object without properties"),
        (
            an_object(a=an_object(b={"type": "string"})),
            "/properties/it/properties/a: an object two",
        ),
        (
            an_object(a={"type": "string"}) | {"additionalProperties": {"type": "string"}},
            "/properties/it/additionalProperties: values without a name",
        ),
        (an_object(a={"type": "string"}) | {"minProperties": 2}, "/properties/it/minProperties"),
        (an_object(a={"type": "string"}) | {"required": ["b"]}, "/properties/it/required/0: there"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place_and_the_reason(
    schema: object, told: str
) -> None:
    definitions = {
        "Either": {"oneOf": [{"$ref": "#/$defs/Either"}, {"type": "object"}]},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Word": {"type": "string"},
    }

    with pytest.raises(SchemaError) as error:
        schema_form(an_object(it=schema) | {"$defs": definitions})

    assert str(error.value).startswith(told)
    assert error.value.pointer == told.partition(":")[0] or error.value.pointer.startswith(told)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "data that is asked for in chat is an object"),
        ({"type": "object", "properties": {}}, "nothing to ask for"),
        (an_object(**{f"f{n}": {"type": "string"} for n in range(41)}), "1 to 40 fields"),
        (an_object(**{"a/b~c": {"type": "null"}}), "/properties/a~1b~0c: "),
        (an_object(**{"": {"type": "string"}}), "a field's name has 1 to 100 characters"),
        (an_object(it={"type": "string"}) | {"$id": 3, "patternProperties": {}}, "/patternProp"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "default": {1, 2}}}},
            "not JSON",
        ),
        ({"type": "object", "description": "x" * 70_000}, "over 65536"),
        ([], "a schema is an object"),
    ],
)
def test_a_schema_that_is_no_form_is_refused(schema: Any, told: str) -> None:
    with pytest.raises(SchemaError) as error:
        schema_form(schema)

    assert told in str(error.value)


def test_words_that_assert_nothing_are_fine() -> None:
    field = a_field(
        {
            "$ref": "#/$defs/Word",
            "title": "The word",
            "default": "hello",
            "examples": ["x"],
            "x-order": 3,
        },
        **{
            "$defs": {"Word": {"type": "string", "title": "Word", "description": "One of many."}},
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "additionalProperties": False,
        },
    )

    assert (field.label, field.hint, field.initial) == ("The word", "One of many.", "hello")


def test_a_default_that_is_no_value_of_the_field_is_not_begun_with() -> None:
    assert a_field({"type": "integer", "default": "many"}).initial is None
    assert a_field({"type": "integer", "default": True}).initial is None
    assert a_field({"enum": ["a", "b"], "default": "b"}).initial == "b"


def test_options_of_different_types_look_different() -> None:
    field = a_field({"enum": ["1", 1, "none", None, "", "a"]})

    assert [option.label for option in field.options] == ['"1"', "1", '"none"', "none", '""', "a"]


def test_names_with_dots_do_not_collide() -> None:
    form = schema_form(
        {
            "type": "object",
            "properties": {
                "a.b": {"type": "string"},
                "a~1b": {"type": "string"},
                "a": an_object(b={"type": "string"}),
            },
        }
    )

    assert [field.name for field in form.form.fields] == ["a~1b", "a~01b", "a.b"]
    data = form.data(form.form.read({"a~1b": "1", "a~01b": "2", "a.b": "3"}))
    assert data == {"a.b": "1", "a~1b": "2", "a": {"b": "3"}}
    form.check(data)


def test_an_optional_object_is_left_out_or_given_with_all_it_requires() -> None:
    inner = an_object(city={"type": "string"}, floor={"type": "integer"})
    inner |= {"title": "Address", "required": ["city"]}
    form = schema_form({"type": "object", "properties": {"address": inner}})

    assert [field.label for field in form.form.fields] == ["Address › city", "Address › floor"]
    assert not any(field.required for field in form.form.fields)
    assert read(form) == {}
    assert read(form, address__city="Rome") == {"address": {"city": "Rome"}}
    with pytest.raises(InvalidInputError) as error:
        read(form, address__floor="3")
    assert error.value.problems == {
        "address.city": "an answer is needed here, or none for the rest of 'address'"
    }


def test_an_object_or_null_that_is_required_is_null_when_nothing_is_given() -> None:
    inner = {"anyOf": [an_object(city={"type": "string"}), {"type": "null"}]}
    form = schema_form(an_object(address=inner))

    assert read(form) == {"address": None}
    form.check({"address": None})
    assert read(form, address__city="Rome") == {"address": {"city": "Rome"}}


@pytest.mark.parametrize(
    "data",
    [
        {"size": "3"},
        {"size": True},
        {"size": 11},
        {"size": 3, "more": 1},
        {"size": 3, "colour": None},
        {"size": 3, "colour": "blue"},
        {"size": 3, "colour": ["red"]},
        {"size": None},
        {"size": 3, "inner": {}},
        {"size": 3, "inner": 5},
        {"size": 3, "inner": {"a": "x", "b": "y"}},
        {"size": 3, "note": ""},
        {"size": 3, "note": "x" * 4_001},
        {"size": 3, "tags": ["a", "a"]},
        {"size": 3, "tags": "a"},
        {"size": 2.5},
        {},
    ],
)
def test_data_from_elsewhere_is_held_against_the_schema(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        _ORDER.check(data)


def test_data_from_elsewhere_may_say_what_the_form_leaves_out() -> None:
    _ORDER.check({"size": 3.0, "tags": [], "nick": None, "inner": {"a": "x"}, "colour": "red"})


_ORDER = schema_form(
    {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10},
            "colour": {"enum": ["red", "green"]},
            "note": {"type": "string"},
            "nick": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "inner": an_object(a={"type": "string"}),
        },
        "required": ["size"],
    }
)


def test_what_was_given_is_told_in_words_and_without_secrets() -> None:
    form = schema_form(
        an_object(
            colour={"enum": ["red", None], "title": "Colour"},
            ok={"type": "boolean"},
            tags={"type": "array", "items": {"enum": ["a", "b"]}},
            apiKey={"type": "string"},
            code={"type": "string", "title": "Password"},
            note={"type": "string"},
        )
    )
    data = {
        "colour": None,
        "ok": True,
        "tags": ["b", "a"],
        "apiKey": "hunter2",
        "code": "hunter2",
        "note": "xoxb-1234567890 \u202e",
    }

    assert form.told(data) == (
        ("Colour", "none"),
        ("ok", "yes"),
        ("tags", "b, a"),
        ("apiKey", "[redacted: 7 characters]"),
        ("Password", "[redacted: 7 characters]"),
        ("note", "[redacted: 15 characters] ⟨U+202E⟩"),
    )


@pytest.mark.parametrize(
    "values", [["Yes", "Yes "], ["yes", "YES"], ["don't", "don’t"], ["1…", "1..."], ["ﬁ", "fi"]]
)
def test_options_that_look_alike_are_refused(values: list[str]) -> None:
    with pytest.raises(SchemaError, match="looks like another one"):
        schema_form(an_object(it={"enum": values}))


@pytest.mark.parametrize("words", ["Cancel", "cancel ", "« Back", "BACK", "Done (2)", "Skip"])
def test_an_option_does_not_pass_for_a_button_of_the_form(words: str) -> None:
    form = schema_form(an_object(it={"enum": [words, "other"]}))

    assert [option.label for option in form.form.fields[0].options] == [f'"{words}"', "other"]
    assert read(form, it="0") == {"it": words}


def test_people_are_told_the_pattern_as_it_was_written() -> None:
    form = schema_form(an_object(it={"type": "string", "pattern": r"^\d+$"}))

    with pytest.raises(InvalidInputError) as error:
        read(form, it="x")
    assert error.value.problems == {"it": r"this must be text that matches ^\d+$"}


def test_bounds_are_told_in_full() -> None:
    bounds = {"type": "integer", "minimum": 1_234_567, "maximum": 1_234_566}
    with pytest.raises(SchemaError, match="at least 1234567 and at most 1234566"):
        schema_form(an_object(it=bounds))
