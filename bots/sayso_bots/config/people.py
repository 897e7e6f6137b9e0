"""[people.NAME]: their accounts, when they can be called, and who may be an approver."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import time
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator, PlainValidator, create_model

from sayso.calling.hours import Quiet
from sayso.calling.manners import Reach
from sayso.platforms.platform import Platform, Section
from sayso.text.agents import shown
from sayso.worker.routing import is_group
from sayso_bots.config.api_tokens import TOKEN_NAME
from sayso_bots.config.platforms import Platforms, join_alternatives
from sayso_bots.config.source import Flag, Source

_TIME = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_EXAMPLE = '{ from = "22:00", to = "07:00", zone = "Europe/Berlin" }'
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _parse_quiet_hours(written: object) -> Quiet:
    if not isinstance(written, dict) or written.keys() != {"from", "to", "zone"}:
        raise ValueError(f"is not quiet hours; write {_EXAMPLE}")
    begins, ends = _parse_time(written["from"]), _parse_time(written["to"])
    try:
        return Quiet(begins, ends, ZoneInfo(str(written["zone"])))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if begins == ends:
            raise ValueError(
                'would be quiet for ever; notify = "none" without remind calls nobody'
            ) from error
        raise ValueError(
            f"names a zone that is not known here, {shown(str(written['zone']))}; "
            "write one such as Europe/Berlin, or UTC"
        ) from None


def _parse_time(written: object) -> time:
    if isinstance(written, time):
        return written.replace(second=0, microsecond=0)
    if not isinstance(written, str) or not _TIME.fullmatch(written):
        raise ValueError(f"has a time that is none; write {_EXAMPLE}")
    return time.fromisoformat(written)


QuietHours = Annotated[Quiet, PlainValidator(_parse_quiet_hours)]


class ReachSection(Section):
    """[people.NAME]: the hours in which a person can be called."""

    away: Flag = False
    quiet: QuietHours | None = None


def build_person_section(platforms: Iterable[Platform[Any]]) -> type[ReachSection]:
    """Return the model of [people.NAME]: a key for each platform, and one for API tokens."""
    fields: dict[str, Any] = {
        platform.name: (_accept_accounts(platform.name, platform.account), ())
        for platform in platforms
    }
    fields["api"] = (_accept_accounts("api", _check_token_name), ())
    return create_model("PersonSection", __base__=ReachSection, **fields)


def _check_token_name(written: object) -> str:
    if not isinstance(written, str) or not TOKEN_NAME.fullmatch(written):
        raise ValueError("is not the name of an [[api.token]]")
    return written


def _accept_accounts(platform: str, check: Callable[[object], str]) -> Any:
    one = Annotated[str, PlainValidator(lambda written: f"{platform}:{check(written)}")]
    return Annotated[tuple[one, ...], BeforeValidator(_as_list)]


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def read_people(
    source: Source, platforms: Platforms
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, Reach]]:
    """Read the accounts of people, and when those can be called of whom that is said."""
    written = source.get(("people",), {})
    if not isinstance(written, dict):
        source.add_problem(("people",), "must be written as [people.NAME]")
        return {}, {}
    model = build_person_section(platforms)
    people: dict[str, frozenset[str]] = {}
    reach: dict[str, Reach] = {}
    for name in written:
        section = source.read_section(model, "people", name)
        if section is None:
            people[name] = frozenset()
            continue
        accounts = [of for key, of in section if key not in ReachSection.model_fields]
        people[name] = frozenset().union(*accounts)
        if section.away or section.quiet:
            reach[name] = Reach(section.away, section.quiet)
        _check_person(source, name, people, platforms)
    return people, reach


def read_names(source: Source) -> Mapping[str, frozenset[str]]:
    """Read the accounts of people as they were written: good for a name, not to decide on."""
    written = source.get(("people",), {})
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


def explain_approver(
    approver: object, platforms: Platforms, people: Mapping[str, frozenset[str]]
) -> str:
    """Say why this cannot be an approver; empty when it is a person, an account or a group."""
    if not isinstance(approver, str) or approver in people:
        return ""  # the section says what is no text
    name, colon, account = approver.partition(":")
    if not colon:
        return _explain_name(approver, platforms, people)
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


def _check_person(
    source: Source, name: str, people: Mapping[str, frozenset[str]], platforms: Platforms
) -> None:
    path = ("people", name)
    if not people[name]:
        keys = join_alternatives([_format_key(platform.account_example) for platform in platforms])
        source.add_problem(path, f"has no account; add {keys}")
    if ":" in name or "@" in name or not name.strip():
        source.add_problem(path, "is not a name for a person; use one without : and @")
    for other, accounts in people.items():
        if other != name and (shared := accounts & people[name]):
            # Two people may not be one: whoever asked could approve as the other.
            account = min(shared)
            where = (*path, account.partition(":")[0])
            source.add_problem(where, f"has the account {account}, and so has {other}; remove one")


def _format_key(account: str) -> str:
    """Write an account as it stands under a person."""
    platform, _, name = account.partition(":")
    return f"{platform} = {name}" if name.isdecimal() else f'{platform} = "{name}"'


def _explain_name(name: str, platforms: Platforms, people: Mapping[str, frozenset[str]]) -> str:
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
        f"is not in [people]; {here} [people.{key}] with {_format_key(platforms.account_example)}, "
        f"or name an account such as {platforms.account_example}"
    )
