"""What can be found out before the first question: store, tokens, places, approvers, webhook."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sayso.chats.places import Place
from sayso.desk.routes import Routes
from sayso.errors import ConfigError, DeliveryError, StoreUnreachableError
from sayso.rules.lint import lint_rules
from sayso.stores.backend import Backend
from sayso_bots.server.kinds import load_kinds
from sayso_bots.server.platforms import Platform, telegram_config
from sayso_bots.settings.routing import approvers_text, route_text
from sayso_bots.settings.settings import PolicySettings, Settings, StoreSettings, TelegramSettings
from sayso_bots.settings.tokens import ApiToken

_AT_ONCE = 8

Level = Literal["ok", "info", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    ``passing`` says of a failure that it may be over by itself.
    """

    level: Level
    subject: str
    text: str
    passing: bool = False


def kind_findings(modules: Sequence[str]) -> Iterator[Finding]:
    """Whether the modules with kinds of question of one's own can be loaded; a line each."""
    for module in modules:
        try:
            load_kinds([module])
        except ConfigError as error:
            yield Finding("failed", "questions", str(error))
        else:
            yield Finding("ok", "questions", f"{module} is loaded")


def policy_findings(policy: PolicySettings) -> Iterator[Finding]:
    """What a person may not expect of the rules; nothing where there are no rules."""
    found = lint_rules(policy.allow, policy.deny)
    for finding in found:
        yield Finding("warning", "policy", str(finding))
    if not found and (policy.allow or policy.deny):
        count = len(policy.allow) + len(policy.deny)
        yield Finding("ok", "policy", f"{count} rule{'s' if count > 1 else ''} without surprises")


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
    """Whether the store answers."""
    if store.is_memory:
        text = f"{store.name} is memory://: only this process is served; `sayso ask` needs Redis"
        return Finding("warning", "store", text)
    try:
        await backend.leases.ping()
    except StoreUnreachableError as error:
        return Finding("failed", "store", store.unreachable(error), passing=True)
    return Finding("ok", "store", f"{store.shown} answers")


async def look_at_platform(platform: Platform) -> Finding:
    """Whether the token is known there, and whose it is."""
    try:
        introduced = await platform.introduce()
        await platform.try_secrets()
        return Finding("ok", platform.name, introduced)
    except DeliveryError as error:
        name = platform.name
        setting = f"{name}.api_url or SAYSO_{name.upper()}_API_URL"
        hint = "" if error.permanent else f"; see the network and {setting}"
        return Finding(
            "failed", platform.name, f"{error.reason}{hint}", passing=not error.permanent
        )


async def look_at_places(
    platforms: Mapping[str, Platform], routes: Routes
) -> Mapping[Place, Finding]:
    """Whether cards can be shown in each place of the routes whose platform answers."""
    places = dict.fromkeys(place for route in routes.routes for place in route.to)
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(place: Place) -> Finding:
        async with room:
            try:
                problem = await platforms[place.platform].can_post(place)
            except DeliveryError as error:
                problem = f"{place}: {error.reason}"
        if problem is None:
            return Finding("ok", "place", f"{place}: cards can be shown there")
        return Finding("failed", "place", problem)

    reachable = [place for place in places if place.platform in platforms]
    return dict(zip(reachable, await asyncio.gather(*map(look, reachable)), strict=True))


async def look_at_groups(platforms: Mapping[str, Platform], routes: Routes) -> Sequence[Finding]:
    """Whether the groups of approvers can be read, and have anybody in them."""
    findings = []
    for group in sorted(routes.groups()):
        platform, _, name = group.partition(":@")
        if platform not in platforms:
            continue
        try:
            members = await platforms[platform].adapter.members(name)
        except DeliveryError as error:
            text = f"{group} cannot be read, nobody in it may approve: {error.reason}"
            findings.append(Finding("failed", "approvers", text))
            continue
        level: Level = "ok" if members else "warning"
        count = "1 member" if len(members) == 1 else f"{len(members)} members"
        findings.append(Finding(level, "approvers", f"{group} has {count}"))
    return findings


def approver_findings(settings: Settings) -> Iterator[Finding]:
    """Who may approve on each route, and where nobody may."""
    for route in settings.routes.routes:
        if who := approvers_text(settings.routes, route):
            yield Finding("ok", "approvers", f"{route_text(route)}: {who}")
    for text in settings.warnings:
        yield Finding("warning", "approvers", text)


async def look_at_webhook(telegram: TelegramSettings) -> Finding:
    """Whether Telegram delivers presses to where they are taken."""
    from sayso_telegram import show_webhook

    try:
        state = await show_webhook(telegram_config(telegram))
    except DeliveryError as error:
        return Finding("failed", "webhook", error.reason, passing=not error.permanent)
    if telegram.mode == "polling":
        if state.url:
            text = f"{state.url} is registered, so polling gets nothing; `sayso webhook delete`"
            return Finding("failed", "webhook", text)
        return Finding("ok", "webhook", "none is registered, as polling needs it")
    if not state.url:
        text = "none is registered; `sayso webhook set https://…/telegram/webhook` does it"
        return Finding("failed", "webhook", text)
    about = f"{state.url}, {state.pending_update_count} updates waiting"
    if not state.updates_fit:
        text = f"{about}; not all needed updates are sent: repeat `sayso webhook set`"
        return Finding("failed", "webhook", text)
    if state.last_error_message:
        return Finding("warning", "webhook", f"{about}; last error: {state.last_error_message}")
    updates = ", ".join(state.allowed_updates) or "the default ones"
    return Finding("ok", "webhook", f"{about}, updates: {updates}")
