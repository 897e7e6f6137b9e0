"""A platform's secrets: how one is told, what is wrong with one, and that none is repeated."""

from __future__ import annotations

import re

import pytest

from sayso.platforms import PlatformSettings, Secret, Section

KEY = Secret(
    "PAGER_KEY",
    "it is on the back of the pager",
    looks=re.compile(r"pgr-[0-9a-f]{8}"),
    form=r"pgr-[0-9a-f]+",
    several=True,
)


def test_a_secret_that_is_not_set_says_where_it_is_found() -> None:
    assert KEY.missing == "PAGER_KEY is not set; it is on the back of the pager"


def test_several_values_stand_between_commas_and_none_of_them_is_empty() -> None:
    assert KEY.values(" pgr-1, pgr-2,, ") == ("pgr-1", "pgr-2")
    assert KEY.values("") == ()


def test_a_secret_of_which_there_is_one_keeps_its_commas() -> None:
    assert Secret("PAGER_PIN", "it is in your letter").values("1,2") == ("1,2",)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("pgr-0badcafe", ""),
        ("0badcafe", "PAGER_KEY does not have the form of such a secret; copy it again"),
        ("pgr-0bad\ncafe", "PAGER_KEY does not have the form of such a secret; copy it again"),
    ],
)
def test_a_value_of_another_form_is_a_problem_that_does_not_quote_it(
    value: str, problem: str
) -> None:
    assert KEY.problem(value) == problem


def test_a_value_of_any_form_holds_no_space() -> None:
    problem = Secret("PAGER_PIN", "it is in your letter").problem("12 34")

    assert problem == "PAGER_PIN holds a space or a line break; copy it again"


def test_what_can_be_nothing_but_the_secret_is_found_in_a_text() -> None:
    assert KEY.is_in("the key is pgr-0badcafe, keep it")
    assert not KEY.is_in("the key is pgr-…")
    assert not Secret("PAGER_PIN", "it is in your letter").is_in("1234")


def test_what_was_read_for_a_platform_hands_out_secrets_and_shows_none() -> None:
    settings = PlatformSettings(Section(), {"PAGER_KEY": "pgr-0badcafe, pgr-1"})

    assert settings.value(KEY) == "pgr-0badcafe"
    assert settings.values(KEY) == ("pgr-0badcafe", "pgr-1")
    assert settings.value(Secret("PAGER_PIN", "it is in your letter")) == ""
    assert "pgr-" not in repr(settings)
