"""Languages of what people read, as they may be written: for all, for a route, for its places."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.chats.places import Place
from sayso.desk.routes import ENGLISH
from sayso.languages import NAMES
from sayso.text.printable import shown
from sayso.written.lines import KeyPath
from sayso_bots.settings.loading import alternatives
from sayso_bots.settings.source import Source

LANGUAGE = "language"


def read_language(source: Source) -> str:
    """What is said where no route says another."""
    return _known(source, (LANGUAGE,), source.written((LANGUAGE,), ENGLISH))


def route_languages(
    source: Source, number: int, places: Sequence[Place]
) -> tuple[str, tuple[tuple[Place, str], ...]]:
    """The language of a route, empty for the default, and those of some of its places."""
    path = ("route", number, LANGUAGE)
    written = source.written(path)
    if written is None:
        return "", ()
    if not isinstance(written, dict):
        return _known(source, path, written), ()
    by_name = {str(place): place for place in places}
    for name in written.keys() - by_name.keys():
        known = alternatives([f'"{place}"' for place in by_name])
        source.problem((*path, name), f"is no place of this route; write {known}")
    own = [name for name in by_name if name in written]
    return "", tuple((by_name[name], _known(source, (*path, name), written[name])) for name in own)


def _known(source: Source, path: KeyPath, written: object) -> str:
    if isinstance(written, str) and written in NAMES:
        return written
    known = alternatives([f'"{tag}" ({name})' for tag, name in NAMES.items()])
    source.problem(path, f"{shown(written)} is not a language that cards speak; write {known}")
    return ENGLISH
