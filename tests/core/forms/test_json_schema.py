"""A JSON Schema as a form: nothing through that it does not allow."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema_rs
import pytest
from support.schemas import ADDRESS, a_field, an_object, read

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.json_schema import SchemaForm, build_schema_form


def problems(form: SchemaForm, **raw: Any) -> dict[str, str]:
    with pytest.raises(InvalidInputError) as caught:
        read(form, **raw)
    return dict(caught.value.problems)


CARD = an_object(kind={"const": "card"}, number={"type": "string"})
BANK = an_object(kind={"const": "bank"}, iban={"type": "string"})


@pytest.mark.parametrize(
    ("schema", "kind", "raw", "value"),
    [
        ({"type": "string"}, "text", "as it is ", "as it is "),
        ({"type": "string", "pattern": "^a"}, "text", "ab", "ab"),
        (
            {"type": "string", "format": "uuid"},
            "text",
            *["1b671a64-40d5-491e-99b0-da01ff1f3341"] * 2,
        ),
        ({"type": "string", "format": "date"}, "date", "2026-11-21", "2026-11-21"),
        (
            {"type": "string", "format": "date-time"},
            "datetime",
            " 2026-11-21 14:30 UTC ",
            "2026-11-21T14:30:00Z",
        ),
        (
            {"type": "string", "format": "date-time"},
            "datetime",
            "2026-11-21 14:30:10 +05:30",
            "2026-11-21T14:30:10+05:30",
        ),
        ({"type": "string", "format": "email"}, "email", " ana@example.com ", "ana@example.com"),
        ({"type": "string", "format": "uri"}, "url", *["https://example.com/a?b=c#d"] * 2),
        ({"type": "integer"}, "integer", "3", 3),
        ({"type": "integer", "exclusiveMinimum": 2.5}, "integer", "3", 3),
        ({"type": "number", "maximum": 4}, "number", "4", 4),
        ({"type": "number", "maximum": 4}, "number", "4.0", 4.0),
        ({"type": "number", "exclusiveMinimum": 0}, "number", "0.5", 0.5),
        ({"type": "boolean"}, "boolean", "false", False),
        ({"enum": ["a", 1, True, None]}, "option", "1", 1),
        ({"enum": ["a", 1, True, None]}, "option", "2", True),
        ({"enum": ["a", 1, True, None]}, "option", "3", None),
        ({"enum": ["1", 1, ""]}, "option", "0", "1"),
        ({"type": "string", "const": "a"}, "option", "0", "a"),
        ({"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}, "option", "", None),
        ({"type": "array", "items": {"enum": ["a", None]}}, "options", ["1", "0"], [None, "a"]),
        ({"type": "array", "items": {"enum": ["a"]}}, "options", [], []),
        ({"type": "array", "items": {"type": "string"}}, "list", " a \n\nb, c\n", ["a", "b, c"]),
        ({"type": ["string", "null"]}, "text", "a", "a"),
        ({"type": ["string", "null"]}, "text", "", None),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "integer", "", None),
        ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, "integer", "7", 7),
        # Everything else is JSON text.
        (ADDRESS, "json", '{"city": "Rome", "floor": 3}', {"city": "Rome", "floor": 3}),
        ({"anyOf": [ADDRESS, {"type": "null"}]}, "json", "", None),
        ({"type": "array", "items": CARD}, "json", "[]", []),
        ({"type": "array", "items": {"type": "integer"}}, "json", "[80, 443]", [80, 443]),
        (
            {"oneOf": [CARD, BANK]},
            "json",
            *['{"kind":"bank","iban":"DE"}', {"kind": "bank", "iban": "DE"}],
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "json", "7", 7),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            "json",
            '{"a": 1}',
            {"a": 1},
        ),
        ({"enum": [1, {"a": 1}]}, "json", '{"a": 1}', {"a": 1}),
        ({"oneOf": [{"enum": ["a", None]}, {"type": "null"}]}, "json", '"a"', "a"),
        ({"type": "null"}, "json", "null", None),
        ({}, "json", "[null]", [None]),
        (True, "json", "1.0", 1.0),
    ],
)
def test_a_value_is_asked_for_by_its_kind(
    schema: object, kind: str, raw: object, value: object
) -> None:
    whole = an_object(it=schema)
    form = build_schema_form(whole)
    data = read(form, it=raw)

    assert form.form.fields[0].kind == kind
    assert json.dumps(data) == json.dumps({"it": value})
    jsonschema_rs.validator_for(whole, validate_formats=True).validate(data)
    form.check_data(data)


DATE_TIMES = ("2026-11-21", "2026-11-21T14:30:00", "2026-02-30T14:30:00Z", "1795000000")
EMAILS = ("ana", "ana@localhost", ".ana@example.com", "a@example.com, b@example.com")
URIS = ("example.com", "/a/b", "https://exa mple.com", "https://example.com/%zz", "https:")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        *(("date-time", raw) for raw in DATE_TIMES),
        *(("email", raw) for raw in EMAILS),
        *(("uri", raw) for raw in URIS),
    ],
)
def test_a_text_of_another_format_is_refused_where_it_was_written(name: str, raw: str) -> None:
    form = build_schema_form(an_object(it={"type": "string", "format": name}))

    (told,) = problems(form, it=raw).values()

    assert told.startswith("this must be")
    assert "such as" in told


@pytest.mark.parametrize(
    ("schema", "raw", "told"),
    [
        ({"type": "string", "minLength": 2}, "a", "this must be at least 2 characters"),
        ({"type": "string", "maxLength": 2}, "abc", "this must be at most 2 characters"),
        ({"type": "string", "pattern": r"^\d$"}, "٣", r"this must be text that matches ^\d$"),
        ({"type": "string", "format": "uuid"}, "x", 'this does not fit: this is not a "uuid"'),
        ({"type": "integer", "exclusiveMinimum": 3}, "3", "this must be at least 4"),
        ({"type": "integer", "exclusiveMaximum": 3}, "3", "this must be at most 2"),
        ({"type": "integer", "maximum": 2.5}, "3", "this must be at most 2"),
        (
            {"type": "integer", "multipleOf": 5},
            "3",
            "this does not fit: this is not a multiple of 5",
        ),
        (
            {"type": "number", "exclusiveMinimum": 3},
            "3",
            "this does not fit: this is less than or equal to the minimum of 3",
        ),
        (
            {"type": "number", "minimum": 2**53 + 1},
            "9007199254740992",
            "this must be at least 9007199254740993",
        ),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
            ["0"],
            "this must be at least 2 of the options",
        ),
        (
            {"type": "array", "items": {"enum": ["a"]}, "minItems": 1},
            [],
            "an answer is needed here",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            "a\nb",
            "this must be a list of at most 1",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "a\nb\na",
            "write each one once",
        ),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 1}},
            "a\nbb",
            "line 2: this does not fit: this is longer than 1 character",
        ),
        ({"type": "string"}, "", "an answer is needed here"),
        (
            ADDRESS,
            '{"city": 5, "floor": 1}',
            'this does not fit: /city: this is not of type "string"',
        ),
        (ADDRESS, "Rome", "this is not JSON: Expecting value at line 1, column 1"),
        (ADDRESS, "{“city”: 1}", 'write straight quotes ("), not curly ones: line 1, column 2'),
        (ADDRESS, '{"city": "a", "city": "b"}', "a name appears twice in the same object"),
        (ADDRESS, '{"floor": NaN}', "NaN is not JSON"),
        (ADDRESS, '{"floor": -1e999}', "this must be a finite number"),
        (ADDRESS, "[" * 3_000, "this is nested too deeply"),
        (ADDRESS, '"' + "x" * 4_000, "this must be at most 4,000 characters"),
    ],
)
def test_a_value_that_the_schema_does_not_allow_is_told_at_its_field(
    schema: object, raw: object, told: str
) -> None:
    assert problems(build_schema_form(an_object(it=schema)), it=raw) == {"it": told}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string", "format": "nonsense"}, "/properties/it/format: Unknown format"),
        ({"type": "string", "pattern": "(?=a)"}, "/properties/it/pattern: this is no regular expr"),
        ({"type": "string", "pattern": "(a{999}){999}"}, "/properties/it/pattern: this is no reg"),
        ({"type": "string", "pattern": 3}, "/properties/it/pattern: this is not of type"),
        ({"type": "string", "minLength": 4_001}, "/properties/it: no value fits"),
        ({"type": "string", "minLength": True}, "/properties/it/minLength: this is not of type"),
        ({"type": "integer", "minimum": "3"}, "/properties/it/minimum: this is not of type"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "/properties/it: no value fits: at leas"),
        ({"type": "array", "items": {"enum": [1]}, "minItems": 2}, "/properties/it: no value fits"),
        ({"type": "strange"}, "/properties/it/type: this is not valid"),
        ({"enum": "abc"}, "/properties/it/enum: this is not of type"),
        ({"enum": list(range(251))}, "/properties/it: a choice has 1 to 250 values"),
        ({"enum": [1, 1.0]}, "/properties/it/1: this value appears twice"),
        ({"enum": ["a", "b\u200b", "b⟨U+200B⟩"]}, "/properties/it/2: this option looks"),
        ({"enum": ["x" * 101]}, "/properties/it/0: an option has at most 100"),
        ({"enum": ["a"], "type": "integer"}, "/properties/it: 'a' is not of the type"),
        ({"enum": ["a"], "enumNames": ["A", "B"]}, "/properties/it/enumNames: this is a list"),
        ({"oneOf": [{"const": "a"}, {"const": "a"}]}, "/properties/it/1: this value appears"),
        ({"$ref": "https://example.com/schema"}, "/properties/it: it has references that are not"),
        ({"$ref": "#/$defs/None"}, "/properties/it: the reference '#/$defs/None' leads nowhere"),
        ({"$ref": "#/$defs/Loop"}, "/properties/it: it contains itself"),
        ({"$ref": "#/$defs/Either"}, "/properties/it: it contains itself"),
        ("nonsense", "/properties/it: a schema is an object, true or false"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place_and_the_reason(
    schema: object, told: str
) -> None:
    definitions = {
        "Either": {"oneOf": [{"$ref": "#/$defs/Either"}, {"type": "object"}]},
        "Loop": {"$ref": "#/$defs/Loop"},
    }

    with pytest.raises(SchemaError) as error:
        build_schema_form(an_object(it=schema) | {"$defs": definitions})

    assert str(error.value).startswith(told)
    assert error.value.pointer == told.partition(": ")[0]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "data that is asked for in chat is an object"),
        (an_object(**{f"f{n}": {"type": "string"} for n in range(41)}), "1 to 40 fields"),
        (an_object(**{"a/b~c": {"type": "strange"}}), "/properties/a~1b~0c/type: "),
        (an_object(**{"": {"type": "string"}}), "a field's name has 1 to 100 characters"),
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
        build_schema_form(schema)

    assert told in str(error.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        an_object(a={"type": "integer"}) | {"minProperties": 1},
        an_object(a={"type": "integer"}) | {"required": ["b"]},
        {"$ref": "#/$defs/It", "$defs": {"It": an_object(a={"type": "integer"}) | {"not": {}}}},
    ],
)
def test_data_whose_properties_are_not_all_known_is_one_json_text(schema: dict[str, Any]) -> None:
    form = build_schema_form(schema)

    assert [(field.name, field.kind) for field in form.form.fields] == [("data", "json")]
    assert list(problems(form, data='{"a": "x"}')) == ["data"]


def test_data_that_is_one_json_text_comes_back_whole() -> None:
    form = build_schema_form({"type": "object", "additionalProperties": {"type": "integer"}})

    assert read(form, data='{"a": 1, "b": 2}') == {"a": 1, "b": 2}
    form.check_data({"a": 1})
    with pytest.raises(InvalidInputError):
        form.check_data({"a": "x"})
    assert form.describe({"a": 1}) == (("data", '{"a": 1}'),)


def test_a_pattern_is_matched_in_linear_time() -> None:
    form = build_schema_form(an_object(it={"type": "string", "pattern": "^(a+)+$"}))
    start = time.thread_time()

    assert problems(form, it="a" * 3_999 + "b")
    assert time.thread_time() - start < 1


def test_a_field_of_json_shows_what_is_to_be_written() -> None:
    servers = {"type": "array", "items": {"$ref": "#/$defs/Server"}, "description": "All of them."}
    server = an_object(host={"type": "string"}, port={"type": "integer"}, level={"enum": ["a"]})

    field = a_field(servers, **{"$defs": {"Server": server}})

    example = '[{"host": "…", "port": 1, "level": "a"}]'
    assert field.hint == f"All of them.\nJSON, such as {example}"
