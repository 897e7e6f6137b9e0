"""What one platform cannot ask for is not shown there, and says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso.cards.card import CardBody, Choice
from sayso.chats.limits import Limits
from sayso.forms.form import Form, FormField, Option

SMALL = Limits(content=100, reveal=100, fields=2, options=3, text=10)


def a_body(*fields: FormField, falls_back: str = "") -> CardBody:
    choice = Choice("fill", "Fill in…", form=Form("A form", fields), falls_back=falls_back)
    return CardBody("a title", choices=(choice, Choice("deny", "Deny")))


def options(count: int) -> FormField:
    named = tuple(Option(f"option {number}", number) for number in range(count))
    return FormField("which", "Which", "option", options=named)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ((options(4),), "'Which' has 4 options, and 3 fit"),
        (
            tuple(FormField(f"f{number}", "A field") for number in range(3)),
            "the form has 3 fields, and 2 fit",
        ),
        (
            (FormField("text", "A text", initial="x" * 11),),
            "'A text' needs a text of more than 10 characters",
        ),
        (
            (FormField("text", "A text", minimum=11),),
            "'A text' needs a text of more than 10 characters",
        ),
    ],
)
def test_a_form_that_does_not_fit_is_named_with_what_is_too_much(
    fields: tuple[FormField, ...], reason: str
) -> None:
    assert SMALL.problem(a_body(*fields)) == f"'Fill in…' cannot be asked for: {reason}"


def test_what_fits_exactly_is_no_problem() -> None:
    text = FormField("text", "A text", initial="x" * 10, minimum=10)

    assert SMALL.problem(a_body(options(3), text)) == ""
    assert SMALL.problem(CardBody("a title", choices=(Choice("allow", "Allow"),))) == ""


def test_a_form_that_can_be_done_without_prevents_nothing() -> None:
    behind_more = a_body(options(4))

    assert SMALL.problem(replace(behind_more, choices=(), more=behind_more.choices)) == ""
    assert SMALL.problem(a_body(options(4), falls_back="deny")) == ""
