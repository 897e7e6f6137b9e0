"""The language of what people read, as it is written in the settings."""

from __future__ import annotations

import pytest
from support.settings_text import BOTH, ROUTE, ROUTE_TO_BOTH, problems, read

from sayso.chats.places import Place

GROUP = Place("telegram", "42")


def test_cards_are_in_english_unless_the_settings_say_otherwise() -> None:
    routes = read(ROUTE).routes

    assert (routes.language, routes.languages) == ("en", frozenset({"en"}))


def test_a_route_names_its_language_and_the_file_that_of_all_others() -> None:
    routes = read(f'language = "de"\n{ROUTE}language = "en"\n{ROUTE}').routes

    assert routes.language == "de"
    assert [route.language for route in routes.routes] == ["en", ""]
    assert routes.languages == {"de", "en"}


def test_one_place_of_a_route_has_a_language_of_its_own() -> None:
    text = f'{ROUTE_TO_BOTH}language = {{ "telegram:42" = "de" }}\n'
    (route,) = read(text, BOTH).routes.routes

    assert route.language_in(GROUP) == "de"
    assert route.language_in(Place("slack", "C0OPS")) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'language = "fr"\n{ROUTE}', "sayso.toml line 1: language 'fr' is not a language"),
        (f'{ROUTE}language = "fr"\n', "route 1.language 'fr' is not a language"),
        (f'{ROUTE}language = "Deutsch"\n', 'write "en" (English) or "de" (Deutsch)'),
        (f"{ROUTE}language = 1\n", 'write "en" (English) or "de" (Deutsch)'),
        (f'{ROUTE}language = {{ "slack:C0OPS" = "fr" }}\n', 'write "en" (English)'),
        (
            f'{ROUTE}language = {{ "slack:C0ELSE" = "de" }}\n',
            'is no place of this route; write "slack:C0OPS"',
        ),
    ],
)
def test_a_language_that_is_not_known_is_told_with_those_that_are(text: str, says: str) -> None:
    (problem,) = problems(text)

    assert says in problem
