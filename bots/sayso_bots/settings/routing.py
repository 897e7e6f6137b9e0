"""People and routes: who they are, where questions go, and whether anybody may answer there."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sayso.calling.manners import Calling, Reach
from sayso.chats.places import Place
from sayso.desk.routes import Route, Routes, is_group
from sayso.durations import duration_text
from sayso.platforms.platform import Platform
from sayso.text.printable import shown
from sayso_bots.settings.languages import read_language, route_languages
from sayso_bots.settings.loading import Platforms, alternatives
from sayso_bots.settings.sections import ReachSection, RouteSection, person_section
from sayso_bots.settings.source import Source

_MUCH = 5
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_routes(source: Source, platforms: Platforms, configured: Collection[str]) -> Routes:
    """People and routes; places belong to one of the configured platforms.

    What is wrong is left out and noted in the source.
    """
    people, reach = _people(source, platforms)
    routes = []
    for number in range(len(_written(source))):
        _check_approvers(source, number, platforms, people)
        section = source.section(RouteSection, "route", number)
        if section is not None:
            routes.append(_route(source, number, section, platforms, configured))
    language = read_language(source)
    return Routes(tuple(routes), people, platforms.has_account, reach, language)


def read_timeouts(source: Source) -> Routes:
    """Which request may wait how long: routes without places and approvers, and people's names.

    Whoever only asks knows no platform, so nothing is said of what is wrong.
    """
    routes = []
    for number in range(len(_written(source))):
        section = source.section(RouteSection, "route", number)
        if section is not None:
            routes.append(_made(section))
    return Routes(tuple(routes), _accounts_written(source))


def _accounts_written(source: Source) -> Mapping[str, frozenset[str]]:
    """The accounts of people as they were written: good for a name, not to decide on."""
    written = source.written(("people",), {})
    people = written.items() if isinstance(written, dict) else ()
    return {
        name: frozenset(
            f"{platform}:{account}"
            for platform, accounts in person.items()
            if platform not in ReachSection.model_fields
            for account in (accounts if isinstance(accounts, list) else [accounts])
        )
        for name, person in people
        if isinstance(person, dict)
    }


def places_written(source: Source) -> Iterator[str]:
    """The platforms that routes lead to, as they were written."""
    for route in _written(source):
        places = route.get("to") if isinstance(route, dict) else None
        for place in places if isinstance(places, list) else ():
            yield str(place).partition(":")[0]


@dataclass(frozen=True, slots=True)
class RouteWarning:
    """Something of a route that is allowed but hardly intended.

    ``nobody`` says that nobody may approve anything that is shown anywhere on the route.
    """

    text: str
    nobody: bool = False


def route_warnings(routes: Routes, platforms: Platforms) -> tuple[RouteWarning, ...]:
    """What is allowed but hardly intended: places where nobody may approve, routes never used."""
    return tuple(_warnings(routes, platforms))


def approvers_text(routes: Routes, route: Route) -> str:
    """Who may answer on a route, for a person to read; empty when nobody may."""
    named = [
        f"{name} ({', '.join(sorted(routes.people[name]))})" if name in routes.people else name
        for name in route.approvers
    ]
    more = len(named) - _MUCH
    return ", ".join(named[:_MUCH]) + (f" and {more} more" if more > 0 else "")


def route_text(route: Route) -> str:
    """Which requests take a route, and where it leads."""
    what = "everything" if route.tool == "*" else f"tool {route.tool}"
    whose = "" if route.agent == "*" else f" of agent {route.agent}"
    return f"{what}{whose} → {', '.join(map(str, route.to))}"


def _written(source: Source) -> list[Any]:
    written = source.written(("route",), [])
    if isinstance(written, list):
        return written
    source.problem(("route",), "must be written with two brackets: [[route]]")
    return []


def _people(
    source: Source, platforms: Platforms
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, Reach]]:
    """The accounts of people, and when those can be called of whom that is said."""
    written = source.written(("people",), {})
    if not isinstance(written, dict):
        source.problem(("people",), "must be written as [people.NAME]")
        return {}, {}
    model = person_section(platforms)
    people: dict[str, frozenset[str]] = {}
    reach: dict[str, Reach] = {}
    for name in written:
        section = source.section(model, "people", name)
        if section is None:
            people[name] = frozenset()
            continue
        accounts = [of for key, of in section if key not in ReachSection.model_fields]
        people[name] = frozenset().union(*accounts)
        if section.away or section.quiet:
            reach[name] = Reach(section.away, section.quiet)
        _check_person(source, name, people, platforms)
    return people, reach


def _check_person(
    source: Source, name: str, people: Mapping[str, frozenset[str]], platforms: Platforms
) -> None:
    path = ("people", name)
    if not people[name]:
        keys = alternatives([_as_key(platform.account_example) for platform in platforms])
        source.problem(path, f"has no account; add {keys}")
    if ":" in name or "@" in name or not name.strip():
        source.problem(path, "is not a name for a person; use one without : and @")
    for other, accounts in people.items():
        if other != name and (shared := accounts & people[name]):
            # Two people may not be one: whoever asked could approve as the other.
            account = min(shared)
            where = (*path, account.partition(":")[0])
            source.problem(where, f"has the account {account}, and so has {other}; remove one")


def _as_key(account: str) -> str:
    """An account as it stands under a person."""
    platform, _, name = account.partition(":")
    return f"{platform} = {name}" if name.isdecimal() else f'{platform} = "{name}"'


def _route(
    source: Source,
    number: int,
    section: RouteSection,
    platforms: Platforms,
    configured: Collection[str],
) -> Route:
    _check_reminders(source, number, section)
    path = ("route", number, "to")
    if not section.to:
        source.problem(path, f"names no place; add one such as {platforms.place_example}")
    to = []
    for index, written in enumerate(section.to):
        try:
            place = platforms.place(written)
        except ValueError as error:
            source.problem((*path, index), f"{shown(written)} {error}")
            continue
        if place.platform not in configured:
            how = how_to_configure(platforms.by_name[place.platform])
            source.problem(
                (*path, index),
                f"leads to {place}, but {place.platform} is not configured; "
                f"{how} or remove the place",
            )
        to.append(place)
    language, languages = route_languages(source, number, to)
    return replace(_made(section, tuple(to)), language=language, languages=languages)


def _check_reminders(source: Source, number: int, section: RouteSection) -> None:
    if section.timeout is None or not section.remind:
        return
    last = timedelta(seconds=section.remind[-1])
    if last >= section.timeout:
        ends, late = duration_text(section.timeout), duration_text(last)
        half = duration_text(section.timeout / 2).replace(" ", "")
        source.problem(
            ("route", number, "remind"),
            f"reminds after {late}, when a question has expired: its timeout is {ends}; write "
            f'less, such as "{half}", or a longer timeout',
        )


def how_to_configure(platform: Platform[Any]) -> str:
    """What switches a platform on."""
    if platform.secrets:
        return f"set {platform.secrets[0].variable}"
    return f"add the section [{platform.name}]"


def _made(section: RouteSection, to: tuple[Place, ...] = ()) -> Route:
    return Route(
        to=to,
        approvers=section.approvers,
        agent=section.agent,
        tool=section.tool,
        seconds=None if section.timeout is None else section.timeout.total_seconds(),
        self_approval=section.self_approval,
        calling=Calling(section.notify, section.remind, section.quiet),
    )


def _check_approvers(
    source: Source, number: int, platforms: Platforms, people: Mapping[str, frozenset[str]]
) -> None:
    path = ("route", number, "approvers")
    written = source.written(path, [])
    for index, approver in enumerate(written if isinstance(written, list) else ()):
        if isinstance(approver, str) and (text := _wrong_approver(approver, platforms, people)):
            source.problem((*path, index), f"{shown(approver)} {text}")


def _wrong_approver(
    approver: str, platforms: Platforms, people: Mapping[str, frozenset[str]]
) -> str:
    """Why this cannot be an approver; empty when it is a person, an account or a group."""
    if approver in people:
        return ""
    name, colon, account = approver.partition(":")
    if not colon:
        return _wrong_name(approver, platforms, people)
    if name == "api" and not is_group(approver):
        return ""
    try:
        platform = platforms.named(name, also=("api",))
        if is_group(approver):
            platform.check_group(account.removeprefix("@"))
        else:
            platform.account(account)
    except ValueError as error:
        return str(error)
    return ""


def _wrong_name(name: str, platforms: Platforms, people: Mapping[str, frozenset[str]]) -> str:
    if name.startswith("@"):
        groups = [
            f"a {platform.title} user group is written {platform.name}:{name}"
            for platform in platforms
            if platform.has_groups
        ]
        return "; ".join(("is not an approver", *groups))
    if near := difflib.get_close_matches(name, people, n=1, cutoff=0.6):
        return f"is not in [people]; did you mean {near[0]}?"
    person = name.partition("@")[0].strip()
    if "@" in name and person in people:
        return f'is not in [people]; write "{person}"'
    key = person if _BARE.fullmatch(person) else json.dumps(person)
    here = f"write {json.dumps(person)} here and add" if person != name else "add"
    return (
        f"is not in [people]; {here} [people.{key}] with {_as_key(platforms.account_example)}, "
        f"or name an account such as {platforms.account_example}"
    )


def _warnings(routes: Routes, platforms: Platforms) -> Iterator[RouteWarning]:
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
                f"{_places(route.to)}; add approvers = [{examples}] or a person"
            )
            yield RouteWarning(text, nobody=is_used)
            continue
        deaf = [place for place in route.to if not _can_answer(routes, route, place)]
        nobody = is_used and len(deaf) == len(route.to) and not _has_api(routes, route)
        for name in dict.fromkeys(place.platform for place in deaf):
            platform = platforms.by_name[name]
            there = [place for place in deaf if place.platform == name]
            text = (
                f"none of the approvers of route {number} has a {platform.title} account, so "
                f"NOBODY may approve in {_places(there)}; add one, such as "
                f"{platform.account_example}"
            )
            yield RouteWarning(text, nobody)


def _has_api(routes: Routes, route: Route) -> bool:
    """Whether a caller of the hosted API may approve, wherever a card is shown."""
    return any(account.partition(":")[0] == "api" for account in routes.actors(route))


def _can_answer(routes: Routes, route: Route, place: Place) -> bool:
    accounts = (*routes.actors(route), *filter(is_group, route.approvers))
    return any(account.partition(":")[0] == place.platform for account in accounts)


def _places(places: tuple[Place, ...] | list[Place]) -> str:
    return ", ".join(map(str, places))
