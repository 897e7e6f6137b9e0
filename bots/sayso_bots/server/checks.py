"""Findings before the first question: policy, kinds, store, tokens, places, approvers."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.errors import ConfigError, DeliveryError, StoreUnreachableError
from sayso.platforms.bot import Bot, Finding, Level, NotLooked
from sayso.platforms.platform import Platform
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.lint import lint_rules
from sayso.stores.backend import Backend
from sayso.text.agents import printable
from sayso.text.secrets import holds_secret
from sayso.worker.routing import Routes, is_group
from sayso_bots.config.api_tokens import ApiToken
from sayso_bots.config.platforms import FIX, PASTED, UNLOADABLE, Configured, describe_error
from sayso_bots.config.routes import format_approvers, format_route
from sayso_bots.config.settings import Settings
from sayso_bots.config.store_settings import StoreSettings

_AT_ONCE = 8
# A platform lets about a hundred people be looked up a minute.
_MOST_LOOKED_UP = 50
_OTHERS = "guests, bots, closed accounts, people from elsewhere"


def kind_findings(modules: Sequence[str]) -> Iterator[Finding]:
    """Load the modules with kinds of question of one's own; a line each."""
    for module in modules:
        try:
            load_kinds([module])
        except ConfigError as error:
            yield Finding("failed", "questions", str(error))
        else:
            yield Finding("ok", "questions", f"{module} is loaded")


def api_findings(settings: Settings) -> Iterator[Finding]:
    """Yield who may call the hosted API; nothing where it is off, unless that is odd."""
    for text in settings.api_warnings:
        yield Finding("warning", "api", text)
    if settings.api is None:
        return
    by_name: dict[str, list[ApiToken]] = {}
    for token in settings.api.tokens:
        by_name.setdefault(token.name, []).append(token)
    for name, tokens in by_name.items():
        count = "" if len(tokens) == 1 else f" ({len(tokens)} tokens)"
        yield Finding("ok", "api", f"{name}{count} speaks for {', '.join(tokens[0].agents)}")


async def look_at_store(backend: Backend, store: StoreSettings) -> Finding:
    """Look whether the store answers, and is what the settings say."""
    if store.is_memory:
        text = f"{store.name} is memory://: only this process is served; `sayso ask` needs Redis"
        return Finding("warning", "store", text)
    try:
        await backend.ping()
    except StoreUnreachableError as error:
        return Finding(
            "failed", "store", store.explain_unreachable(error), passing=not error.is_denied
        )
    return Finding("ok", "store", f"{store.shown} answers")


async def look_into_store(backend: Backend) -> Sequence[Finding]:
    """Look into a store that answers, by trying out all that is needed of it."""
    try:
        ailments = await backend.diagnose()
    except StoreUnreachableError as error:
        return [Finding("failed", "store", str(error), passing=True)]
    return [
        Finding(
            "failed" if one.is_serious else "warning",
            "store",
            one.text,
            passing=not one.is_denied,
        )
        for one in ailments
    ]


async def look_at_platform(configured: Configured, bot: Bot) -> Finding:
    """Look whether the token is known there, and whose it is."""
    name = configured.platform.name
    try:
        introduced = await bot.introduce()
        await bot.try_secrets()
        return Finding("ok", name, introduced)
    except DeliveryError as error:
        hint = "" if error.permanent else _network_hint(configured.platform)
        return Finding("failed", name, f"{error.reason}{hint}", passing=not error.permanent)


def _network_hint(platform: Platform[Any]) -> str:
    """Return what to look at when a platform that is reached by an address of its API is away."""
    if "api_url" not in platform.section.model_fields:
        return ""
    name = platform.name
    return f"; see the network and {name}.api_url or SAYSO_{name.upper()}_API_URL"


async def look_at_places(bots: Mapping[str, Bot], routes: Routes) -> Mapping[Place, Finding]:
    """Look whether cards can be shown in each place of the routes whose platform answers."""
    places = dict.fromkeys(place for route in routes.routes for place in route.to)
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(place: Place) -> Finding:
        async with room:
            try:
                problem = await bots[place.platform].can_post(place)
            except DeliveryError as error:
                problem = NotLooked(error.reason)
        if isinstance(problem, NotLooked):
            text = f"{place} — whether cards can be shown there is not known: {problem.why}"
            return Finding("info", "place", text)
        if problem is None:
            return Finding("ok", "place", f"{place} — cards can be shown there")
        return Finding("failed", "place", problem)

    reachable = [place for place in places if place.platform in bots]
    return dict(zip(reachable, await asyncio.gather(*map(look, reachable)), strict=True))


async def look_at_accounts(bots: Mapping[str, Bot], routes: Routes) -> Sequence[Finding]:
    """Look whether each account that may approve exists where it is needed; a line for each."""
    wanted: dict[str, set[Place]] = {}
    for route in routes.routes:
        for account in routes.actors(route):
            platform = account.partition(":")[0]
            if platform in bots and not is_group(account):
                there = {place for place in route.to if place.platform == platform}
                wanted.setdefault(account, set()).update(there)
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(account: str) -> Finding:
        name = routes.name(account)
        who = f"{account} ({name})" if name else account
        async with room:
            try:
                problem = await bots[account.partition(":")[0]].can_approve(
                    account, sorted(wanted[account], key=str)
                )
            except DeliveryError as error:
                problem = NotLooked(error.reason)
        if isinstance(problem, NotLooked):
            text = f"{who}: whether this account can answer is not known: {problem.why}"
            return Finding("info", "approvers", text)
        if problem is None:
            return Finding("ok", "approvers", f"{who} can answer")
        return Finding("failed", "approvers", f"{who} cannot answer: {problem}")

    return await asyncio.gather(*map(look, sorted(wanted)))


