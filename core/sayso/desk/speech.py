"""Speech: which table of words is said, by the route that a card stands on and by its place."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.chats.places import Place
from sayso.desk.routes import Routes
from sayso.desk.words import ENGLISH, DeskWords
from sayso.errors import ConfigError
from sayso.events import UserInputRequest

ONLY_ENGLISH: Mapping[str, DeskWords] = {ENGLISH.tag: ENGLISH}
"""The tables of a desk that knows no other language."""


class Speech:
    """Picks tables. They are made once, and none is made for a card.

    Raises:
        ConfigError: a route names a language that there is no table of.
    """

    def __init__(self, routes: Routes, tables: Mapping[str, DeskWords] = ONLY_ENGLISH) -> None:
        if unknown := routes.languages - tables.keys():
            known = ", ".join(sorted(tables))
            raise ConfigError(f"there are no words in {min(unknown)!r}, only in {known}")
        self._routes = routes
        self._tables = tables
        used = routes.languages
        self._only = tables[routes.language] if len(used) == 1 else None

    def of(self, request: UserInputRequest, place: Place) -> DeskWords:
        """What is said of a request in a place."""
        return self._only or self._tables[self._routes.language_of(request, place)]

    def at(self, place: Place, actor: str = "") -> DeskWords:
        """What is said in a place that is about no card, to this actor."""
        return self._only or self._tables[self._routes.language_at(place, actor)]
