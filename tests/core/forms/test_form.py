"""Forms: what a person fills in becomes values, or says what would fit."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.errors import InvalidInputError
from sayso.forms.form import Form, FormField, Option

COLOURS = (Option("Red", "red"), Option("None of them", None), Option("7", 7))


def _field(kind: str = "text", **how: object) -> FormField:
    return FormField("it", "It", kind, **how)  # type: ignore[arg-type]


def test_what_is_given_in_lists_makes_the_same_form_and_one_that_can_be_a_key() -> None:
    options: Any = [*COLOURS]
    listed: Any = [_field(suggestions=["a", "b"]), FormField("c", "C", "option", options=options)]

    form = Form("It", listed)

    given = (_field(suggestions=("a", "b")), FormField("c", "C", "option", options=COLOURS))
    assert {form: "known"}[Form("It", given)] == "known"


@pytest.mark.parametrize(
    ("field", "raw", "value"),
    [
        (_field(), " as it is\n", " as it is\n"),
        (_field("integer"), "-3", -3),
        (_field("number"), "2.5", 2.5),
        (_field("boolean"), "true", True),
        (_field("boolean"), False, False),
        (_field("date"), "2026-11-21", "2026-11-21"),
        (_field("date"), " 2026-11-21\n", "2026-11-21"),
        (_field("option", options=COLOURS), "2", 7),
        (_field("options", options=COLOURS), ["0", "2"], ["red", 7]),
    ],
)
def test_an_input_becomes_a_value_of_its_kind(field: FormField, raw: str, value: object) -> None:
    read = field.read(raw)

    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    ("field", "raw", "told"),
    [
        (_field(), "", "an answer is needed here"),
        (_field("options", options=COLOURS), [], "an answer is needed here"),
        (_field(minimum=3), "ab", "this must be at least 3 characters"),
        (_field(maximum=3), "abcd", "this must be at most 3 characters"),
        (_field(), "x" * 4_001, "this must be at most 4,000 characters"),
        (_field(schema='{"pattern": "^a+$"}'), "b", "this must be text that matches ^a+$"),
        (_field("integer"), "2.5", "this must be a whole number, such as 3"),
        (_field("integer"), "x", "this must be a whole number, such as 3"),
        (_field("integer", minimum=1), "0", "this must be at least 1"),
        (_field("number", maximum=1.5), "2", "this must be at most 1.5"),
        (_field("number"), "inf", "this must be a finite number"),
        (_field("number"), "nan", "this must be a finite number"),
        (_field("boolean"), "perhaps", "this must be yes or no"),
        (_field("date"), "21.11.2026", "this must be a date, such as 2026-11-21"),
        (_field("date"), "2026-02-30", "this must be a date, such as 2026-11-21"),
        (_field("date"), "86400", "this must be a date, such as 2026-11-21"),
        (_field("date"), "20261121", "this must be a date, such as 2026-11-21"),
        (_field("date"), "2026-W47-6", "this must be a date, such as 2026-11-21"),
        (_field("date"), "2026-11-21T00:00:00", "this must be a date, such as 2026-11-21"),
        (_field("date"), "٢٠٢٦-١١-٢١", "this must be a date, such as 2026-11-21"),
        (_field("date"), ["2026-11-21"], "this must be a date, such as 2026-11-21"),
        (_field("integer", minimum=1_234_567), "1", "this must be at least 1234567"),
        (_field("number", maximum=0.25), "1", "this must be at most 0.25"),
        (_field("number", maximum=-1e300), "1", "this must be at most -1e+300"),
        (_field("option", options=COLOURS), "3", "choose one of the options"),
        (_field("option", options=COLOURS), "-1", "choose one of the options"),
        (_field("option", options=COLOURS), "Red", "choose one of the options"),
        (_field("option", options=COLOURS), "²", "choose one of the options"),
        (_field("options", options=COLOURS), ["0", "0"], "choose each option once"),
        (_field("options", options=COLOURS, minimum=2), ["0"], "at least 2 of the options"),
        (_field("options", options=COLOURS, maximum=1), ["0", "1"], "at most 1 of the options"),
        (_field("options", options=COLOURS), "0", "this must be one or several of the options"),
    ],
)
def test_what_does_not_fit_is_told_without_repeating_it(
    field: FormField, raw: str, told: str
) -> None:
    with pytest.raises(ValueError) as error:
        field.read(raw)

    assert told in str(error.value)


def test_a_form_reads_all_of_its_fields_and_names_all_problems() -> None:
    form = Form("Order", (FormField("a", "A", "integer"), FormField("b", "B"), _field()))

    with pytest.raises(InvalidInputError) as error:
        form.read({"a": "x", "it": "fine"})

    assert error.value.problems == {
        "a": "this must be a whole number, such as 3",
        "b": "an answer is needed here",
    }


def test_what_is_optional_and_not_given_is_left_out() -> None:
    form = Form("Order", (FormField("a", "A", required=False), FormField("b", "B")))

    assert form.read({"a": "", "b": "x", "unknown": "ignored"}) == {"b": "x"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Form("Empty", ()),
        lambda: Form("Twice", (FormField("a", "A"), FormField("a", "B"))),
        lambda: Form("Many", tuple(FormField(f"f{n}", "F") for n in range(41))),
        lambda: FormField("", "A"),
        lambda: FormField("a", "A" * 101),
        lambda: FormField("a", "A", "option"),
        lambda: FormField("a", "A", options=COLOURS),
        lambda: FormField("a", "A", "option", options=COLOURS * 100),
        lambda: FormField("a", "A", "integer", suggestions=("1",)),
    ],
)
def test_a_form_that_cannot_be_asked_is_refused(make: object) -> None:
    with pytest.raises(ValueError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("raw", "value"),
    [("5", 5), (" -5 ", -5), ("5.0", 5.0), ("5.5", 5.5), ("1e3", 1000.0), (str(10**20), 1e20)],
)
def test_a_number_that_is_written_whole_is_whole(raw: str, value: float) -> None:
    read = _field("number").read(raw)

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("kind", ["integer", "number", "text", "date"])
def test_true_is_neither_a_number_nor_a_text(kind: str) -> None:
    with pytest.raises(ValueError, match="this must be"):
        _field(kind).read(True)


@pytest.mark.parametrize("raw", ["1", "yes", "on", "True", "0", "f", "TRUE "])
def test_yes_is_true_and_no_other_word_for_it(raw: str) -> None:
    with pytest.raises(ValueError, match="this must be yes or no"):
        _field("boolean").read(raw)
