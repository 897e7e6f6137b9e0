"""``/pending``: what waits for whoever asks is told in their own chat, and nowhere else."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from gettext import NullTranslations

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import NotTaken, handed
from sayso.chats.overview import Overview
from sayso.errors import CallbackError, DeliveryError
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.card.formatted import Formatted, Part
from sayso_telegram.lists.waiting import told
from sayso_telegram.reading.commands import Pending

_log = logging.getLogger(__name__)

# Anybody may write to a bot: in one chat it answers no more often.
_EACH_SECONDS = 3.0
_MOST_CHATS = 4_096


class Commands:
    """Answers commands. In a group it says only where to ask."""

    def __init__(
        self,
        adapter: TelegramAdapter,
        desk: PressTaker,
        *,
        seconds: float,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._adapter = adapter
        self._desk = desk
        self._seconds = seconds
        self._timer = timer
        self._answered: dict[str, float] = {}
        self._untold = Seldom(_log)

    async def take(self, asked: Pending) -> bool:
        """Answer; False where the store was away, so that it may come again."""
        if not self._adapter.is_me(asked.bot) or self._is_too_soon(asked):
            return True
        place = asked.message.place
        if not asked.is_private:
            said = load_translations(self._desk.language(place)).gettext(
                "What waits for you is told to you alone: write /pending to the bot itself."
            )
            await self._say(asked, Formatted((Part(said),)))
            return True
        try:
            work = self._desk.overview(asked.actor, place, whole=False)
            found = await handed(work, what="a command in Telegram", seconds=self._seconds)
        except CallbackError:
            return True
        if isinstance(found, NotTaken):
            self._answered.pop(place.address, None)
            return found is not NotTaken.UNREACHABLE
        translations = load_translations(found.language)
        await self._say(asked, _listed(found, translations))
        return True

    async def _say(self, asked: Pending, text: Formatted) -> None:
        place = asked.message.place
        try:
            await self._adapter.say(place, text, reply_to=asked.message.message_id)
        except DeliveryError as error:
            self._untold.say(f"a command is not answered: {error}", str(place))

    def _is_too_soon(self, asked: Pending) -> bool:
        now, chat = self._timer(), asked.message.place.address
        last = self._answered.get(chat)
        if last is not None and now - last < _EACH_SECONDS:
            return True
        if len(self._answered) >= _MOST_CHATS:
            self._answered.clear()
        self._answered[chat] = now
        return False


def _listed(found: Overview, translations: NullTranslations) -> Formatted:
    if not found.waiting:
        return Formatted((Part(translations.gettext("Nothing waits for you.")),))
    return told(
        translations.gettext("Waiting for you"),
        found.waiting,
        translations,
        more=found.more_waiting,
    )
