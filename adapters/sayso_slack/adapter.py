"""Slack as a place to show cards: joins the renderer to Slack's Web API."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any, Literal, Self

import aiohttp
from slack_sdk.errors import SlackApiError

from sayso.cards.card import Card, CardBody, Choice
from sayso.cards.truncation import Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import DeliveryError
from sayso.platforms.bot import NotLooked
from sayso.seldom import Seldom
from sayso.text.visible import visible
from sayso_slack.batch_blocks import bundle_room, message
from sayso_slack.callback_guard import as_object
from sayso_slack.config import ANYWHERE, SlackConfig, read_scopes
from sayso_slack.errors import PLATFORM, delivery_error
from sayso_slack.fallback_text import escape_text
from sayso_slack.limits import build_limits
from sayso_slack.modal import everything_modal, fits, form_modal
from sayso_slack.value_blocks import Block, plain_text
from sayso_slack.web_client import CALL_SECONDS, Answer, DirectClient, build_muffled_logger
from sayso_slack.workspace import Workspace, explain_non_member, is_home_of

_log = logging.getLogger(__name__)

# docs.slack.dev, interactivity: a trigger_id opens a dialog for 3 seconds after the press.
_DIALOG_SECONDS = 2.2
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,}", re.ASCII)
# docs.slack.dev, users.info.
_NOBODY = frozenset({"user_not_found", "user_not_visible"})
_UNCONNECTED = "use it inside `async with SlackAdapter(...)`"


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of the bot token and its scopes; ``app_id`` is empty when it is not known."""

    team_id: str
    team_name: str
    bot_id: str
    user_id: str
    user_name: str
    app_id: str
    scopes: frozenset[str]


