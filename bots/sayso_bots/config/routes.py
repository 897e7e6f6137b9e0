"""[[route]]: where requests go, who may answer there, and in which language."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any

from pydantic import PlainValidator

from sayso.calling.manners import Calling, Notify
from sayso.chats.places import Place
from sayso.durations import duration_text, parse_duration
from sayso.locales import NAMES
from sayso.platforms.platform import Section
from sayso.text.agents import shown
from sayso.toml_file import KeyPath
from sayso.worker.routing import ENGLISH, Route, Routes, is_group
from sayso_bots.config.people import QuietHours, explain_approver, read_names, read_people
from sayso_bots.config.platforms import Platforms, join_alternatives
from sayso_bots.config.source import Duration, Flag, Source

LANGUAGE = "language"

_MAX_REMINDERS = 5
_MAX_NAMED = 5


def _parse_reminders(written: object) -> tuple[float, ...]:
    after = [parse_duration(one) for one in (written if isinstance(written, list) else [written])]
    if len(after) > _MAX_REMINDERS:
        raise ValueError(f"are too many reminders; write at most {_MAX_REMINDERS}")
    if any(one < timedelta(seconds=10) for one in after):
        raise ValueError("reminds too soon; write at least 10s")
    return tuple(sorted(one.total_seconds() for one in set(after)))


class RouteSection(Section):
    """[[route]], its places and its language not looked at yet."""

    to: tuple[Any, ...]
    approvers: tuple[str, ...] = ()
    agent: str = "*"
    tool: str = "*"
    timeout: Duration | None = None
    self_approval: Flag = False
    notify: Notify = "mention"
    remind: Annotated[tuple[float, ...], PlainValidator(_parse_reminders)] = ()
    quiet: QuietHours | None = None
    language: Any = None


@dataclass(frozen=True, slots=True)
class RouteWarning:
    """Something of a route that is allowed but hardly intended.

    ``nobody`` says that nobody may approve anything that is shown anywhere on the route.
    """

    text: str
    nobody: bool = False


def read_routes(source: Source, platforms: Platforms, configured: Collection[str]) -> Routes:
    """Read people and routes; places belong to one of the configured platforms.

    What is wrong is left out and noted in the source.
    """
    people, reach = read_people(source, platforms)
    routes = []
    for number, written in enumerate(_list_tables(source)):
        approvers = written.get("approvers") if isinstance(written, dict) else None
        for index, approver in enumerate(approvers if isinstance(approvers, list) else ()):
            text = explain_approver(approver, platforms, people)
            if text:
                path = ("route", number, "approvers", index)
                source.add_problem(path, f"{shown(approver)} {text}")
        section = source.read_section(RouteSection, "route", number)
        if section is not None:
            routes.append(_read_route(source, number, section, platforms, configured))
    language = _read_language(source, (LANGUAGE,), source.get((LANGUAGE,), ENGLISH))
    return Routes(tuple(routes), people, platforms.has_account, reach, language)


def read_timeouts(source: Source) -> Routes:
    """Read which request may wait how long: routes without places and approvers, people's names.

    A process that only asks knows no platform, so nothing is said of what is wrong.
    """
    count = len(_list_tables(source))
    sections = (source.read_section(RouteSection, "route", number) for number in range(count))
    routes = [_build_route(section) for section in sections if section is not None]
    return Routes(tuple(routes), read_names(source))


def list_warnings(routes: Routes, platforms: Platforms) -> tuple[RouteWarning, ...]:
    """List what is allowed but hardly intended: places where nobody may approve, unused routes."""
    return tuple(_find_warnings(routes, platforms))


def format_approvers(routes: Routes, route: Route) -> str:
    """Say who may answer on a route; empty when nobody may."""
    named = [
        f"{name} ({', '.join(sorted(routes.people[name]))})" if name in routes.people else name
        for name in route.approvers
    ]
    more = len(named) - _MAX_NAMED
    return ", ".join(named[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def format_route(route: Route) -> str:
    """Say which requests take a route, and where it leads."""
    what = "everything" if route.tool == "*" else f"tool {route.tool}"
    whose = "" if route.agent == "*" else f" of agent {route.agent}"
    return f"{what}{whose} → {_join(route.to)}"


def _list_tables(source: Source) -> list[Any]:
    written = source.get(("route",), [])
    if isinstance(written, list):
        return written
    source.add_problem(("route",), "must be written with two brackets: [[route]]")
    return []


def _read_route(
    source: Source,
    number: int,
    section: RouteSection,
    platforms: Platforms,
    configured: Collection[str],
) -> Route:
    _check_reminders(source, number, section)
    path = ("route", number, "to")
    if not section.to:
        source.add_problem(path, f"names no place; add one such as {platforms.place_example}")
    to = []
    for index, written in enumerate(section.to):
        try:
            place = platforms.place(written)
        except ValueError as error:
            source.add_problem((*path, index), f"{shown(written)} {error}")
            continue
        if place.platform not in configured:
            platform = platforms.by_name[place.platform]
            how = f"add the section [{platform.name}]"
            if platform.secrets:
                how = f"set {platform.secrets[0].variable}"
            source.add_problem(
                (*path, index),
                f"leads to {place}, but {place.platform} is not configured; "
                f"{how} or remove the place",
            )
        to.append(place)
    language, languages = _read_languages(source, number, to)
    return replace(_build_route(section, tuple(to)), language=language, languages=languages)


def _build_route(section: RouteSection, to: tuple[Place, ...] = ()) -> Route:
    return Route(
        to=to,
        approvers=section.approvers,
        agent=section.agent,
        tool=section.tool,
        seconds=None if section.timeout is None else section.timeout.total_seconds(),
        self_approval=section.self_approval,
        calling=Calling(section.notify, section.remind, section.quiet),
    )


def _check_reminders(source: Source, number: int, section: RouteSection) -> None:
    if section.timeout is None or not section.remind:
        return
    last = timedelta(seconds=section.remind[-1])
    if last >= section.timeout:
        ends, late = duration_text(section.timeout), duration_text(last)
        half = duration_text(section.timeout / 2).replace(" ", "")
        source.add_problem(
            ("route", number, "remind"),
            f"reminds after {late}, when a question has expired: its timeout is {ends}; write "
            f'less, such as "{half}", or a longer timeout',
        )


def _read_languages(
    source: Source, number: int, places: Sequence[Place]
) -> tuple[str, tuple[tuple[Place, str], ...]]:
    """Read the language of a route, empty for the default, and those of some of its places."""
    path = ("route", number, LANGUAGE)
    written = source.get(path)
    if written is None:
        return "", ()
    if not isinstance(written, dict):
        return _read_language(source, path, written), ()
    by_name = {str(place): place for place in places}
    for name in written.keys() - by_name.keys():
        known = join_alternatives([f'"{place}"' for place in by_name])
        source.add_problem((*path, name), f"is no place of this route; write {known}")
    return "", tuple(
        (place, _read_language(source, (*path, name), written[name]))
        for name, place in by_name.items()
        if name in written
    )


def _read_language(source: Source, path: KeyPath, written: object) -> str:
    if isinstance(written, str) and written in NAMES:
        return written
    known = join_alternatives([f'"{tag}" ({name})' for tag, name in NAMES.items()])
    source.add_problem(path, f"{shown(written)} is not a language that cards speak; write {known}")
    return ENGLISH


def _find_warnings(routes: Routes, platforms: Platforms) -> Iterator[RouteWarning]:
    caught = 0
    for number, route in enumerate(routes.routes, start=1):
        is_used = not caught
        if caught:
            text = f"route {number} is never used: route {caught} takes everything first"
            yield RouteWarning(text)
        elif route.agent == route.tool == "*":
            caught = number
        if not route.approvers:
            names = dict.fromkeys(place.platform for place in route.to)
            examples = ", ".join(f'"{platforms.by_name[name].account_example}"' for name in names)
            text = (
                f"route {number} has no approvers: NOBODY may approve what is shown in "
                f"{_join(route.to)}; add approvers = [{examples}] or a person"
            )
            yield RouteWarning(text, nobody=is_used)
            continue
        answering = {one.partition(":")[0] for one in routes.actors(route)}
        groups = {one.partition(":")[0] for one in route.approvers if is_group(one)}
        deaf = [place for place in route.to if place.platform not in answering | groups]
        # A caller of the hosted API may approve, wherever a card is shown.
        nobody = is_used and len(deaf) == len(route.to) and "api" not in answering
        for name in dict.fromkeys(place.platform for place in deaf):
            platform = platforms.by_name[name]
            there = [place for place in deaf if place.platform == name]
            text = (
                f"none of the approvers of route {number} has a {platform.title} account, so "
                f"NOBODY may approve in {_join(there)}; add one, such as "
                f"{platform.account_example}"
            )
            yield RouteWarning(text, nobody)


def _join(places: Sequence[Place]) -> str:
    return ", ".join(map(str, places))
