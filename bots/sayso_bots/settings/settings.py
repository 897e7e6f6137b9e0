"""The settings: read once, from ``sayso.toml`` and the environment, into one frozen object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from sayso.always.terms import Terms
from sayso.desk.routes import Routes
from sayso.errors import ConfigError, StoreUnreachableError
from sayso.policy.rule_policy import RulePolicy
from sayso.questions.refusals import Refusals
from sayso.rules.rule import Rule, Scope
from sayso.stores.connect import STORES
from sayso.text.secrets import has_login, without_login
from sayso_bots.settings.api import api_warnings, check_api_approvers, read_api
from sayso_bots.settings.credentials import (
    SLACK_APP_TOKEN,
    SLACK_BOT_TOKEN,
    SLACK_SIGNING_SECRET,
    TELEGRAM_BOT_TOKEN,
    TELEGRAM_WEBHOOK_SECRET,
    secret_values,
    wrong_secret,
)
from sayso_bots.settings.routing import read_routes, route_warnings
from sayso_bots.settings.sections import (
    PolicySection,
    QuestionsSection,
    RuleSection,
    ServerSection,
    SlackSection,
    StoreSection,
    TelegramSection,
)
from sayso_bots.settings.source import Source, read_source, unknown
from sayso_bots.settings.tokens import ApiSettings

SECTIONS = ("store", "server", "slack", "telegram", "people", "route", "questions", "policy", "api")
PLATFORMS = ("slack", "telegram")


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """One Slack app in one workspace."""

    mode: Literal["http", "socket"]
    api_url: str
    team_id: str | None
    app_id: str | None
    bot_token: str = field(repr=False)
    signing_secrets: tuple[str, ...] = field(repr=False)
    app_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class TelegramSettings:
    """One Telegram bot."""

    mode: Literal["webhook", "polling"]
    api_url: str
    bot_token: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where requests are kept; ``name`` is the setting that said so."""

    url: str = field(repr=False)
    name: str = "store.url"

    @property
    def shown(self) -> str:
        """The address without its password."""
        return without_login(self.url)

    def unreachable(self, error: StoreUnreachableError) -> str:
        """What to say when it does not answer: the setting, what happened, and the fix."""
        return f"{self.name}: {str(error).rstrip('.')}; start it there, or correct {self.name}"

    @property
    def is_memory(self) -> bool:
        """Whether it serves this process only."""
        return self.url.startswith("memory://")


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Which calls need a person, and on which terms Always is remembered."""

    default: Literal["ask", "allow"] = "ask"
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    terms: Terms = field(default_factory=Terms)

    @property
    def remember_for(self) -> timedelta:
        """How long Always is remembered."""
        return self.terms.remember_for

    def policy(self) -> RulePolicy:
        """The policy these settings describe."""
        return RulePolicy(default=self.default, allow=self.allow, deny=self.deny)


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """How a no is given, and the modules with kinds of question of one's own.

    Calls of one run that are asked about within ``together`` of the first of
    them share a card; zero is a card for each.
    """

    refusals: Refusals = field(default_factory=Refusals)
    types: tuple[str, ...] = ()
    together: timedelta = timedelta(milliseconds=200)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that ``sayso serve`` needs to know. Its repr holds no secret."""

    source: str
    store: StoreSettings
    host: str
    port: int
    slack: SlackSettings | None
    telegram: TelegramSettings | None
    routes: Routes
    policy: PolicySettings
    questions: QuestionSettings = field(default_factory=QuestionSettings)
    warnings: tuple[str, ...] = ()
    api: ApiSettings | None = None
    api_warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What a machine that only asks needs: no tokens, no people."""

    store: StoreSettings
    policy: PolicySettings
    routes: Routes


def read_settings(config: str | None, env: Mapping[str, str]) -> Settings:
    """All settings.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    return settings_of(read_source(config, env))


def settings_of(source: Source) -> Settings:
    """All settings in a source that was read already.

    Raises:
        SettingsError: something is wrong; a line for each problem.
    """
    for name in source.sections - set(SECTIONS):
        source.problem((name,), unknown(name, SECTIONS))
    store = _store(source, None)
    server = source.section(ServerSection, "server") or ServerSection()
    slack, telegram = _slack(source), _telegram(source)
    configured = frozenset(name for name in PLATFORMS if _is_configured(source, name))
    if not configured:
        source.problems.append(("slack", _NO_PLATFORM))
    routes = read_routes(source, configured)
    if not routes.routes and "route" not in {section for section, _ in source.problems}:
        source.problems.append(("route", _no_route(source)))
    policy, questions = _policy(source), _questions(source)
    api = read_api(source)
    check_api_approvers(source, routes, api)
    source.check()
    return Settings(
        source=source.name if source.sections else "the environment",
        store=store,
        host=server.host,
        port=server.port,
        slack=slack,
        telegram=telegram,
        routes=routes,
        policy=policy,
        questions=questions,
        warnings=route_warnings(routes),
        api=api,
        api_warnings=api_warnings(source, api),
    )


def read_ask_settings(
    config: str | None, env: Mapping[str, str], *, store_url: str | None = None
) -> AskSettings:
    """The store, the policy and the routes' timeouts; mistakes elsewhere do not matter here.

    Raises:
        SettingsError: the store or the policy is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store, policy = _store(source, store_url), _policy(source)
    routes = read_routes(source, frozenset(PLATFORMS))
    source.check("store", "policy")
    return AskSettings(store, policy, routes)


def read_store(config: str | None, env: Mapping[str, str], store_url: str | None) -> StoreSettings:
    """The store alone.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store = _store(source, store_url)
    source.check("store")
    return store


