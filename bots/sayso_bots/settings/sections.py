"""The sections of ``sayso.toml``, each as it may be written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from sayso.always.terms import LONGEST_WINDOW
from sayso.chats.places import Place
from sayso.questions.refusals import LONGEST_WAIT, REASON_LIMIT
from sayso_bots.settings.durations import parse_duration

Duration = Annotated[timedelta, BeforeValidator(parse_duration)]

_SLACK_CHAT = re.compile(r"[CGDUW][A-Z0-9]{2,}")
_SLACK_USER = re.compile(r"[UW][A-Z0-9]{2,}")
_SLACK_THREAD = re.compile(r"\d+\.\d+")
_NUMBER = re.compile(r"-?\d+")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::\d{1,5})?|https?://\[[0-9a-f:]+\](?::\d{1,5})?")


def parse_place(written: object) -> Place:
    """A place on Slack or Telegram, named by ids and never by names that can change hands.

    Raises:
        ValueError: it is not one; the message says what to write instead.
    """
    try:
        place = Place.parse(str(written))
    except ValueError:
        raise ValueError(
            "is not a place such as slack:C0123ABCD or telegram:-1001234567890"
        ) from None
    if place.platform == "slack":
        _check_slack(place)
    elif place.platform == "telegram":
        _check_telegram(place)
    else:
        raise ValueError(f"names the platform {place.platform!r}; write slack: or telegram:")
    return place


def _check_slack(place: Place) -> None:
    if not _SLACK_CHAT.fullmatch(place.address):
        raise ValueError(
            "is not a Slack channel id; write slack:C0123ABCD, the id at the end of the "
            "channel's details"
        )
    if place.thread and not _SLACK_THREAD.fullmatch(place.thread):
        raise ValueError("names a thread that is not a Slack time stamp such as 1712345678.000100")


def _check_telegram(place: Place) -> None:
    if not _NUMBER.fullmatch(place.address):
        raise ValueError(
            "is not a Telegram chat id; write the number, such as telegram:-1001234567890: "
            "names can change hands"
        )
    if place.thread and not _NUMBER.fullmatch(place.thread):
        raise ValueError("names a topic that is not a number, such as telegram:-1001234567890/17")


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _slack_user(value: object) -> str:
    if not isinstance(value, str) or not _SLACK_USER.fullmatch(value):
        raise ValueError(
            "is not a Slack member id such as U0ALICE; copy it from the member's profile, "
            "under ⋮, Copy member ID"
        )
    return f"slack:{value}"


def _telegram_user(value: object) -> str:
    if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value)):
        raise ValueError(
            "is not a numeric Telegram user id such as 4242; usernames can change hands, "
            "@userinfobot tells the id"
        )
    return f"telegram:{value}"


def parse_actor(written: str) -> str:
    """An account in its written form, such as ``slack:U0BOB``.

    Raises:
        ValueError: it is not one; the message says what to write instead.
    """
    platform, _, account = written.partition(":")
    if platform == "slack":
        return _slack_user(account)
    if platform == "telegram":
        return _telegram_user(account)
    if platform == "api":
        return written
    raise ValueError(f"names the platform {platform!r}; write slack:, telegram: or api:")


def _checked(pattern: str, fix: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"cannot be right; {fix}")
        return value

    return AfterValidator(check)


def _unseen(value: object) -> str:
    """A text whose form is checked where it is not shown; anything else is a wrong one."""
    return value if isinstance(value, str) else ""


def _no_bool(value: object) -> object:
    # To pydantic, true is a 1.
    return repr(value) if isinstance(value, bool) else value


ApiUrl = Annotated[
    str, _checked(r"https?://[^\s/?#]+(?:/[^\s?#]*)?", "write an address that begins with https://")
]
TeamId = Annotated[str, _checked("[TE][A-Z0-9]+", "write an id such as T0123ABCD")]
AppId = Annotated[str, _checked("A[A-Z0-9]+", "write an id such as A0123ABCD")]
Port = Annotated[int, BeforeValidator(_no_bool), Field(ge=0, le=65_535)]


def _short_window(window: timedelta) -> timedelta:
    if window > LONGEST_WINDOW:
        raise ValueError("is too long for a whole tool; write at most 60m")
    return window


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
        raise ValueError(f"is no reason; write 1 to {REASON_LIMIT:,} characters")
    return text.strip()


Reason = Annotated[str, AfterValidator(_reason)]
MOST_REASONS = 20


class Section(BaseModel):
    """The base of all sections: frozen, and strangers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSection(Section):
    """[store]."""

    url: str = Field(default="redis://127.0.0.1:6379/0", repr=False)


class ServerSection(Section):
    """[server]."""

    host: str = "127.0.0.1"
    port: Port = 8080


class SlackSection(Section):
    """[slack], without its secrets."""

    mode: Literal["http", "socket"] = "http"
    team_id: TeamId | None = None
    app_id: AppId | None = None
    api_url: ApiUrl = "https://slack.com/api/"


class TelegramSection(Section):
    """[telegram], without its secrets."""

    mode: Literal["webhook", "polling"] = "webhook"
    api_url: ApiUrl = "https://api.telegram.org"


class PersonSection(Section):
    """[people.NAME]: the accounts of one human."""

    slack: Annotated[
        tuple[Annotated[str, PlainValidator(_slack_user)], ...], BeforeValidator(_as_list)
    ] = ()
    telegram: Annotated[
        tuple[Annotated[str, PlainValidator(_telegram_user)], ...], BeforeValidator(_as_list)
    ] = ()


class RouteSection(Section):
    """[[route]]."""

    to: tuple[Annotated[Place, PlainValidator(parse_place)], ...]
    approvers: tuple[str, ...] = ()
    agent: str = "*"
    tool: str = "*"
    timeout: Duration | None = None


def _origin(value: object) -> str:
    if not isinstance(value, str) or not _ORIGIN.fullmatch(value):
        raise ValueError("is not an origin such as https://dashboard.example.com, without a path")
    return value


def _calls(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
        raise ValueError("is not a whole number from 1 to 10000")
    return value


class ApiSection(Section):
    """[api], its tokens not looked at yet."""

    token: Any = ()
    origins: tuple[Annotated[str, PlainValidator(_origin)], ...] = ()
    per_second: Annotated[int, PlainValidator(_calls)] = 50


class ApiTokenSection(Section):
    """[[api.token]]; ``sha256`` is looked at elsewhere, where it is not shown."""

    name: str
    sha256: Annotated[str, BeforeValidator(_unseen)]
    agents: tuple[str, ...]
    answers_own: Annotated[bool, Field(strict=True)] = False


class RuleSection(Section):
    """One rule of [policy]."""

    tool: str
    params: Mapping[str, str] = {}


class QuestionsSection(Section):
    """[questions]."""

    reasons: Annotated[tuple[Reason, ...], Field(max_length=MOST_REASONS)] = ()
    reason_wait: Annotated[Duration, AfterValidator(_short_wait)] = timedelta(seconds=60)
    types: tuple[str, ...] = ()
    together: Annotated[timedelta, BeforeValidator(_together)] = timedelta(milliseconds=200)


class PolicySection(Section):
    """[policy], its rules not looked at yet."""

    default: Literal["ask", "allow"] = "ask"
    allow: tuple[Any, ...] = ()
    deny: tuple[Any, ...] = ()
    remember: Duration = timedelta(hours=24)
    scopes: tuple[Literal["session", "agent", "window"], ...] = ("session",)
    window: Annotated[Duration, AfterValidator(_short_window)] = timedelta(minutes=15)
