"""Updates on their way to the desk: what is stored may be forgotten by Telegram, nothing else."""

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
from sayso.platforms.conversation import FormPress, Reply
from sayso.platforms.conversation import Taken as FormTaken
from sayso.platforms.conversation_replies import ConversationReplies
from sayso.seldom import Seldom
from sayso_telegram.incoming.commands import Commands
from sayso_telegram.people import People
from sayso_telegram.reading.commands import Pending
from sayso_telegram.reading.updates import Barred, Moved, Nothing, read_update

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

# Telegram waits 60 s for a webhook's answer and about 15 s for the presser's.
DESK_SECONDS = 10.0
_ALERTS = (
    Answered.FORBIDDEN,
    Answered.REFUSED,
    Answered.LATE,
    Answered.UNKNOWN,
    Answered.UNHEARD,
)


@dataclass(frozen=True, slots=True)
class Toast:
    """The answer to a callback query; without one the button would keep spinning.

    It stands in a line at the top of the chat, or in a dialog if it is an ``alert``.
    """

    query_id: str = field(repr=False)
    text: str
    alert: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an update: whether Telegram may forget it, and what to tell the presser.

    ``retry_after`` is in how many seconds it is worth coming again, None where nobody said.
    """

    stored: bool
    toast: Toast | None = None
    retry_after: float | None = None


class Intake:
    """Hands presses and moves to the desk, replies to their forms; for webhook and polling."""

    def __init__(
        self,
        desk: PressTaker,
        replies: ConversationReplies,
        people: People,
        commands: Commands,
        *,
        desk_seconds: float = DESK_SECONDS,
    ) -> None:
        self._desk = desk
        self._replies = replies
        self._people = people
        self._commands = commands
        self._desk_seconds = desk_seconds
        self._barred = Seldom(_log)
        self._strange = Seldom(_log, level=logging.INFO)

    async def take(self, update: Any) -> Taken:
        """Act on an update. Never raises; an update that cannot be read counts as stored."""
        found = read_update(update)
        if isinstance(found, Press):
            self._people.heard(*presser_of(update))
            return await self._press(found)
        if isinstance(found, FormPress):
            work = self._replies.press(found)
            return await self._form(work, found.message.place, found.ticket)
        if isinstance(found, Reply):
            return await self._form(self._replies.reply(found), found.message.place)
        if isinstance(found, Pending):
            return Taken(stored=await self._commands.take(found))
        if isinstance(found, Moved):
            return await self._moved(found)
        if isinstance(found, Barred):
            self._barred.say("the bot was blocked or removed: no cards there", str(found.place))
            return Taken(stored=True)
        return self._nothing(found, update)

    async def _press(self, press: Press) -> Taken:
        try:
            answer = await self._handed(self._desk.press(press), "a press")
        except CallbackError:
            text = self._language_at(press.message.place).gettext("This press was taken before.")
            return Taken(stored=True, toast=Toast(press.ticket, text))
        if isinstance(answer, NotTaken):
            return _not_stored(press.ticket, _not_recorded(self._language_at(press.message.place)))
        alert = answer.kind in _ALERTS
        return Taken(stored=True, toast=Toast(press.ticket, answer.text, alert))

    async def _form(self, work: Awaitable[FormTaken], place: Place, ticket: str = "") -> Taken:
        translations = self._language_at(place)
        try:
            taken = await self._handed(work, "an answer of a form")
        except CallbackError:
            text = translations.gettext("This press was taken before.")
            return Taken(stored=True, toast=_toast(ticket, text, alert=False))
        if isinstance(taken, NotTaken):
            return _not_stored(ticket, _not_recorded(translations))
        if not taken.is_stored:
            text = translations.gettext(
                "Telegram or the store does not answer. Trying again for two minutes."
            )
            return _not_stored(ticket, text, taken.retry_after)
        _log.debug("an answer of a form came to this: %s", taken.outcome.value)
        return Taken(stored=True, toast=_toast(ticket, taken.text, taken.is_alert))

    async def _moved(self, moved: Moved) -> Taken:
        try:
            noted = await self._handed(self._desk.moved(moved.old, moved.new), "a moved chat")
        except CallbackError:
            return Taken(stored=True)
        if isinstance(noted, NotTaken):
            return Taken(stored=False)
        return Taken(stored=True)

    async def _handed(self, work: Awaitable[_Result], what: str) -> _Result | NotTaken:
        return await handed(work, what=f"{what} in Telegram", seconds=self._desk_seconds)

    def _language_at(self, place: Place) -> NullTranslations:
        """What is said in a place where nobody knows about which card."""
        return load_translations(self._desk.language(place))

    def _nothing(self, nothing: Nothing, update: Any) -> Taken:
        if nothing.reason != "not_a_press":
            # The id only: nobody vouches for the rest, and anybody may write to the bot.
            _log.debug("update %s: %s", update_id(update), nothing.reason)
            self._strange.say(f"an update is not acted on: {nothing.reason}")
        text = self._language_at(nothing.place).gettext("This button does nothing here.")
        return Taken(stored=True, toast=_toast(nothing.query_id, text, alert=True))


def _not_recorded(translations: NullTranslations) -> str:
    return translations.gettext(
        "Not recorded: the store cannot be reached. Trying again for two minutes."
    )


def _not_stored(ticket: str, text: str, retry_after: float | None = None) -> Taken:
    toast = _toast(ticket, text, alert=True)
    return Taken(stored=False, toast=toast, retry_after=retry_after)


def _toast(query_id: str, text: str, alert: bool) -> Toast | None:
    """The answer to a callback query; None where nobody waits for one."""
    return Toast(query_id, text, alert) if query_id else None


def presser_of(update: Any) -> tuple[int, Any]:
    """Who made the press in this update, by number and name."""
    sender = update["callback_query"]["from"]
    return sender["id"], sender.get("first_name")


def update_id(update: Any) -> int | None:
    """The number of the update, if it has one."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if type(number) is int else None
