"""What MCP and pydantic models commonly say of data: each is a form, and its answers fit it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field, HttpUrl
from support.schemas import an_object

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import Form, FormField, When
from sayso.forms.schema_form import SchemaForm, schema_form
from sayso.questions.structured_input import schema_of


def filled(schema: dict[str, Any], raw: dict[str, Any]) -> dict[str, Any]:
    """What the form makes of raw answers, after the schema itself and the form agreed to it."""
    form = schema_form(schema)
    data = form.data(form.form.read(raw))
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(data)
    form.check(data)
    again = form.beginning_with(data).form
    assert all(field.initial is not None for field in again.fields if field.name in raw)
    return data


def problems(form: SchemaForm, raw: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidInputError) as caught:
        form.data(form.form.read(raw))
    return dict(caught.value.problems)


FORMATS = [
    ("date-time", "2026-11-21T14:30:00Z", "2026-11-21T14:30:00Z"),
    ("date-time", "2026-11-21T14:30:05.25+01:00", "2026-11-21T14:30:05.25+01:00"),
    ("date-time", " 2026-11-21 14:30 UTC ", "2026-11-21T14:30:00Z"),
    ("date-time", "2026-11-21 14:30:10 +05:30", "2026-11-21T14:30:10+05:30"),
    ("email", " ana@example.com ", "ana@example.com"),
    ("email", "a.b+c@mail.example.co", "a.b+c@mail.example.co"),
    ("uri", "https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
    ("uri", "mailto:ana@example.com", "mailto:ana@example.com"),
    ("date", "2026-11-21", "2026-11-21"),
]


@pytest.mark.parametrize(("name", "raw", "value"), FORMATS)
def test_a_text_of_a_format_is_asked_for_and_checked(name: str, raw: str, value: str) -> None:
    schema = an_object(it={"type": "string", "format": name})

    assert filled(schema, {"it": raw}) == {"it": value}


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("date-time", "2026-11-21"),
        ("date-time", "2026-11-21T14:30:00"),
        ("date-time", "2026-11-21 14:30"),
        ("date-time", "2026-02-30T14:30:00Z"),
        ("date-time", "2026-11-21T25:00:00Z"),
        ("date-time", "2026-11-21T14:30:00+25:00"),
        ("date-time", "1795000000"),
        ("email", "ana"),
        ("email", "ana@localhost"),
        ("email", "ana@@example.com"),
        ("email", ".ana@example.com"),
        ("email", "ana@example.com, bob@example.com"),
        ("email", "a" * 65 + "@example.com"),
        ("email", "ana@-example.com"),
        ("uri", "example.com"),
        ("uri", "/a/b"),
        ("uri", "https://exa mple.com"),
        ("uri", "https://example.com/%zz"),
        ("uri", "https://éxample.com"),
        ("uri", "https:"),
    ],
)
def test_a_text_of_another_format_is_refused_where_it_was_written(name: str, raw: str) -> None:
    form = schema_form(an_object(it={"type": "string", "format": name}))

    (said,) = problems(form, {"it": raw}).values()

    assert said.startswith("this must be")
    assert "such as" in said


def test_an_address_keeps_to_its_lengths_and_its_pattern() -> None:
    schema = {"type": "string", "format": "uri", "maxLength": 30, "pattern": "^https://"}
    form = schema_form(an_object(it=schema))

    assert filled(an_object(it=schema), {"it": "https://example.com"})
    assert problems(form, {"it": "https://example.com/" + "a" * 20})
    assert problems(form, {"it": "ftp://example.com"})


def test_a_list_of_free_text_is_written_a_line_each() -> None:
    schema = an_object(
        it={
            "type": "array",
            "items": {"type": "string", "maxLength": 5},
            "minItems": 2,
            "maxItems": 3,
            "uniqueItems": True,
        }
    )
    form = schema_form(schema)

    assert filled(schema, {"it": " a \n\nb, c\n"}) == {"it": ["a", "b, c"]}
    assert filled(schema, {"it": ["a", "b"]}) == {"it": ["a", "b"]}
    assert problems(form, {"it": "a"}) == {"it": "this must be a list of at least 2"}
    assert problems(form, {"it": "a\nb\nc\nd"}) == {"it": "this must be a list of at most 3"}
    assert problems(form, {"it": "a\nb\na"}) == {"it": "write each one once"}
    assert problems(form, {"it": "a\nbbbbbb"}) == {
        "it": "line 2: this must be at most 5 characters"
    }
    assert form.told({"it": ["a", "b"]}) == (("it", "a, b"),)


def test_lists_of_numbers_and_of_addresses_are_lists_too() -> None:
    schema = an_object(
        ports={"type": "array", "items": {"type": "integer", "minimum": 1}},
        to={"type": "array", "items": {"type": "string", "format": "email"}},
    )

    assert filled(schema, {"ports": "80\n443"}) == {"ports": [80, 443], "to": []}
    assert problems(schema_form(schema), {"ports": "80\n0", "to": "x"}) == {
        "ports": "line 2: this must be at least 1",
        "to": "line 1: this must be an address such as ana@example.com",
    }


def test_what_lines_cannot_hold_is_no_beginning_of_a_list() -> None:
    schema = an_object(it={"type": "array", "items": {"type": "string"}, "default": ["a\nb"]})
    form = schema_form(schema)

    assert form.form.fields[0].initial is None
    form.check({"it": ["a\nb", " c"]})
    with pytest.raises(InvalidInputError):
        form.beginning_with({"it": ["a\nb"]})
    assert form.beginning_with({"it": ["a", "b"]}).form.fields[0].lines == "a\nb"


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_constants_with_titles_are_options(word: str) -> None:
    levels = [{"const": "lo", "title": "Low"}, {"const": 2}, {"const": "hi", "title": "High"}]
    schema = an_object(
        one={word: levels}, several={"type": "array", "items": {word: levels}, "minItems": 1}
    )
    form = schema_form(schema)

    assert [option.label for option in form.form.fields[0].options] == ["Low", "2", "High"]
    assert filled(schema, {"one": "2", "several": ["0", "1"]}) == {
        "one": "hi",
        "several": ["lo", 2],
    }
    assert form.told({"one": "hi", "several": ["lo"]}) == (("one", "High"), ("several", "Low"))


def test_constants_can_be_left_out_where_null_is_among_them() -> None:
    schema = an_object(
        it={"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}], "default": "b"}
    )

    assert schema_form(schema).form.fields[0].initial == "b"
    assert filled(schema, {}) == {"it": None}


def test_the_names_of_an_enum_are_shown() -> None:
    schema = an_object(it={"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]})

    assert [option.label for option in schema_form(schema).form.fields[0].options] == [
        "Red",
        "Green",
    ]


SERVER = an_object(host={"type": "string"}, port={"type": "integer", "default": 443})
SERVERS = {"type": "array", "items": SERVER, "minItems": 1, "maxItems": 3, "title": "Servers"}


def test_a_list_of_objects_has_room_for_several_and_takes_as_many_as_are_filled_in() -> None:
    schema = an_object(it=SERVERS)
    form = schema_form(schema)

    assert [(field.name, field.label, field.required) for field in form.form.fields] == [
        ("it.0.host", "Servers 1 › host", True),
        ("it.0.port", "Servers 1 › port", True),
        ("it.1.host", "Servers 2 › host", False),
        ("it.1.port", "Servers 2 › port", True),
        ("it.2.host", "Servers 3 › host", False),
        ("it.2.port", "Servers 3 › port", True),
    ]
    # What a dialog begins with comes back from it, and makes no item by itself.
    untouched = {"it.1.port": "443", "it.2.port": "443"}
    one = {"it.0.host": "a", "it.0.port": "1"}
    read = form.form.read(one | untouched)
    assert form.data(read) == filled(schema, one) == {"it": [{"host": "a", "port": 1}]}
    two = one | {"it.1.host": "b", "it.1.port": "2"}
    assert filled(schema, two)["it"] == [{"host": "a", "port": 1}, {"host": "b", "port": 2}]


def test_an_item_of_a_list_is_whole_or_not_there() -> None:
    form = schema_form(an_object(it=SERVERS))
    one = {"it.0.host": "a", "it.0.port": "1"}

    assert problems(form, {}) == dict.fromkeys(
        ["it.0.host", "it.0.port"], "an answer is needed here"
    )
    assert problems(form, one | {"it.1.host": "b"}) == {"it.1.port": "an answer is needed here"}
    assert list(problems(form, one | {"it.1.port": "7"})) == ["it.1.port"]
    assert set(problems(form, one | {"it.2.host": "c", "it.2.port": "3"})) == {
        "it.2.host",
        "it.2.port",
    }
    with pytest.raises(InvalidInputError, match="more than 3 items"):
        form.check({"it": [{"host": "a", "port": 1}] * 4})


def test_a_list_of_objects_may_be_empty_where_the_schema_says_so() -> None:
    schema = an_object(it={"type": "array", "items": SERVER})

    assert filled(schema, {}) == {"it": []}
    assert len(schema_form(schema).form.fields) == 10


def test_a_list_of_large_objects_has_room_for_fewer() -> None:
    item = an_object(**{f"p{number}": {"type": "string"} for number in range(15)})

    assert len(schema_form(an_object(it={"type": "array", "items": item})).form.fields) == 30
    with pytest.raises(SchemaError, match="1 to 40 fields, not 45"):
        schema_form(an_object(it={"type": "array", "items": item, "minItems": 3}))


CARD = an_object(kind={"const": "card"}, number={"type": "string"})
BANK = an_object(kind={"const": "bank"}, iban={"type": "string"}, bic={"type": ["string", "null"]})


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_of_several_objects_one_is_chosen_and_filled_in(word: str) -> None:
    schema = an_object(pay={word: [CARD, BANK]})
    form = schema_form(schema)

    assert [(field.name, field.kind) for field in form.form.fields] == [
        ("pay", "option"),
        ("pay.0.number", "text"),
        ("pay.1.iban", "text"),
        ("pay.1.bic", "text"),
    ]
    assert [option.label for option in form.form.fields[0].options] == ["card", "bank"]
    card = filled(schema, {"pay": "0", "pay.0.number": "4"})
    assert card == {"pay": {"kind": "card", "number": "4"}}
    bank = filled(schema, {"pay": "1", "pay.1.iban": "DE"})
    assert bank == {"pay": {"kind": "bank", "iban": "DE", "bic": None}}
    assert form.told(bank) == (("pay", "bank"), ("pay › bank › iban", "DE"))
    assert problems(form, {"pay": "1"}) == {"pay.1.iban": "an answer is needed here"}
    assert list(problems(form, {"pay": "0", "pay.0.number": "4", "pay.1.iban": "x"})) == [
        "pay.1.iban"
    ]
    with pytest.raises(InvalidInputError, match="none of the choices"):
        form.check({"pay": {"kind": "bank", "number": "4"}})


def test_objects_that_nothing_tells_apart_are_refused() -> None:
    both = [an_object(a={"type": "string"}), an_object(a={"type": "string"})]

    with pytest.raises(SchemaError, match="/properties/it/oneOf: an answer could fit two of these"):
        schema_form(an_object(it={"oneOf": both}))


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"oneOf": [CARD, {"type": "string"}]}, "/properties/it/oneOf: only a choice"),
        ({"oneOf": [CARD, {"type": "array"}]}, "/properties/it/oneOf: only a choice"),
        (
            {"oneOf": [CARD, an_object(kind={"const": "x"}, a=SERVER)]},
            "/properties/it/oneOf/1/properties/a: an object two levels down",
        ),
        (
            {"type": "array", "items": {"oneOf": [CARD, BANK]}},
            "/properties/it/items/oneOf: an array of",
        ),
        (
            {"type": "array", "items": an_object(a=SERVERS)},
            "/properties/it/items/properties/a/items: an array of objects",
        ),
        ({"oneOf": [{"const": "a"}, {"const": "a"}]}, "/properties/it/oneOf/1: this value appears"),
        (
            {"oneOf": [{"const": "a", "title": "X"}, {"const": "b", "title": "x"}]},
            "/properties/it/oneOf/1: this option looks like",
        ),
        (
            {"type": "integer", "oneOf": [{"const": 1}, {"const": "b"}]},
            "/properties/it/oneOf/1/const: this value is not of the type",
        ),
        ({"enum": ["a"], "enumNames": ["A", "B"]}, "/properties/it/enumNames: this is a list"),
        ({"type": "string", "format": "time"}, "/properties/it/format: the format 'time'"),
    ],
)
def test_what_still_cannot_be_asked_is_refused_with_its_path(
    schema: dict[str, Any], told: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_form(an_object(it=schema))

    assert str(caught.value).startswith(told)


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str


class Bank(BaseModel):
    kind: Literal["bank"] = "bank"
    iban: str
    since: date | None = None


class Server(BaseModel):
    host: str
    port: int = 443


class Everything(BaseModel):
    at: datetime
    page: HttpUrl
    tags: list[str] = []
    ports: set[int] | None = None
    level: Level | None = Level.LOW
    servers: list[Server] = Field(default=[], max_length=2)
    pay: Annotated[Card | Bank, Field(discriminator="kind")]
    refund: Card | Bank | None = None


def test_a_model_as_they_are_commonly_written_is_asked_and_comes_back() -> None:
    form = schema_form(schema_of(Everything))
    raw = {
        "at": "2026-11-21 14:30 UTC",
        "page": "https://example.com/a",
        "tags": "a\nb",
        "servers.0.host": "web",
        "pay": "1",
        "pay.1.iban": "DE",
        "refund": "0",
        "refund.0.number": "4",
    }

    data = form.data(form.form.read(raw))
    found = Everything.model_validate(data)

    form.check(data)
    assert found.at == datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
    assert (found.tags, found.ports, found.level) == (["a", "b"], None, Level.LOW)
    assert found.servers == [Server(host="web")]
    assert (found.pay, found.refund) == (Bank(iban="DE"), Card(number="4"))


def test_a_default_of_a_whole_list_is_what_its_fields_begin_with() -> None:
    default = [{"host": "a", "port": 1}, {"host": "b", "port": 2}]
    form = schema_form(an_object(it={**SERVERS, "default": default})).form

    assert [field.initial for field in form.fields] == ["a", 1, "b", 2, None, 443]


def test_a_field_hangs_on_one_that_comes_before_it() -> None:
    one, other = FormField("a", "A", when=When("b")), FormField("b", "B")

    with pytest.raises(ValueError, match="'a' hangs on a field that is not before it"):
        Form("Order", (one, other))
    assert Form("Order", (other, one)).read({"b": "x", "a": "y"}) == {"b": "x", "a": "y"}