class SlackAdapter:
    """Shows cards in Slack. Works inside its ``async with`` block.

    Nothing is retried here: the desk knows what may be repeated. Whoever hands
    in a session closes it.
    """

    def __init__(
        self,
        config: SlackConfig,
        *,
        session: aiohttp.ClientSession | None = None,
    ) -> None:
        self._config = config
        self._limits = build_limits(config)
        self._session = session
        self._own_session: aiohttp.ClientSession | None = None
        self._client: DirectClient | None = None
        self._identity: Identity | None = None
        self._revoked = ""
        self._untold = Seldom(_log)

    async def __aenter__(self) -> Self:
        if self._session is None:
            self._session = self._own_session = aiohttp.ClientSession()
        self._client = DirectClient(
            token=self._config.bot_token,
            base_url=self._config.api_url,
            session=self._session,
            # No handlers: the default one repeats a chat.postMessage that Slack may have executed.
            retry_handlers=[],
            logger=build_muffled_logger(),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._own_session is not None:
            await self._own_session.close()
            self._session = self._own_session = None
        self._client = None

    @property
    def platform(self) -> str:
        """``slack``."""
        return PLATFORM

    @property
    def limits(self) -> Limits:
        """Limits of a message, of dialogs, of a form's inputs, and of how many messages go out."""
        return self._limits

    @property
    def workspace(self) -> Workspace:
        """The workspace and app to take callbacks of: configured, or learned by ``identity``."""
        known = self._identity
        return Workspace(
            self._config.team_id or (known.team_id if known else ""),
            self._config.known_app_id or (known.app_id if known else ""),
        )

    @property
    def client(self) -> DirectClient:
        """Slack's client, for Socket Mode."""
        if self._client is None:
            raise RuntimeError(_UNCONNECTED)
        return self._client

    def room(self, body: CardBody, count: int) -> Room | None:
        """Return the room of this card in a message with so many; None: it must stand alone."""
        return bundle_room(body, count)

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        """Post one message with these cards; in a thread where the place names one.

        The reference holds the channel that Slack answered with: a card for a
        person (``slack:U…``) stands in a direct message (``D…``).

        Raises:
            DeliveryError: Slack did not take the message, or did not say so.
        """
        arguments = {"channel": place.address, **message(cards)}
        if place.thread:
            arguments["thread_ts"] = place.thread
        answer = await self.post("chat.postMessage", arguments)
        return MessageRef(Place(PLATFORM, str(answer["channel"]), place.thread), str(answer["ts"]))

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        """Make the message show its cards as they are now. Repeating it changes nothing.

        Raises:
            DeliveryError: Slack did not take the change; permanent when it never will.
        """
        arguments = {"channel": ref.place.address, "ts": ref.message_id, **message(cards)}
        await self.post("chat.update", arguments)

    async def reveal(self, press: Press, card: Card) -> None:
        """Open a dialog with everything for the presser, within 3 seconds of the press.

        Raises:
            DeliveryError: Slack did not open it, or it is too large for one.
        """
        view, translations = everything_modal(card), card.translations
        if not fits(view):
            raise DeliveryError(
                PLATFORM, translations.gettext("it is too large for a Slack dialog"), permanent=True
            )
        await self._open(press, view, translations)

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        """Open the form of a choice for the presser, within 3 seconds of the press.

        Raises:
            DeliveryError: Slack did not open it, or no dialog of Slack's can ask for it.
        """
        if choice.form is None:
            raise DeliveryError(PLATFORM, f"{choice.label!r} has no form", permanent=True)
        await self._open(
            press, form_modal(card, choice, choice.form, press.message), card.translations
        )

    async def members(self, group: str) -> Collection[str]:
        """The actors of a user group, by its handle or its ``S…`` id. Not cached here.

        Raises:
            DeliveryError: Slack did not say; then nobody is in it.
        """
        answer = await self.read("usergroups.users.list", {"usergroup": await self.group_id(group)})
        return frozenset(f"{PLATFORM}:{user}" for user in answer["users"] or ())

    async def counts_in_groups(self, actor: str) -> bool:
        """Return True if somebody in a user group is a member of this workspace, no guest or bot.

        Needs the scope users:read. Not cached here.

        Raises:
            DeliveryError: Slack did not say; then they do not count.
        """
        member = actor.removeprefix(f"{PLATFORM}:")
        answer = await self.read("users.info", {"user": member})
        user = as_object(answer.get("user"))
        return user.get("id") == member and self.is_member(user)

    def is_member(self, user: dict[str, Any]) -> bool:
        """Return True if Slack's user object is that of a member who counts."""
        return not explain_non_member(user, self.workspace.team_id)

    async def identity(self) -> Identity:
        """Ask whose token it is, and learn what the configuration leaves open.

        Raises:
            DeliveryError: Slack did not say; permanent when the token is not valid.
        """
        answer = await self.read("auth.test", {}, even_if_revoked=True)
        bot_id = str(answer.get("bot_id") or "")
        learned = self._identity.app_id if self._identity else ""
        self._identity = Identity(
            team_id=str(answer["team_id"]),
            team_name=str(answer.get("team") or ""),
            bot_id=bot_id,
            user_id=str(answer.get("user_id") or ""),
            user_name=str(answer.get("user") or ""),
            # Once learned it stays: a look that fails must not open the door to other apps.
            app_id=self._config.known_app_id or learned or await self._learned_app_id(bot_id),
            scopes=read_scopes(answer.headers),
        )
        self._revoked = ""
        return self._identity

    async def can_post(self, place: Place) -> str | NotLooked | None:
        """Return the reason that no card could be posted there; None if there is none.

        Looking needs the scopes channels:read and groups:read, im:read for a direct
        message and users:read for a member.

        Raises:
            DeliveryError: Slack did not say.
        """
        if place.address.startswith(("U", "W")):
            problem = await self.can_approve(f"{PLATFORM}:{place.address}")
            return f"{place} — {problem}" if isinstance(problem, str) else problem
        try:
            answer = await self.read("conversations.info", {"channel": place.address})
        except DeliveryError as error:
            if not error.code:
                raise
            if error.code == "channel_not_found":
                return f"{place} — {error.reason}"
            return NotLooked(error.reason)
        channel: dict[str, Any] = answer.get("channel") or {}
        if channel.get("is_archived"):
            return f"{place} — is_archived: unarchive the channel or choose another place"
        if channel.get("is_member", True) or ANYWHERE in read_scopes(answer.headers):
            return None
        return f"{place} — the bot is not in the channel: /invite @{self._bot_name} there"

    async def can_approve(self, account: str) -> str | NotLooked | None:
        """Return the reason that a member could not answer; None if there is none.

        Looking needs the scope users:read.

        Raises:
            DeliveryError: Slack did not say.
        """
        member = account.removeprefix(f"{PLATFORM}:")
        try:
            answer = await self.read("users.info", {"user": member})
        except DeliveryError as error:
            if not error.code:
                raise
            return error.reason if error.code in _NOBODY else NotLooked(error.reason)
        user: dict[str, Any] = answer.get("user") or {}
        if user.get("deleted"):
            return "the account is deactivated: name somebody else"
        if user.get("is_bot"):
            return "the account is a bot's, and only people press buttons"
        if (team := self.workspace.team_id) and not is_home_of(user, team):
            return "the account is of another workspace, whose presses are refused"
        return None

    async def whisper(self, actor: str, message: MessageRef, text: str) -> None:
        """Tell one person something beside the message, where nobody else sees it.

        Best effort: it never raises, and what Slack does not show is logged.
        """
        arguments: dict[str, Any] = {
            "channel": message.place.address,
            "user": actor.removeprefix(f"{PLATFORM}:"),
            "text": escape_text(visible(text), 2_000),
            "blocks": [{"type": "section", "text": plain_text(visible(text)[:2_000])}],
            "parse": "none",
            "link_names": False,
        }
        if message.place.thread:
            arguments["thread_ts"] = message.place.thread
        try:
            await self.post("chat.postEphemeral", arguments)
        except DeliveryError as error:
            self._untold.say(f"somebody could not be told privately: {error}", actor)

    async def socket_url(self) -> str:
        """The address of a new Socket Mode connection: a secret that works once, for seconds.

        Raises:
            DeliveryError: Slack gave none; permanent when the app-level token is at fault.
        """
        answer = await self._call("POST", "apps.connections.open", token=self._config.app_token)
        return str(answer["url"])

    def revoke(self, reason: str) -> None:
        """Refuse all calls from now on: the app was uninstalled or its token is dead."""
        self._revoked = reason

    async def _open(self, press: Press, view: Block, translations: NullTranslations) -> None:
        if not press.ticket:
            raise DeliveryError(
                PLATFORM,
                translations.gettext("the press came without a trigger_id: press again"),
                permanent=True,
            )
        try:
            async with asyncio.timeout(_DIALOG_SECONDS):
                await self.post("views.open", {"trigger_id": press.ticket, "view": view})
        except TimeoutError:
            raise DeliveryError(PLATFORM, translations.gettext("it took too long")) from None

    async def group_id(self, handle: str) -> str:
        """The ``S…`` id of a user group, also where that is what it is called by."""
        if _GROUP_ID.fullmatch(handle):
            return handle
        answer = await self.read("usergroups.list", {})
        for group in answer["usergroups"] or ():
            if group.get("handle") == handle and not group.get("date_delete"):
                return str(group["id"])
        raise DeliveryError(PLATFORM, f"there is no user group @{handle}", permanent=True)

    async def _learned_app_id(self, bot_id: str) -> str:
        try:
            answer = await self.read("bots.info", {"bot": bot_id}, even_if_revoked=True)
        except DeliveryError as error:
            _log.warning("the app's id is unknown, set slack.app_id: %s", error)
            return ""
        bot: dict[str, Any] = answer.get("bot") or {}
        return str(bot.get("app_id") or "")

    @property
    def _bot_name(self) -> str:
        return self._identity.user_name if self._identity else "<the bot>"

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes of the app, as far as Slack has named them; empty until then."""
        return self._identity.scopes if self._identity else frozenset()

    async def post(self, method: str, arguments: dict[str, Any]) -> Answer:
        """Call a method that does something. Raises DeliveryError."""
        self._refuse_if_revoked()
        return await self._call("POST", method, arguments=arguments)

    async def read(
        self, method: str, arguments: dict[str, Any], *, even_if_revoked: bool = False
    ) -> Answer:
        """Call a method that only reads; docs.slack.dev, web API: those take no JSON."""
        if not even_if_revoked:
            self._refuse_if_revoked()
        return await self._call("GET", method, query=arguments)

    def _refuse_if_revoked(self) -> None:
        if self._revoked:
            raise DeliveryError(PLATFORM, self._revoked, permanent=True)

    async def _call(self, verb: Literal["GET", "POST"], method: str, **request: Any) -> Answer:
        try:
            return await self.client.call(verb, method, **request)
        except SlackApiError as error:
            raise delivery_error(method, error, bot=self._bot_name) from error
        except TimeoutError as error:
            raise DeliveryError(
                PLATFORM, f"{method} got no answer within {CALL_SECONDS:g} s"
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise DeliveryError(
                PLATFORM, f"{method} lost its connection ({type(error).__name__})"
            ) from error