async def look_at_groups(bots: Mapping[str, Bot], routes: Routes) -> Sequence[Finding]:
    """Look whether the groups of approvers can be read, and have anybody in them."""
    findings = []
    for group in sorted(routes.groups()):
        platform, _, name = group.partition(":@")
        if platform not in bots:
            continue
        adapter = bots[platform].adapter
        try:
            members = await adapter.members(name)
        except DeliveryError as error:
            text = f"{group} cannot be read, nobody in it may approve: {error.reason}"
            findings.append(Finding("failed", "approvers", text))
            continue
        try:
            others = await _not_counting(adapter, members)
        except DeliveryError as error:
            text = f"who is in {group} cannot be looked up, nobody in it may approve"
            unsaid: Level = "failed" if error.permanent else "info"
            findings.append(Finding(unsaid, "approvers", f"{text}: {error.reason}"))
            continue
        level: Level = "ok" if len(members) > others else "warning"
        text = f"{group} has {'1 member' if len(members) == 1 else f'{len(members)} members'}"
        if others:
            text += f"; {others} of them may not answer unless named: {_OTHERS}"
        findings.append(Finding(level, "approvers", text))
    return findings


async def _not_counting(adapter: Adapter, members: Collection[str]) -> int:
    """Count those of the first members of a group that do not count in it."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(actor: str) -> bool:
        async with room:
            return await adapter.counts_in_groups(actor)

    looks = await asyncio.gather(*map(look, sorted(members)[:_MOST_LOOKED_UP]))
    return looks.count(False)


def approver_findings(settings: Settings) -> Iterator[Finding]:
    """Yield who may approve on each route, and where nobody may."""
    for route in settings.routes.routes:
        if who := format_approvers(settings.routes, route):
            own = "; they may approve what they asked for" if route.self_approval else ""
            yield Finding("info", "routes", f"{format_route(route)}: {who}{own}")
    for warning in settings.warnings:
        yield Finding("failed" if warning.nobody else "warning", "approvers", warning.text)


def unrouted_findings(settings: Settings) -> Iterator[Finding]:
    """Platforms that have their secrets but no route."""
    for name, text in settings.unrouted.items():
        yield Finding("info", name, text)


def load_kinds(modules: Sequence[str]) -> None:
    """Import the modules, so that the requests and responses they define can be read.

    Raises:
        ConfigError: one cannot be imported; the message names it and the fix.
    """
    for module in modules:
        if holds_secret(module):
            raise ConfigError(f"questions.types {PASTED}")
        try:
            importlib.import_module(module)
        except UNLOADABLE as error:
            # Nothing is chained: what the error says may hold a secret.
            told = f"cannot be imported ({describe_error(error)}); {FIX}"
            raise ConfigError(f"questions.types: {printable(module)} {told}") from None


_SIGN = re.compile(r"[*?\[]")


def policy_findings(policies: ServerPolicy) -> Iterator[Finding]:
    """A line for each doubtful rule or section; nothing where there are no rules."""
    sections = policies.sections
    found = [
        f"{section.called}: {text}" if section.called else text
        for number, section in enumerate(sections)
        for text in _of_section(section, sections[:number])
    ]
    for text in found:
        yield Finding("warning", "policy", text)
    count = sum(len(one.allow) + len(one.allow_once) + len(one.deny) for one in sections)
    if count and not found:
        yield Finding("ok", "policy", f"{count} rule{'s' if count > 1 else ''} without surprises")


def _of_section(section: Section, before: Sequence[Section]) -> Iterator[str]:
    for other in before:
        if _covers(other.agent, section.agent) and _covers(other.tool, section.tool):
            yield (
                f"is about no call ({section.place}): {other.called} ({other.place}) comes first "
                "and is about all of them; put the narrower one first"
            )
            return
    allow, deny, once = (
        [one.rule for one in rules] for rules in (section.allow, section.deny, section.allow_once)
    )
    if section.looking and section.agent == "*":
        yield (
            f"takes the names of tools as every agent uses them ({section.place}): give the preset "
            'to agents whose tools you know, with agent = "…"'
        )
    yield from map(str, lint_rules(allow, deny, once))
    yield from _never(section, before)


def _never(section: Section, before: Sequence[Section]) -> Iterator[str]:
    """Rules about tools whose calls never come to the section."""
    kinds = {"allow rule": section.allow, "allow-once rule": section.allow_once}
    for kind, rules in {**kinds, "deny rule": section.deny}.items():
        for number, one in enumerate(rules, 1):
            named = f"{kind} {number} ({one.place}) never matches"
            for tool in one.rule.tools:
                if why := _never_comes(tool, section, before):
                    yield f"{named}: {why}"


def _never_comes(tool: str, section: Section, before: Sequence[Section]) -> str:
    """Why no call of the tool comes to the section; empty where one may."""
    if not fnmatchcase(tool, section.tool):
        return f"the section is about tools such as {section.tool!r}, not {tool!r}"
    for other in before:
        if _covers(other.agent, section.agent) and fnmatchcase(tool, other.tool):
            return f"{other.called} ({other.place}) comes first for {tool!r}"
    return ""


def _covers(wide: str, narrow: str) -> bool:
    """Return whether it is certain that one pattern takes all that the other one takes."""
    if wide in (narrow, "*"):
        return True
    if not _SIGN.search(narrow):
        return fnmatchcase(narrow, wide)
    beginning, star, more = wide.partition("*")
    is_prefix = bool(star) and not more and not _SIGN.search(beginning)
    return is_prefix and narrow.startswith(beginning)
