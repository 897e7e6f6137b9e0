"""Secrets: which variable holds which, where to find them, and how to keep them out of sight."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sayso.text import secrets
from sayso.text.visible import shortened


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that only the environment may hold, and where its value comes from."""

    variable: str
    where: str

    @property
    def section(self) -> str:
        """The section of the settings that needs it."""
        return self.variable.partition("_")[0].lower()

    @property
    def missing(self) -> str:
        """What to say when it is not set."""
        return f"{self.variable} is not set; {self.where}"


SLACK_BOT_TOKEN = Secret(
    "SLACK_BOT_TOKEN",
    "it is the Bot User OAuth Token (xoxb-…) under OAuth & Permissions of your Slack app",
)
SLACK_SIGNING_SECRET = Secret(
    "SLACK_SIGNING_SECRET",
    "it is the Signing Secret under Basic Information of your Slack app",
)
SLACK_APP_TOKEN = Secret(
    "SLACK_APP_TOKEN",
    'slack.mode = "socket" needs an app-level token (xapp-…) with the scope connections:write; '
    "make one under Basic Information of your Slack app",
)
TELEGRAM_BOT_TOKEN = Secret(
    "TELEGRAM_BOT_TOKEN", "@BotFather shows it after /mybots, under API Token"
)
TELEGRAM_WEBHOOK_SECRET = Secret(
    "TELEGRAM_WEBHOOK_SECRET",
    "choose one, for example the output of `openssl rand -hex 32`, "
    "and register it with `sayso webhook set URL`",
)

# A key of the settings file that means a secret, and the variable to use instead.
FORBIDDEN_KEYS: Mapping[tuple[str, str], Secret] = {
    ("slack", "bot_token"): SLACK_BOT_TOKEN,
    ("slack", "token"): SLACK_BOT_TOKEN,
    ("slack", "signing_secret"): SLACK_SIGNING_SECRET,
    ("slack", "signing_secrets"): SLACK_SIGNING_SECRET,
    ("slack", "app_token"): SLACK_APP_TOKEN,
    ("telegram", "bot_token"): TELEGRAM_BOT_TOKEN,
    ("telegram", "token"): TELEGRAM_BOT_TOKEN,
    ("telegram", "webhook_secret"): TELEGRAM_WEBHOOK_SECRET,
    ("telegram", "webhook_secrets"): TELEGRAM_WEBHOOK_SECRET,
    ("telegram", "secret_token"): TELEGRAM_WEBHOOK_SECRET,
}

_KINDS = (
    (secrets.SLACK_TOKEN, SLACK_BOT_TOKEN),
    (secrets.SLACK_APP_TOKEN, SLACK_APP_TOKEN),
    (secrets.TELEGRAM_TOKEN, TELEGRAM_BOT_TOKEN),
)
_WEBHOOK_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_TELEGRAM_TOKEN = re.compile(r"\d+:[A-Za-z0-9_-]+")


def forbidden_value(value: str) -> Secret | None:
    """The secret that a text in the settings file looks like, None when it looks harmless."""
    return next((secret for pattern, secret in _KINDS if pattern.search(value)), None)


def holds_api_token(text: str) -> bool:
    """Whether a bearer token of the hosted API stands in it."""
    return secrets.API_TOKEN.search(text) is not None


def shown(value: object) -> str:
    """A wrong value as it may be shown in a message: short, and never a secret."""
    text = value if isinstance(value, str) else repr(value)
    if secrets.holds_secret(text) or secrets.has_login(text):
        return "that value"
    short = shortened(text, 60)
    return repr(short) if isinstance(value, str) else short


def secret_values(text: str) -> tuple[str, ...]:
    """The values in a variable that may hold several, separated by commas."""
    return tuple(part for part in (part.strip() for part in text.split(",")) if part)


def wrong_secret(variable: str, value: str) -> str:
    """What is wrong with the form of a secret, without quoting it; empty when nothing is."""
    if variable == "SLACK_BOT_TOKEN" and value.startswith(("xapp-", "xoxp-")):
        return "SLACK_BOT_TOKEN holds another kind of token; the bot token begins with xoxb-"
    if variable == "SLACK_APP_TOKEN" and value.startswith("xox"):
        return "SLACK_APP_TOKEN holds another kind of token; an app-level one begins with xapp-"
    if variable == "TELEGRAM_BOT_TOKEN" and not _TELEGRAM_TOKEN.fullmatch(value):
        return (
            "TELEGRAM_BOT_TOKEN has not the form digits:letters; "
            f"{TELEGRAM_BOT_TOKEN.where}, copy all of it"
        )
    if variable == "TELEGRAM_WEBHOOK_SECRET" and not _WEBHOOK_SECRET.fullmatch(value):
        return (
            "TELEGRAM_WEBHOOK_SECRET must have 1 to 256 characters of A-Z a-z 0-9 _ -; "
            "for example the output of `openssl rand -hex 32`"
        )
    if any(character.isspace() for character in value):
        return f"{variable} holds a space or a line break; copy it again"
    return ""