def read_telegram(config: str | None, env: Mapping[str, str]) -> TelegramSettings:
    """The Telegram bot alone, which need not be mentioned in the file.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    telegram = _telegram(source, needed=True)
    source.check("telegram")
    if telegram is None:
        raise TypeError("without problems there are settings")
    return telegram


_NO_PLATFORM = (
    "no platform is configured; set SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET for Slack, "
    "TELEGRAM_BOT_TOKEN and TELEGRAM_WEBHOOK_SECRET for Telegram, or both"
)


def _no_route(source: Source) -> str:
    if not source.sections:
        return f"there is no {source.name} with a [[route]] here; name the file with --config"
    return (
        f"{source.name} has no [[route]], so nothing could be shown anywhere; add one such as "
        '[[route]] to = ["slack:C0123ABCD"] approvers = ["slack:U0ALICE"]'
    )


def _is_configured(source: Source, platform: str) -> bool:
    return platform in source.sections or bool(source.value(f"{platform.upper()}_BOT_TOKEN"))


def _store(source: Source, from_argument: str | None) -> StoreSettings:
    if from_argument:
        store = StoreSettings(from_argument, "--store")
    else:
        section = source.section(StoreSection, "store") or StoreSection()
        is_written = source.written(("store", "url")) is not None
        default = "store.url" if is_written else "SAYSO_STORE_URL"
        name = source.overridden.get(("store", "url"), default)
        store = StoreSettings(section.url, name)
        if name == "store.url" and has_login(store.url):
            source.problem(
                ("store", "url"),
                "holds a password, which must not stand in a file; "
                "set the whole address in SAYSO_STORE_URL",
            )
    if store.url.partition("://")[0] not in STORES or "://" not in store.url:
        where = source.place(("store", "url")) if store.name == "store.url" else store.name
        fix = "is not the address of a store; write redis://host:6379/0, or memory:// to try out"
        source.problems.append(("store", f"{where} {fix}"))
    return store


def _slack(source: Source) -> SlackSettings | None:
    if not _is_configured(source, "slack"):
        return None
    section = source.section(SlackSection, "slack")
    bot_token = source.secret(SLACK_BOT_TOKEN)
    socket = section is not None and section.mode == "socket"
    if socket:
        source.secret(SLACK_APP_TOKEN)
    elif section is not None:
        source.secret(SLACK_SIGNING_SECRET)
    app_token = source.value("SLACK_APP_TOKEN") if socket else ""
    signing_secrets = secret_values(source.value("SLACK_SIGNING_SECRET"))
    _check_forms(source, SLACK_BOT_TOKEN.variable, bot_token)
    _check_forms(source, SLACK_APP_TOKEN.variable, app_token)
    _check_forms(source, SLACK_SIGNING_SECRET.variable, *signing_secrets)
    if section is None:
        return None
    return SlackSettings(
        mode=section.mode,
        api_url=section.api_url.rstrip("/") + "/",
        team_id=section.team_id,
        app_id=section.app_id,
        bot_token=bot_token,
        signing_secrets=signing_secrets,
        app_token=app_token,
    )


def _telegram(source: Source, *, needed: bool = False) -> TelegramSettings | None:
    if not needed and not _is_configured(source, "telegram"):
        return None
    section = source.section(TelegramSection, "telegram")
    bot_token = source.secret(TELEGRAM_BOT_TOKEN)
    if section is not None and (section.mode == "webhook" and not needed):
        source.secret(TELEGRAM_WEBHOOK_SECRET)
    webhook_secrets = secret_values(source.value("TELEGRAM_WEBHOOK_SECRET"))
    _check_forms(source, TELEGRAM_BOT_TOKEN.variable, bot_token)
    _check_forms(source, TELEGRAM_WEBHOOK_SECRET.variable, *webhook_secrets)
    if section is None:
        return None
    return TelegramSettings(
        mode=section.mode,
        api_url=section.api_url.rstrip("/"),
        bot_token=bot_token,
        webhook_secrets=webhook_secrets,
    )


def _check_forms(source: Source, variable: str, *values: str) -> None:
    for value in values:
        if value and (text := wrong_secret(variable, value)):
            source.problems.append((variable.partition("_")[0].lower(), text))


def _policy(source: Source) -> PolicySettings:
    section = source.section(PolicySection, "policy") or PolicySection()
    return PolicySettings(
        default=section.default,
        allow=_rules(source, "allow"),
        deny=_rules(source, "deny"),
        terms=Terms(
            remember_for=section.remember,
            scopes=frozenset(_SCOPES[word] for word in section.scopes),
            window=section.window,
        ),
    )


def _questions(source: Source) -> QuestionSettings:
    section = source.section(QuestionsSection, "questions") or QuestionsSection()
    refusals = Refusals(section.reasons, section.reason_wait)
    return QuestionSettings(refusals, section.types, section.together)


_SCOPES: Mapping[str, Scope] = {"session": "session", "agent": "agent", "window": "tool-window"}


def _rules(source: Source, effect: str) -> tuple[Rule, ...]:
    written = source.written(("policy", effect), [])
    rules = []
    for number in range(len(written) if isinstance(written, list) else 0):
        path = ("policy", effect, number)
        section = source.section(RuleSection, *path)
        if section is None:
            continue
        try:
            rules.append(Rule(section.tool, section.params))
        except ConfigError as error:
            source.problem(path, f"cannot be used: {error}")
    return tuple(rules)
