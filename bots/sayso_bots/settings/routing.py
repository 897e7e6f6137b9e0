"""People and routes: who they are, where questions go, and whether anybody may answer there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from sayso.chats.places import Place
from sayso.desk.routes import Route, Routes, is_group
from sayso_bots.settings.credentials import shown
from sayso_bots.settings.sections import PersonSection, RouteSection, parse_actor
from sayso_bots.settings.source import Source
from sayso_bots.settings.toml_lines import KeyPath

_TOKENS = {"slack": "SLACK_BOT_TOKEN", "telegram": "TELEGRAM_BOT_TOKEN"}
_MUCH = 5


def read_routes(source: Source, configured: frozenset[str]) -> Routes:
    """People and routes; places belong to one of the configured platforms.

    What is wrong is left out and noted in the source.
    """
    people = _people(source)
    written = source.written(("route",), [])
    if not isinstance(written, list):
        source.problem(("route",), "must be written with two brackets: [[route]]")
        written = []
    routes = []
    for number in range(len(written)):
        _check_approvers(source, number, people)
        section = source.section(RouteSection, "route", number)
        if section is not None:
            routes.append(_route(source, number, section, configured))
    return Routes(tuple(routes), people)


def route_warnings(routes: Routes) -> tuple[str, ...]:
    """What is allowed but surely not meant: places where nobody may approve, routes never used."""
    return tuple(_warnings(routes))


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


def _people(source: Source) -> Mapping[str, frozenset[str]]:
    written = source.written(("people",), {})
    if not isinstance(written, dict):
        source.problem(("people",), "must be written as [people.NAME]")
        return {}
    people: dict[str, frozenset[str]] = {}
    for name in written:
        section = source.section(PersonSection, "people", name)
        if section is None:
            people[name] = frozenset()
            continue
        people[name] = frozenset((*section.slack, *section.telegram))
        _check_person(source, name, people)
    return people


def _check_person(source: Source, name: str, people: Mapping[str, frozenset[str]]) -> None:
    path = ("people", name)
    if not people[name]:
        source.problem(path, 'has no account; add slack = "U0ALICE" or telegram = 4242')
    if ":" in name or "@" in name or not name.strip():
        source.problem(path, "is not a name for a person; use one without : and @")
    for other, accounts in people.items():
        if other != name and (shared := accounts & people[name]):
            source.problem(path, f"has the account {min(shared)}, and so has {other}; remove one")


def _route(
    source: Source,
    number: int,
    section: RouteSection,
    configured: frozenset[str],
) -> Route:
    if not section.to:
        source.problem(("route", number, "to"), "names no place; add one such as slack:C0123ABCD")
    for index, place in enumerate(section.to):
        if place.platform not in configured:
            source.problem(
                ("route", number, "to", index),
                f"leads to {place}, but {place.platform} is not configured; "
                f"set {_TOKENS[place.platform]} or remove the place",
            )
    return Route(
        to=section.to,
        approvers=section.approvers,
        agent=section.agent,
        tool=section.tool,
        seconds=None if section.timeout is None else section.timeout.total_seconds(),
    )


def _check_approvers(source: Source, number: int, people: Mapping[str, frozenset[str]]) -> None:
    path = ("route", number, "approvers")
    written = source.written(path, [])
    for index, approver in enumerate(written if isinstance(written, list) else ()):
        if isinstance(approver, str) and (text := _wrong_approver(approver, people)):
            source.problem((*path, index), f"{shown(approver)} {text}")


def _wrong_approver(approver: str, people: Mapping[str, frozenset[str]]) -> str:
    """Why an approver is none; empty when it is a person, an actor or a Slack group."""
    if approver in people:
        return ""
    platform, colon, name = approver.partition(":")
    if not colon:
        return _wrong_name(approver, people)
    if is_group(approver):
        if platform == "slack" and len(name) > 1:
            return ""
        return (
            "cannot approve: only Slack has groups of approvers, and usernames can change hands; "
            "write telegram: and the numeric user id"
        )
    try:
        parse_actor(approver)
    except ValueError as error:
        return str(error)
    return ""


def _wrong_name(name: str, people: Mapping[str, frozenset[str]]) -> str:
    if name.startswith("@"):
        return f"is not an approver; a Slack user group is written slack:{name}"
    if near := difflib.get_close_matches(name, people, n=1, cutoff=0.6):
        return f"is nobody in [people]; did you mean {near[0]}?"
    return f"is nobody in [people]; add [people.{name}], or name an account such as slack:U0ALICE"


def _warnings(routes: Routes) -> Iterator[str]:
    caught: KeyPath | None = None
    for number, route in enumerate(routes.routes):
        if caught is not None:
            yield f"route.{number} is never used: {caught[0]}.{caught[1]} takes everything first"
        elif route.agent == route.tool == "*":
            caught = ("route", number)
        if not route.approvers:
            yield (
                f"route.{number} has no approvers: NOBODY may approve what is shown in "
                f'{_places(route.to)}; add approvers = ["slack:U0ALICE"] or a person'
            )
            continue
        deaf = [place for place in route.to if not _can_answer(routes, route, place)]
        if deaf:
            yield (
                f"route.{number}: none of its approvers has an account where {_places(deaf)} is: "
                "NOBODY may approve there"
            )


def _can_answer(routes: Routes, route: Route, place: Place) -> bool:
    accounts = (*routes.actors(route), *filter(is_group, route.approvers))
    return any(account.partition(":")[0] == place.platform for account in accounts)


def _places(places: tuple[Place, ...] | list[Place]) -> str:
    return ", ".join(map(str, places))
