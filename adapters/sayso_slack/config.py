"""What the Slack adapter needs to know: values, never the names of environment variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sayso.chats.budgets import Rate
from sayso.errors import ConfigError

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
