"""What can be found out before the first question: store, tokens, places, approvers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sayso.chats.adapter import Adapter
from sayso.chats.places import Place
from sayso.errors import ConfigError, DeliveryError, StoreUnreachableError
from sayso.platforms.bot import Bot
from sayso.platforms.finding import Finding, Level, NotLooked
from sayso.platforms.platform import Platform
from sayso.stores.backend import Backend
from sayso.worker.routing import Routes, is_group
from sayso_bots.config.api_tokens import ApiToken
from sayso_bots.config.platforms import Configured
from sayso_bots.config.routes import format_approvers, format_route
from sayso_bots.config.settings import Settings
from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.server.kinds import load_kinds

_AT_ONCE = 8
# A platform lets about a hundred people be looked up a minute.
_MOST_LOOKED_UP = 50
_OTHERS = "guests, bots, closed accounts, people from elsewhere"


def kind_findings(modules: Sequence[str]) -> Iterator[Finding]:
    """Whether the modules with kinds of question of one's own can be loaded; a line each."""
    for module in modules:
        try:
            load_kinds([module])
        except ConfigError as error:
            yield Finding("failed", "questions", str(error))
        else:
            yield Finding("ok", "questions", f"{module} is loaded")


def api_findings(settings: Settings) -> Iterator[Finding]:
    """Who may call the hosted API; nothing where it is off, unless that is odd."""
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
    """Whether the store answers, and is what the settings say."""
    if store.is_memory:
        text = f"{store.name} is memory://: only this process is served; `sayso ask` needs Redis"
        return Finding("warning", "store", text)
    try:
        await backend.outbox.count_workers()
    except StoreUnreachableError as error:
        return Finding(
            "failed", "store", store.explain_unreachable(error), passing=not error.is_denied
        )
    return Finding("ok", "store", f"{store.shown} answers")


async def look_into_store(backend: Backend) -> Sequence[Finding]:
    """What is wrong with a store that answers, by trying out all that is needed of it."""
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
    """Whether the token is known there, and whose it is."""
    name = configured.platform.name
    try:
        introduced = await bot.introduce()
        await bot.try_secrets()
        return Finding("ok", name, introduced)
    except DeliveryError as error:
        hint = "" if error.permanent else _network_hint(configured.platform)
        return Finding("failed", name, f"{error.reason}{hint}", passing=not error.permanent)


def _network_hint(platform: Platform[Any]) -> str:
    """What to look at when a platform that is reached by an address of its API is away."""
    if "api_url" not in platform.section.model_fields:
        return ""
    name = platform.name
    return f"; see the network and {name}.api_url or SAYSO_{name.upper()}_API_URL"


async def look_at_places(bots: Mapping[str, Bot], routes: Routes) -> Mapping[Place, Finding]:
    """Whether cards can be shown in each place of the routes whose platform answers."""
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
    """Whether each account that may approve exists where it is needed; a line for each."""
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
    """Whether the groups of approvers can be read, and have anybody in them."""
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
    """How many of the first members of a group do not count in it."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(actor: str) -> bool:
        async with room:
            return await adapter.counts_in_groups(actor)

    looks = await asyncio.gather(*map(look, sorted(members)[:_MOST_LOOKED_UP]))
    return looks.count(False)


def approver_findings(settings: Settings) -> Iterator[Finding]:
    """Who may approve on each route, and where nobody may."""
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
