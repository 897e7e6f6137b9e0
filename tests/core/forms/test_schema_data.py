"""Labels, options and data of a schema's form; a pydantic model comes back as itself."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, HttpUrl
from support.schemas import ADDRESS, a_field, an_object, read

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.json_schema import build_schema_form
from sayso.questions.structured_input import schema_of


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
    assert a_field({**ADDRESS, "default": {"city": 1}}).initial is None
    begun = a_field({**ADDRESS, "default": {"city": "Rome", "floor": 1}}).initial
    assert begun == '{\n  "city": "Rome",\n  "floor": 1\n}'


def test_what_lines_cannot_hold_is_no_beginning_of_a_list() -> None:
    schema = an_object(it={"type": "array", "items": {"type": "string"}, "default": ["a\nb"]})
    form = build_schema_form(schema)

    assert form.form.fields[0].initial is None
    form.check_data({"it": ["a\nb", " c"]})
    with pytest.raises(InvalidInputError):
        form.prefill({"it": ["a\nb"]})
    assert form.prefill({"it": ["a", "b"]}).form.fields[0].lines == "a\nb"


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_constants_with_titles_are_options(word: str) -> None:
    levels = [{"const": "lo", "title": "Low"}, {"const": 2}, {"const": "hi", "title": "High"}]
    schema = an_object(
        one={word: levels}, several={"type": "array", "items": {word: levels}, "minItems": 1}
    )
    form = build_schema_form(schema)

    assert [option.label for option in form.form.fields[0].options] == ["Low", "2", "High"]
    assert read(form, one="2", several=["0", "1"]) == {"one": "hi", "several": ["lo", 2]}
    described = form.describe({"one": "hi", "several": ["lo"]})
    assert described == (("one", "High"), ("several", "Low"))


def test_the_names_of_an_enum_are_shown() -> None:
    field = a_field({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]})

    assert [option.label for option in field.options] == ["Red", "Green"]


def test_options_of_different_types_look_different() -> None:
    field = a_field({"enum": ["1", 1, "none", None, "", "a"]})

    assert [option.label for option in field.options] == ['"1"', "1", '"none"', "none", '""', "a"]


@pytest.mark.parametrize(
    "values", [["Yes", "Yes "], ["yes", "YES"], ["don't", "don’t"], ["1…", "1..."], ["ﬁ", "fi"]]
)
def test_options_that_look_alike_are_refused(values: list[str]) -> None:
    with pytest.raises(SchemaError, match="looks like another one"):
        build_schema_form(an_object(it={"enum": values}))


@pytest.mark.parametrize("words", ["Cancel", "cancel ", "« Back", "BACK", "Done (2)", "Skip"])
def test_an_option_does_not_pass_for_a_button_of_the_form(words: str) -> None:
    form = build_schema_form(an_object(it={"enum": [words, "other"]}))

    assert [option.label for option in form.form.fields[0].options] == [f'"{words}"', "other"]
    assert read(form, it="0") == {"it": words}


_ORDER = build_schema_form(
    {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10},
            "colour": {"enum": ["red", "green"]},
            "note": {"type": "string"},
            "nick": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "inner": an_object(a={"type": "string"}) | {"additionalProperties": False},
        },
        "required": ["size"],
    }
)


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
        {"size": 3, "inner": None},
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
        _ORDER.check_data(data)


def test_data_from_elsewhere_may_say_what_the_form_leaves_out() -> None:
    _ORDER.check_data({"size": 3.0, "tags": [], "nick": None, "inner": {"a": "x"}, "colour": "red"})


def test_what_was_given_is_told_in_words_and_without_secrets() -> None:
    form = build_schema_form(
        an_object(
            colour={"enum": ["red", None], "title": "Colour"},
            ok={"type": "boolean"},
            tags={"type": "array", "items": {"enum": ["a", "b"]}},
            apiKey={"type": "string"},
            code={"type": "string", "title": "Password"},
            note={"type": "string"},
            login={"type": "object"},
        )
    )
    data = {
        "colour": None,
        "ok": True,
        "tags": ["b", "a"],
        "apiKey": "hunter2",
        "code": "hunter2",
        "note": "xoxb-1234567890 \u202e",
        "login": {"user": "ana", "password": "hunter2"},
    }

    assert form.describe(data) == (
        ("Colour", "none"),
        ("ok", "yes"),
        ("tags", "b, a"),
        ("apiKey", "[redacted: 7 characters]"),
        ("Password", "[redacted: 7 characters]"),
        ("note", "[redacted: 15 characters] ⟨U+202E⟩"),
        ("login", '{"user": "ana", "password": "[redacted: 7 characters]"}'),
    )


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    city: str
    floor: int | None = None


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str


class Bank(BaseModel):
    kind: Literal["bank"] = "bank"
    iban: str
    since: date | None = None


class Order(BaseModel):
    """What to build."""

    name: Annotated[str, Field(min_length=1, max_length=300)]
    size: Annotated[int, Field(gt=0, le=10)] = 3
    weight: float | None
    colours: set[Colour]
    at: datetime
    page: HttpUrl
    kind: Literal["a", "b"] = "a"
    tags: list[str] = []
    ship_to: Address
    bill_to: Address | None = None
    pay: Annotated[Card | Bank, Field(discriminator="kind")]


def test_a_pydantic_model_is_a_form_and_what_it_reads_is_the_model() -> None:
    form = build_schema_form(schema_of(Order))

    assert [(field.name, field.kind, field.required) for field in form.form.fields] == [
        ("name", "text", True),
        ("size", "integer", False),
        ("weight", "number", False),
        ("colours", "options", False),
        ("at", "datetime", True),
        ("page", "url", True),
        ("kind", "option", False),
        ("tags", "list", False),
        ("ship_to", "json", True),
        ("bill_to", "json", False),
        ("pay", "json", True),
    ]
    assert form.form.fields[0].multiline
    data = read(
        form,
        name="x",
        colours=["1"],
        at="2026-11-21 14:30 UTC",
        page="https://example.com/a",
        ship_to='{"city": "Rome"}',
        pay='{"kind": "bank", "iban": "DE"}',
    )
    order = Order.model_validate(data)
    form.check_data(data)
    assert (order.size, order.weight, order.colours) == (3, None, {Colour.BLUE})
    assert order.at == datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
    assert (order.ship_to, order.bill_to, order.pay) == (
        Address(city="Rome"),
        None,
        Bank(iban="DE"),
    )
