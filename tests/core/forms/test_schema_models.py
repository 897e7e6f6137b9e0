"""A pydantic model as a form: what it reads is the model again."""

from __future__ import annotations

import enum
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sayso.errors import SchemaError
from sayso.forms.schema_form import schema_form
from sayso.questions.structured_input import schema_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    city: str
    floor: int | None = None


class Order(BaseModel):
    """What to build."""

    name: Annotated[str, Field(min_length=1, max_length=300)]
    size: Annotated[int, Field(gt=0, le=10)] = 3
    weight: float | None
    colours: set[Colour]
    when: date
    kind: Literal["a", "b"] = "a"
    ship_to: Address
    bill_to: Address | None = None


def test_a_pydantic_model_is_a_form_and_what_it_reads_is_the_model() -> None:
    form = schema_form(schema_of(Order))

    assert [(f.name, f.kind, f.required) for f in form.form.fields] == [
        ("name", "text", True),
        ("size", "integer", False),
        ("weight", "number", False),
        ("colours", "options", False),
        ("when", "date", True),
        ("kind", "option", False),
        ("ship_to.city", "text", True),
        ("ship_to.floor", "integer", False),
        ("bill_to.city", "text", False),
        ("bill_to.floor", "integer", False),
    ]
    assert form.form.fields[0].multiline
    raw = {"name": "x", "colours": ["1"], "when": "2026-11-21", "ship_to.city": "Rome"}
    order = Order.model_validate(form.data(form.form.read(raw)))
    assert (order.size, order.weight, order.colours) == (3, None, {Colour.BLUE})
    assert (order.when, order.ship_to.city, order.bill_to) == (date(2026, 11, 21), "Rome", None)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (list[bool], "/properties/it/items: an array of booleans cannot be asked in chat here"),
        (list[list[str]], "/properties/it/items: an array of arrays cannot be asked in chat here"),
        (dict[str, int], "/properties/it: an object without properties"),
        (bytes, "/properties/it/format: the format 'binary'"),
        (int | str, "/properties/it/anyOf: only a choice between constants, between flat"),
        (Order, "/$defs/Order/properties/ship_to: an object two levels down"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(annotation: Any, told: str) -> None:
    model = type("Model", (BaseModel,), {"__annotations__": {"it": annotation}})

    with pytest.raises(SchemaError) as error:
        schema_of(model)

    assert str(error.value).startswith(told)
