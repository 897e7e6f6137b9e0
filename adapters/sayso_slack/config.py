"""Settings of Slack: the section [slack], its secrets, the adapter's values, the app's scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from sayso.chats.budgets import Rate
from sayso.errors import ConfigError
from sayso.platforms.platform import ApiUrl, Pace, PlatformSettings, Secret, Section, checked

API_URL = "https://slack.com/api/"
PER_CHANNEL = Rate(1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackConfig:
    """One Slack app in one workspace.

    Presses from a workspace other than ``team_id`` and for an app other than
    ``app_id`` are refused; what is left empty is learned from the token.
    Several signing secrets are accepted while one is being replaced; without
    one nobody gets in over HTTP. No more messages are sent to a channel than
    ``per_channel`` says, and no more to all than Slack takes; None is as many as there are.

    Raises:
        ConfigError: the values cannot work together.
    """

    bot_token: str = field(repr=False)
    signing_secrets: tuple[str, ...] = field(default=(), repr=False)
    team_id: str = ""
    app_id: str = ""
    app_token: str = field(default="", repr=False)
    api_url: str = API_URL
    mode: Literal["http", "socket"] = "http"
    per_channel: Rate | None = PER_CHANNEL

    def __post_init__(self) -> None:
        if not self.bot_token:
            raise ConfigError(
                "SLACK_BOT_TOKEN is not set; see OAuth & Permissions in your Slack app"
            )
        if self.mode == "socket" and not self.app_token:
            raise ConfigError(
                "SLACK_APP_TOKEN is not set, and Socket Mode needs it; see Basic Information, "
                "App-Level Tokens (scope connections:write) in your Slack app"
            )
        if self.mode == "http" and not any(self.signing_secrets):
            raise ConfigError(
                "SLACK_SIGNING_SECRET is not set; see Basic Information in your Slack app"
            )

    @property
    def known_app_id(self) -> str:
        """The app's id: as configured, or else from the app-level token, ``xapp-1-A0…-…``."""
        if self.app_id:
            return self.app_id
        parts = self.app_token.split("-")
        return parts[2] if len(parts) > 3 and parts[2].startswith("A") else ""


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


def build_config(settings: PlatformSettings[SlackSection]) -> SlackConfig:
    """Build the adapter's values from the settings.

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


ANYWHERE = "chat:write.public"
"""Lets the bot post to public channels that it is not in."""

NEEDED = "chat:write"
"""Without this scope no card can be posted."""

# What each scope of our manifests is for, besides ANYWHERE, which not everybody wants.
_WANTED = {
    NEEDED: "posts cards",
    "commands": "/approvals",
    "channels:read": "checks the channels of routes",
    "groups:read": "the same for private channels",
    "users:read": "knows members of user groups, and the app's own id",
    "dnd:read": "calls nobody who does not want to be disturbed",
    "usergroups:read": "approvers such as slack:@oncall",
}


def read_scopes(headers: Mapping[str, str]) -> frozenset[str]:
    """The scopes of a token, as each answer to it names them; empty where it names none."""
    named = headers.get("x-oauth-scopes") or ""
    return frozenset(scope for one in named.split(",") if (scope := one.strip()))


def find_missing_scopes(scopes: frozenset[str]) -> dict[str, str]:
    """Return the scopes that are missing, each with its use; none if the scopes are unknown."""
    return {scope: use for scope, use in _WANTED.items() if scopes and scope not in scopes}
