"""People, channels and chats in the playground before anybody presses a button."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

ChatKind = Literal["group", "supergroup", "channel"]


@dataclass(frozen=True, slots=True)
class Member:
    """A person with an account on both platforms.

    ``slack_team_id`` is set for somebody of another workspace (Slack Connect). A guest is
    restricted, and ultra restricted too where it is one of a single channel.
    ``slack_dnd`` is from when until when they do not want to be disturbed, in Unix seconds.
    ``telegram_started`` says whether the person has ever written to the bot: a bot
    cannot begin a private chat.
    """

    name: str
    slack_id: str
    telegram_id: int
    slack_team_id: str | None = None
    telegram_started: bool = True
    slack_deleted: bool = False
    slack_is_bot: bool = False
    slack_is_restricted: bool = False
    slack_is_ultra_restricted: bool = False
    slack_status_emoji: str = ""
    slack_status_expiration: int = 0
    slack_dnd: tuple[int, int] | None = None

    @property
    def username(self) -> str:
        """The name in lower case, as both platforms show it after an @."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class SlackChannel:
    """A channel; ``members`` are Slack user ids, ``None`` means everybody."""

    id: str
    name: str
    is_member: bool = True
    is_private: bool = False
    members: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A Slack user group, @handle, with its Slack user ids."""

    id: str
    handle: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TelegramChat:
    """A group or channel; one with ``topics`` is a forum. Private chats come from the members."""

    id: int
    kind: ChatKind
    title: str
    topics: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    is_member: bool = True


ALICE = Member("Alice", "U0ALICE", 4242)
BOB = Member("Bob", "U0BOB", 4343)
MALLORY = Member("Mallory", "U0MALLORY", 6666)

# What an app is granted that is made from a manifest, but for posting where it is no member.
_SCOPES = (
    "chat:write",
    "commands",
    "channels:read",
    "groups:read",
    "users:read",
    "dnd:read",
    "usergroups:read",
)
_CHANNELS = (
    SlackChannel("C0OPS", "ops"),
    SlackChannel("C0RANDOM", "random", is_member=False),
    SlackChannel("C0PRIVATE", "private", is_member=False, is_private=True),
)
_CHATS = (
    TelegramChat(-1001234567890, "supergroup", "Ops"),
    TelegramChat(-1002222222222, "supergroup", "Ops forum", MappingProxyType({17: "Deployments"})),
    TelegramChat(-300, "group", "Old group"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundConfig:
    """Everything a playground starts with; every field has a sensible default.

    ``clock`` says what time it is (seconds since 1970) wherever a platform's window is
    measured, ``sleep`` waits between the retries of a webhook: pass your own and no
    test waits. With ``slack_events_url`` unset, Slack delivers over Socket Mode.
    """

    host: str = "127.0.0.1"
    port: int = 0
    members: tuple[Member, ...] = (ALICE, BOB, MALLORY)
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    slack_team_id: str = "T0ACME"
    slack_team_domain: str = "acme"
    slack_app_id: str = "A0SAYSO"
    slack_bot_user_id: str = "U0SAYSO"
    slack_bot_id: str = "B0SAYSO"
    slack_bot_name: str = "sayso"
    slack_bot_token: str = field(default="xoxb-playground", repr=False)
    slack_app_token: str = field(default="xapp-1-A0SAYSO-playground", repr=False)
    slack_signing_secret: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    slack_events_url: str | None = None
    slack_ack_seconds: float = 3.0
    slack_scopes: tuple[str, ...] = _SCOPES
    slack_channels: tuple[SlackChannel, ...] = _CHANNELS
    slack_usergroups: tuple[UserGroup, ...] = (
        UserGroup("S0ONCALL", "oncall", "On call", ("U0ALICE",)),
    )

    telegram_bot_token: str = field(default="4000000000:PLAYGROUND-token", repr=False)
    telegram_bot_username: str = "sayso_bot"
    telegram_bot_name: str = "Sayso"
    telegram_answer_seconds: float = 15.0
    telegram_webhook_seconds: float = 60.0
    telegram_chats: tuple[TelegramChat, ...] = _CHATS

    def member(self, who: str | int | Member) -> Member:
        """The member with this name, Slack id or Telegram id."""
        if isinstance(who, Member):
            return who
        for member in self.members:
            if who in (member.name, member.username, member.slack_id, member.telegram_id):
                return member
        names = ", ".join(member.name for member in self.members)
        raise LookupError(f"nobody here is called {who!r}; members are {names}")
