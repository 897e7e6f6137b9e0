"""A platform's section of the settings: frozen, without unknown keys, checked by what it says."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import ValidationError

from sayso.platforms import ApiUrl, Section, checked


class PagerSection(Section):
    """A section as a platform from outside has one."""

    api_url: ApiUrl = "https://pager.example/v1"
    number: Annotated[str, checked(r"[0-9]{4}", "write the four digits on its back")] = "0000"


def test_a_key_that_the_section_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        PagerSection.model_validate({"volume": 11})


def test_a_section_is_not_changed_once_it_is_read() -> None:
    section = PagerSection()

    with pytest.raises(ValidationError, match="frozen"):
        section.number = "1111"  # type: ignore[misc]


def test_a_value_that_does_not_match_is_told_what_to_write() -> None:
    with pytest.raises(ValidationError, match="cannot be right; write the four digits on its back"):
        PagerSection(number="11112")


@pytest.mark.parametrize("url", ["http://localhost:8080", "https://pager.example/v1/"])
def test_an_address_of_an_api_begins_with_its_scheme(url: str) -> None:
    assert PagerSection(api_url=url).api_url == url


@pytest.mark.parametrize("url", ["pager.example", "ftp://pager.example", "https://a b", "https://"])
def test_what_is_not_the_address_of_an_api_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="begins with https://"):
        PagerSection(api_url=url)
