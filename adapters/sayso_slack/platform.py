"""Slack as the bots know it: settings, opening, listening, checking."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sayso.chats.adapter import Adapter, PressTaker
from sayso.chats.caller import Caller
from sayso.chats.places import Place
from sayso.clock import utc_now
from sayso.errors import ConfigError, DeliveryError
from sayso.platforms.bot import Bot, Finding, Listening, NotLooked
from sayso.platforms.platform import Platform, PlatformSettings, Secret
from sayso.stores.protocols import KeyValueStore
from sayso_slack import config as slack

if TYPE_CHECKING:
    from sayso_slack.adapter import SlackAdapter
    from sayso_slack.config import SlackConfig
    from sayso_slack.notifications import SlackCaller

_CHAT = re.compile(r"[CGDUW][A-Z0-9]{2,}")
_USER = re.compile(r"[UW][A-Z0-9]{2,}")
_THREAD = re.compile(r"\d+\.\d+")


class SlackBot(Bot):
    """The bot of one Slack app in one workspace."""

    def __init__(self, config: SlackConfig, adapter: SlackAdapter, caller: SlackCaller) -> None:
        self._config = config
        self._adapter = adapter
        self._caller = caller

    @property
    def adapter(self) -> Adapter:
        """Shows the cards."""
        return self._adapter

    @property
    def caller(self) -> Caller:
        """Calls people."""
        return self._caller

    async def introduce(self) -> str:
        """Workspace, bot user, and how presses come in."""
        who = await self._adapter.identity()
        how = "over Socket Mode" if self._config.mode == "socket" else "at POST /slack/events"
        return f"{who.team_name} ({who.team_id}) as @{who.user_name}, presses {how}"

    async def look(self) -> Sequence[Finding]:
        """Name the scopes that the app lacks."""
        missing = slack.find_missing_scopes(self._adapter.scopes)
        if not missing:
            return ()
        named = ", ".join(f"{scope} ({use})" for scope, use in missing.items())
        text = (
            f"the app was not granted {named}: add {'it' if len(missing) == 1 else 'them'} under "
        )
        text += "OAuth & Permissions, then reinstall the app"
        return [Finding("failed" if slack.NEEDED in missing else "info", "slack", text)]

    async def try_secrets(self) -> None:
        """In Socket Mode, ask for a connection with the app-level token."""
        if self._config.mode != "socket":
            return
        try:
            await self._adapter.socket_url()
        except DeliveryError as error:
            if not error.permanent:
                raise
            reason = f"{slack.APP_TOKEN.variable} is not valid; {slack.APP_TOKEN.where}"
            raise DeliveryError("slack", reason, permanent=True) from None

    async def can_post(self, place: Place) -> str | NotLooked | None:
        """Check that the channel is there, open, and the bot in it."""
        return await self._adapter.can_post(place)

    async def can_approve(self, account: str, places: Collection[Place]) -> str | NotLooked | None:  # noqa: ARG002
        """Check that the member exists, is a person and has not left."""
        return await self._adapter.can_approve(account)

    @asynccontextmanager
    async def listening(
        self,
        desk: PressTaker,
        key_value: KeyValueStore,  # noqa: ARG002  any connection gets a press: nothing to take turns for
        *,
        owner: str,  # noqa: ARG002
    ) -> AsyncIterator[Listening]:
        """Presses over HTTP, or over connections of Socket Mode."""
        from sayso_slack.listener import SlackListener

        async with SlackListener(self._config, self._adapter, desk, clock=utc_now) as listener:
            if self._config.mode == "socket":
                yield Listening(fetch=listener.run_socket)
            else:
                yield Listening(routes=listener.routes())


class SlackPlatform(Platform[slack.SlackSection]):
    """Slack."""

    name = "slack"
    title = "Slack"
    section = slack.SlackSection
    secrets = (slack.BOT_TOKEN, slack.SIGNING_SECRET, slack.APP_TOKEN)
    place_example = "slack:C0123ABCD"
    account_example = "slack:U0ALICE"
    quick_start = f"{slack.BOT_TOKEN.variable} with {slack.APP_TOKEN.variable}"
    has_groups = True

    def settled(self, section: slack.SlackSection, given: Collection[str]) -> slack.SlackSection:
        """Socket Mode, where an app-level token is set and no signing secret; HTTP otherwise."""
        if section.mode is not None:
            return section
        has_socket = slack.APP_TOKEN.variable in given
        mode = "socket" if has_socket and slack.SIGNING_SECRET.variable not in given else "http"
        return section.model_copy(update={"mode": mode})

    def needed(self, section: slack.SlackSection) -> Sequence[Secret]:
        """The bot token, and what the mode proves its callbacks with."""
        return (
            slack.BOT_TOKEN,
            slack.APP_TOKEN if section.mode == "socket" else slack.SIGNING_SECRET,
        )

    def check_place(self, place: Place) -> None:
        """Channels and people by their ids.

        Raises:
            ValueError: it is neither.
        """
        if not _CHAT.fullmatch(place.address):
            raise ValueError(
                "is not a Slack channel id; write slack:C0123ABCD, the id at the end of the "
                "channel's details"
            )
        if place.thread and not _THREAD.fullmatch(place.thread):
            raise ValueError(
                "names a thread that is not a Slack time stamp such as 1712345678.000100"
            )

    def account(self, written: object) -> str:
        """A member id.

        Raises:
            ValueError: it is not one.
        """
        if not isinstance(written, str) or not _USER.fullmatch(written):
            raise ValueError(
                "is not a Slack member id such as U0ALICE; copy it from the member's profile, "
                "under ⋮, Copy member ID"
            )
        return written

    def check_group(self, name: str) -> None:
        """A user group, by its handle or its ``S…`` id.

        Raises:
            ValueError: the name is empty.
        """
        if not name:
            raise ValueError("names no user group; write slack:@ and the group's handle")

    @asynccontextmanager
    async def open(
        self,
        settings: PlatformSettings[slack.SlackSection],
        key_value: KeyValueStore,  # noqa: ARG002
    ) -> AsyncIterator[Bot]:
        """The app's bot. Slack's dialogs keep what is being filled in themselves.

        Raises:
            ConfigError: the extra is not installed, or the values cannot work together.
        """
        config = slack.build_config(settings)
        try:
            from sayso_slack.adapter import SlackAdapter
            from sayso_slack.notifications import SlackCaller
        except ImportError as error:
            raise ConfigError(
                "Slack needs its libraries: install Sayso with its extra `slack`, "
                "from where you got it"
            ) from error
        async with SlackAdapter(config) as adapter:
            yield SlackBot(config, adapter, SlackCaller(adapter))


PLATFORM = SlackPlatform()
