"""What the settings say about Slack: its section, its secrets, and how it names things."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from sayso.chats.places import Place
from sayso.platforms.secret import Secret
from sayso.platforms.section import ApiUrl, PlatformSettings, Section, checked
from sayso_slack.config import API_URL, SlackConfig

_CHAT = re.compile(r"[CGDUW][A-Z0-9]{2,}")
_USER = re.compile(r"[UW][A-Z0-9]{2,}")
_THREAD = re.compile(r"\d+\.\d+")

BOT_TOKEN = Secret(
    "SLACK_BOT_TOKEN",
    "it is the Bot User OAuth Token (xoxb-…) under OAuth & Permissions of your Slack app",
    keys=("bot_token", "token"),
    looks=re.compile(r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}"),
    form=r"(?!xapp-|xoxp-)(?s:.+)",
    misfit="holds another kind of token; the bot token begins with xoxb-",
)
SIGNING_SECRET = Secret(
    "SLACK_SIGNING_SECRET",
    "it is the Signing Secret under Basic Information of your Slack app",
    keys=("signing_secret", "signing_secrets"),
    several=True,
)
APP_TOKEN = Secret(
    "SLACK_APP_TOKEN",
    'slack.mode = "socket" needs an app-level token (xapp-…) with the scope connections:write; '
    "make one under Basic Information of your Slack app",
    keys=("app_token",),
    looks=re.compile(r"xapp-[A-Za-z0-9-]{8,}"),
    form=r"(?!xox)(?s:.+)",
    misfit="holds another kind of token; an app-level one begins with xapp-",
)

TeamId = Annotated[str, checked("[TE][A-Z0-9]+", "write an id such as T0123ABCD")]
AppId = Annotated[str, checked("A[A-Z0-9]+", "write an id such as A0123ABCD")]


class SlackSection(Section):
    """[slack], without its secrets. Without a mode, the secrets that are set decide on it."""

    mode: Literal["http", "socket"] | None = None
    team_id: TeamId | None = None
    app_id: AppId | None = None
    api_url: ApiUrl = API_URL


def config_of(settings: PlatformSettings[SlackSection]) -> SlackConfig:
    """What the adapter is told.

    Raises:
        ConfigError: the values cannot work together.
    """
    section = settings.section
    mode = section.mode or "http"
    return SlackConfig(
        bot_token=settings.value(BOT_TOKEN),
        signing_secrets=settings.values(SIGNING_SECRET),
        team_id=section.team_id or "",
        app_id=section.app_id or "",
        app_token=settings.value(APP_TOKEN) if mode == "socket" else "",
        api_url=section.api_url.rstrip("/") + "/",
        mode=mode,
    )


def check_place(place: Place) -> None:
    """Return when it may be a channel, a person's direct message, or a thread in one.

    Raises:
        ValueError: it cannot; the message says what to write instead.
    """
    if not _CHAT.fullmatch(place.address):
        raise ValueError(
            "is not a Slack channel id; write slack:C0123ABCD, the id at the end of the "
            "channel's details"
        )
    if place.thread and not _THREAD.fullmatch(place.thread):
        raise ValueError("names a thread that is not a Slack time stamp such as 1712345678.000100")


def account(written: object) -> str:
    """A member id.

    Raises:
        ValueError: it is not one; the message says where to find it.
    """
    if not isinstance(written, str) or not _USER.fullmatch(written):
        raise ValueError(
            "is not a Slack member id such as U0ALICE; copy it from the member's profile, "
            "under ⋮, Copy member ID"
        )
    return written
