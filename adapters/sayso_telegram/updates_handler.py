"""Updates on their way to the worker: Telegram forgets only what is stored."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import dataclass, field
from gettext import NullTranslations
from typing import Any, TypeVar

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import NotTaken, handed
from sayso.chats.places import Answered, Place, Press
from sayso.errors import CallbackError
from sayso.locales import load_translations
from sayso.platforms.conversation import FormPress, Reply, Taken
from sayso.platforms.conversation_replies import ConversationReplies
from sayso.seldom import Seldom
from sayso_telegram.conversation_chat import KnownNames
from sayso_telegram.parse_update import (
    BotRemoved,
    IgnoredUpdate,
    MigratedChat,
    PendingCommand,
    parse_update,
    update_id,
)
from sayso_telegram.pending_messages import PendingCommands

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

# Telegram waits 60 s for a webhook's answer and about 15 s for the presser's.
DESK_SECONDS = 10.0
_ALERTS = (Answered.FORBIDDEN, Answered.REFUSED, Answered.LATE, Answered.UNKNOWN, Answered.UNHEARD)


@dataclass(frozen=True, slots=True)
class Toast:
    """The answer to a callback query; without one the button would keep spinning.

    It stands in a line at the top of the chat, or in a dialog if it is an ``alert``.
    """

    query_id: str = field(repr=False)
    text: str
    alert: bool = False


@dataclass(frozen=True, slots=True)
class HandledUpdate:
    """The result for an update: Telegram may forget it where it is stored.

    ``retry_after`` is in how many seconds it is worth coming again, None where nobody said.
    """

    stored: bool
    toast: Toast | None = None
    retry_after: float | None = None


class UpdatesHandler:
    """Hands presses and moves to the worker, replies to their forms; for webhook and polling."""

    def __init__(
        self,
        desk: PressTaker,
        replies: ConversationReplies,
        names: KnownNames,
        commands: PendingCommands,
        *,
        desk_seconds: float = DESK_SECONDS,
    ) -> None:
        self._desk = desk
        self._replies = replies
        self._names = names
        self._commands = commands
        self._desk_seconds = desk_seconds
        self._removed_log = Seldom(_log)
        self._ignored_log = Seldom(_log, level=logging.INFO)

    async def handle(self, document: Any) -> HandledUpdate:
        """Act on an update. Never raises; an update that cannot be read counts as stored."""
        update = parse_update(document)
        if isinstance(update, Press):
            sender = document["callback_query"]["from"]
            self._names.note(sender["id"], sender.get("first_name"))
            return await self._handle_press(update)
        if isinstance(update, FormPress):
            work = self._replies.press(update)
            return await self._handle_form(work, update.message.place, update.ticket)
        if isinstance(update, Reply):
            return await self._handle_form(self._replies.reply(update), update.message.place)
        if isinstance(update, PendingCommand):
            return HandledUpdate(stored=await self._commands.answer(update))
        if isinstance(update, MigratedChat):
            return await self._handle_migration(update)
        if isinstance(update, BotRemoved):
            place = str(update.place)
            self._removed_log.say("the bot was blocked or removed: no cards there", place)
            return HandledUpdate(stored=True)
        return self._ignore(update, document)

    async def _handle_press(self, press: Press) -> HandledUpdate:
        translations = self._translations(press.message.place)
        try:
            answer = await self._hand_over(self._desk.press(press), "a press")
        except CallbackError:
            return HandledUpdate(True, _repeated(press.ticket, translations))
        if isinstance(answer, NotTaken):
            return _not_recorded(answer, press.ticket, translations)
        alert = answer.kind in _ALERTS
        return HandledUpdate(stored=True, toast=Toast(press.ticket, answer.text, alert))

    async def _handle_form(
        self, work: Awaitable[Taken], place: Place, ticket: str = ""
    ) -> HandledUpdate:
        translations = self._translations(place)
        try:
            taken = await self._hand_over(work, "an answer of a form")
        except CallbackError:
            return HandledUpdate(True, _repeated(ticket, translations))
        if isinstance(taken, NotTaken):
            return _not_recorded(taken, ticket, translations)
        if not taken.is_stored:
            text = translations.gettext(
                "Telegram or the store does not answer. Trying again for two minutes."
            )
            return HandledUpdate(False, _toast(ticket, text, alert=True), taken.retry_after)
        _log.debug("an answer of a form came to this: %s", taken.outcome.value)
        return HandledUpdate(True, _toast(ticket, taken.text, taken.is_alert))

    async def _handle_migration(self, chat: MigratedChat) -> HandledUpdate:
        try:
            noted = await self._hand_over(self._desk.moved(chat.old, chat.new), "a moved chat")
        except CallbackError:
            return HandledUpdate(stored=True)
        return HandledUpdate(stored=noted is not NotTaken.UNREACHABLE)

    def _ignore(self, ignored: IgnoredUpdate, document: Any) -> HandledUpdate:
        if ignored.reason != "not_a_press":
            # The id only: nobody vouches for the rest, and anybody may write to the bot.
            _log.debug("update %s: %s", update_id(document), ignored.reason)
            self._ignored_log.say(f"an update is not acted on: {ignored.reason}")
        text = self._translations(ignored.place).gettext("This button does nothing here.")
        return HandledUpdate(True, _toast(ignored.query_id, text, alert=True))

    async def _hand_over(self, work: Awaitable[_Result], what: str) -> _Result | NotTaken:
        return await handed(work, what=f"{what} in Telegram", seconds=self._desk_seconds)

    def _translations(self, place: Place) -> NullTranslations:
        """The language of a place, where nobody knows about which card it is."""
        return load_translations(self._desk.language(place))


def _repeated(ticket: str, translations: NullTranslations) -> Toast | None:
    return _toast(ticket, translations.gettext("This press was taken before."), alert=False)


def _not_recorded(reason: NotTaken, ticket: str, translations: NullTranslations) -> HandledUpdate:
    """Let it come again if the store was away; a desk that failed would fail at it again."""
    if reason is NotTaken.FAILED:
        text = translations.gettext("Not recorded: something went wrong here.")
        return HandledUpdate(True, _toast(ticket, text, alert=True))
    text = translations.gettext(
        "Not recorded: the store cannot be reached. Trying again for two minutes."
    )
    return HandledUpdate(False, _toast(ticket, text, alert=True))


def _toast(query_id: str, text: str, alert: bool) -> Toast | None:
    """The answer to a callback query; None where nobody waits for one."""
    return Toast(query_id, text, alert) if query_id else None
