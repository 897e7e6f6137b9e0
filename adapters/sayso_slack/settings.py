"""What the settings say about Slack: its section and its secrets."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from sayso.platforms.secret import Secret
from sayso.platforms.section import ApiUrl, Pace, PlatformSettings, Section, checked
from sayso_slack.config import API_URL, PER_CHANNEL, SlackConfig

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
    per_channel: Pace = PER_CHANNEL


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
        per_channel=section.per_channel,
    )
