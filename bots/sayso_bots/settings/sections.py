"""The sections of ``sayso.toml``, each as it may be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, create_model

from sayso.calling.manners import Notify
from sayso.durations import parse_duration
from sayso.platforms.platform import Platform
from sayso.platforms.section import Section
from sayso.questions.refusals import LONGEST_WAIT, REASON_LIMIT
from sayso.text.secrets import Hiding
from sayso_bots.settings.calling import QuietHours, Remind
from sayso_bots.settings.durations import Duration
from sayso_bots.settings.tokens import TOKEN_NAME

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::\d{1,5})?|https?://\[[0-9a-f:]+\](?::\d{1,5})?")


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def unseen(value: object) -> str:
    """A string whose form is checked where it is not shown; anything else is a wrong one."""
    return value if isinstance(value, str) else ""


def no_bool(value: object) -> object:
    """The value; of true and false what was written, which is no number."""
    # To pydantic, true is a 1.
    return repr(value) if isinstance(value, bool) else value


Port = Annotated[int, BeforeValidator(no_bool), Field(ge=0, le=65_535)]


def _short_wait(wait: timedelta) -> timedelta:
    if wait > LONGEST_WAIT:
        raise ValueError("is too long for a denial to wait for its reason; write at most 15m")
    return wait


LONGEST_TOGETHER = timedelta(seconds=5)


def _together(value: object) -> timedelta:
    if value == "off":
        return timedelta(0)
    try:
        window = parse_duration(value)
    except ValueError as error:
        raise ValueError(f'{error}; or "off", for a card for every call') from None
    if window > LONGEST_TOGETHER:
        raise ValueError("is too long: every card waits for it; write at most 5s")
    return window


def _reason(text: str) -> str:
    if not 1 <= len(text.strip()) <= REASON_LIMIT:
        raise ValueError(f"is not a reason; write 1 to {REASON_LIMIT:,} characters")
    return text.strip()


Reason = Annotated[str, AfterValidator(_reason)]
MOST_REASONS = 20


class ServerSection(Section):
    """[server]."""

    host: str = "127.0.0.1"
    port: Port = 8080
    connections_per_source: Annotated[
        int | None, BeforeValidator(no_bool), Field(ge=1, le=1_000_000)
    ] = None
    reuse_port: Annotated[bool, Field(strict=True)] = False


class ReachSection(Section):
    """When a person can be called."""

    away: Annotated[bool, Field(strict=True)] = False
    quiet: QuietHours | None = None


def person_section(platforms: Iterable[Platform[Any]]) -> type[ReachSection]:
    """[people.NAME]: the accounts of one human, their API tokens, and when they can be called."""
    fields: dict[str, Any] = {
        platform.name: (_accounts(platform.name, platform.account), ()) for platform in platforms
    }
    fields["api"] = (_accounts("api", _token_name), ())
    return create_model("PersonSection", __base__=ReachSection, **fields)


def _token_name(written: object) -> str:
    if not isinstance(written, str) or not TOKEN_NAME.fullmatch(written):
        raise ValueError("is not the name of an [[api.token]]")
    return written


def _accounts(platform: str, check: Callable[[object], str]) -> Any:
    def account(written: object) -> str:
        return f"{platform}:{check(written)}"

    one = Annotated[str, PlainValidator(account)]
    return Annotated[tuple[one, ...], BeforeValidator(_as_list)]


class RouteSection(Section):
    """[[route]], its places and its language not looked at yet."""

    to: tuple[Any, ...]
    approvers: tuple[str, ...] = ()
    agent: str = "*"
    tool: str = "*"
    timeout: Duration | None = None
    self_approval: Annotated[bool, Field(strict=True)] = False
    notify: Notify = "mention"
    remind: Remind = ()
    quiet: QuietHours | None = None
    language: Any = None


def _origin(value: object) -> str:
    if not isinstance(value, str) or not _ORIGIN.fullmatch(value):
        raise ValueError("is not an origin such as https://dashboard.example.com, without a path")
    return value


def calls_a_second(value: object) -> int:
    """How many calls a second."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
        raise ValueError("is not a whole number from 1 to 10000")
    return value


class ApiSection(Section):
    """[api], its tokens not looked at yet."""

    token: Any = ()
    origins: tuple[Annotated[str, PlainValidator(_origin)], ...] = ()
    per_second: Annotated[int, PlainValidator(calls_a_second)] = 50


class ApiTokenSection(Section):
    """[[api.token]]; ``sha256`` is looked at elsewhere, where it is not shown."""

    name: str
    sha256: Annotated[str, BeforeValidator(unseen)]
    agents: tuple[str, ...]
    answers_own: Annotated[bool, Field(strict=True)] = False


def _most_open(value: object) -> int:
    if value == "off":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
        raise ValueError('is not a whole number from 1 to 1000000, such as 50, or "off"')
    return value


MostOpen = Annotated[int, PlainValidator(_most_open)]


class LimitsSection(Section):
    """[limits]; 0 stands for as many as come."""

    open_per_agent: MostOpen = 50
    open_per_token: MostOpen = 200


class QuestionsSection(Section):
    """[questions]."""

    reasons: Annotated[tuple[Reason, ...], Field(max_length=MOST_REASONS)] = ()
    reason_wait: Annotated[Duration, AfterValidator(_short_wait)] = timedelta(seconds=60)
    types: tuple[str, ...] = ()
    together: Annotated[timedelta, BeforeValidator(_together)] = timedelta(milliseconds=200)


def _pattern(value: object) -> re.Pattern[str]:
    try:
        pattern = re.compile(value if isinstance(value, str) else "")
        Hiding(shapes=(pattern,))
    except (re.error, ValueError) as error:
        raise ValueError(f"is not a regular expression that can be used: {error}") from None
    return pattern


Word = Annotated[str, Field(min_length=1, max_length=60)]


class SecretsSection(Section):
    """[secrets]."""

    names: tuple[Word, ...] = ()
    patterns: tuple[Annotated[re.Pattern[str], PlainValidator(_pattern)], ...] = ()
    shown: tuple[Word, ...] = ()
