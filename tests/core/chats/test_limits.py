"""What one platform cannot ask for is not shown there, and says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso.cards.card import CardBody, Choice
from sayso.chats.limits import Limits
from sayso.forms.form import Form, FormField, Option

SMALL = Limits(content=100, reveal=100, fields=2, options=3, text=10)
LABELS = Limits(content=100, reveal=100, button=12, menu=12)
ALLOW, DENY = Choice("allow", "Allow"), Choice("deny", "Deny")


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

    assert SMALL.problem(replace(behind_more, choices=(DENY,), more=behind_more.choices)) == ""
    assert SMALL.problem(a_body(options(4), falls_back="deny")) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (a_body(FormField("f", "L" * 46)), f"the label '{'L' * 46}' has more than 45 characters"),
        (
            a_body(FormField("f", "F", "option", options=(Option("o" * 61, 1),))),
            "an option of 'F' has more than 60 characters",
        ),
    ],
)
def test_a_label_that_nobody_could_read_to_its_end_is_named(body: CardBody, reason: str) -> None:
    narrow = Limits(content=100, reveal=100, label=45, option=60)

    assert narrow.problem(body) == f"'Fill in…' cannot be asked for: {reason}"


def test_a_button_that_a_person_needs_is_never_cut_or_left_out() -> None:
    body = CardBody("a title", choices=(Choice("stop", "Stop all of them"), DENY))

    assert LABELS.problem(body) == (
        "'Stop all of them' cannot be asked for: its label has 16 characters, and 12 fit"
    )


def test_what_a_person_can_do_without_is_left_out_and_the_card_says_why() -> None:
    form = Form("A form", (options(4),))
    body = CardBody(
        "a title",
        facts=(("Source", "shell"),),
        choices=(ALLOW, Choice("why", "Why…", form=form, falls_back="deny"), DENY),
        more=(Choice("edit", "Edit…", form=form), Choice("later", "Later")),
    )

    here = SMALL.fitted(body)

    assert (here.choices, here.more) == ((ALLOW, DENY), (Choice("later", "Later"),))
    assert here.facts == (
        ("Source", "shell"),
        (
            "Not offered here",
            "Why…: 'Which' has 4 options, and 3 fit; Edit…: 'Which' has 4 options, and 3 fit",
        ),
    )


@pytest.mark.parametrize(
    ("long", "short", "said"),
    [
        (20, 10, "long"),
        (21, 20, "short"),
        (21, 21, "long"),
        (40, 0, "long"),
        (41, 40, "short"),
        (41, 41, None),
        (41, 0, None),
    ],
)
def test_what_would_be_stored_is_said_in_the_words_that_fit_best_or_it_is_not_offered(
    long: int, short: int, said: str | None
) -> None:
    always = Choice("always", "Always", stores="l" * long, stores_briefly="s" * short)
    limits = Limits(content=100, reveal=100, dialog=20, stores=40)

    here = limits.fitted(CardBody("a title", choices=(ALLOW, always)))

    kept = [choice.stores for choice in here.choices[1:]]
    words = {"long": always.stores, "short": always.stores_briefly}
    assert kept == ([words[said]] if said else [])
    assert here.facts == (
        ()
        if said
        else (("Not offered here", "Always: what it would store has 41 characters, and 40 fit"),)
    )


def test_beside_other_cards_there_may_be_less_room_for_what_would_be_stored() -> None:
    always = Choice("always", "Always", stores="l" * 30)
    limits = Limits(content=100, reveal=100, stores=40)
    body = CardBody("a title", choices=(ALLOW, always))

    assert len(limits.fitted(body, 30).choices) == 2
    assert limits.fitted(body, 29).choices == (ALLOW,)


def test_the_label_of_what_is_said_in_full_before_it_is_stored_may_be_cut() -> None:
    always = Choice("always-2", "Always: git status", stores="git status")

    here = LABELS.fitted(CardBody("a title", choices=(ALLOW,), more=(always,)))

    assert [choice.label for choice in here.more] == ["Always: git…"]
    assert here.more[0].stores == "git status"


def test_a_platform_counts_as_it_counts() -> None:
    crab = Choice("always", "Always", stores="🦀" * 10)
    utf_16 = Limits(
        content=100, reveal=100, stores=19, measure=lambda text: len(text.encode("utf-16-le")) // 2
    )

    assert utf_16.fitted(CardBody("a title", choices=(ALLOW, crab))).choices == (ALLOW,)


def test_a_form_that_keeps_every_number_may_still_not_fit() -> None:
    odd = Limits(content=100, reveal=100, form_problem=lambda form, _: f"{form.title} is too large")

    assert odd.problem(a_body(options(2))) == "'Fill in…' cannot be asked for: A form is too large"


def test_a_question_of_which_no_choice_is_left_cannot_be_asked() -> None:
    always = Choice("always", "Always", stores="l" * 41)
    limits = Limits(content=100, reveal=100, stores=40)

    assert limits.problem(CardBody("a title", choices=(always,))) == (
        "none of the choices fits: Always: what it would store has 41 characters, and 40 fit"
    )
