"""Which translations are said, by the route that a card stands on and by its place."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from sayso.chats.places import Place
from sayso.desk.routes import Routes
from sayso.errors import ConfigError
from sayso.events import UserInputRequest
from sayso.locales import NAMES, load_translations


class Speech:
    """Picks translations. They are loaded once, and none for a card.

    Raises:
        ConfigError: a route names a language that there is no translation into.
    """

    def __init__(
        self, routes: Routes, translations: Mapping[str, NullTranslations] | None = None
    ) -> None:
        known = translations or {tag: load_translations(tag) for tag in NAMES}
        used = routes.languages
        if unknown := used - known.keys():
            tags = ", ".join(sorted(known))
            raise ConfigError(f"there is no translation into {min(unknown)!r}, only into {tags}")
        self._routes = routes
        self._known = known
        self._only = known[routes.language] if len(used) == 1 else None

    def of(self, request: UserInputRequest, place: Place) -> NullTranslations:
        """What is said of a request in a place."""
        return self._only or self._known[self._routes.language_of(request, place)]

    def at(self, place: Place, actor: str = "") -> NullTranslations:
        """What is said in a place that is about no card, to this actor."""
        return self._only or self._known[self._routes.language_at(place, actor)]
