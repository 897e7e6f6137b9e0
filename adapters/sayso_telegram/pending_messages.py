"""Questions that wait, in a line each: reminders, and ``/pending`` with its answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from gettext import NullTranslations

from sayso.cards.called import Called
from sayso.cards.gist import AGENT, FIRST, TOOL, agent_name, tool_name
from sayso.chats.adapter import PressTaker
from sayso.chats.caller import Waiting
from sayso.chats.incoming import NotTaken, handed
from sayso.chats.overview import Overview
from sayso.errors import CallbackError, DeliveryError
from sayso.formats import formats_of
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso.text.visible import format_count
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.formatted_text import Formatted, Look, Part, replace_surrogates, truncate
from sayso_telegram.message_text import mention_parts
from sayso_telegram.parse_update import PendingCommand

_log = logging.getLogger(__name__)

# Anybody may write to a bot: in one chat it answers no more often.
_EACH_SECONDS = 3.0
_MOST_CHATS = 4_096
# 20 lines of these, a heading and links of 60 characters each stay below 4,096 code units.
_ABOUT = 34
MOST = 20


def list_waiting(
    heading: str,
    waiting: Sequence[Waiting],
    translations: NullTranslations,
    called: Sequence[Called] = (),
    more: int = 0,
) -> Formatted:
    """That these wait: what an agent wrote is code, and only the called are mentioned."""
    parts = [Part(heading, Look.BOLD), *mention_parts(called)]
    for one in waiting[:MOST]:
        parts += _line(one, translations)
    if left := more + len(waiting[MOST:]):
        more_waiting = format_count(
            translations, "{count} more question waits", "{count} more questions wait", left
        )
        parts.append(Part(f"\n{more_waiting}"))
    return Formatted(tuple(parts))


def build_reminder(
    icon: str,
    heading: str,
    waiting: Sequence[Waiting],
    translations: NullTranslations,
    called: Sequence[Called] = (),
) -> Formatted:
    """The same for somebody who is called: what waits comes first, on a lock screen as well."""
    first, *others = waiting[:MOST]
    said = tuple(
        _line(first, translations, f"{icon} ", truncate(replace_surrogates(first.matters), FIRST))
    )
    rest = tuple(part for one in others for part in _line(one, translations))
    lead = Part(f"\n{heading}", Look.BOLD)
    return Formatted((*said, *rest, lead, *mention_parts(called)))


def _line(
    one: Waiting, translations: NullTranslations, begins: str = "\n• ", matters: str = ""
) -> Iterator[Part]:
    yield Part(begins)
    yield Part(truncate(replace_surrogates(agent_name(one.asker)), AGENT), Look.CODE)
    yield Part(" · ")
    yield Part(truncate(replace_surrogates(tool_name(one.title)), TOOL), Look.CODE)
    if about := matters or truncate(replace_surrogates(one.matters), _ABOUT):
        yield Part(" ")
        yield Part(about, Look.CODE)
    expires = translations.gettext("expires")
    yield Part(f" · {expires} ")
    yield Part(formats_of(translations).time(one.expires_at), Look.MOMENT, at=one.expires_at)
    if one.link:
        yield Part(f"\n{one.link}")


class PendingCommands:
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

    async def answer(self, asked: PendingCommand) -> bool:
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

    async def _say(self, asked: PendingCommand, text: Formatted) -> None:
        place = asked.message.place
        try:
            await self._adapter.say(place, text, reply_to=asked.message.message_id)
        except DeliveryError as error:
            self._untold.say(f"a command is not answered: {error}", str(place))

    def _is_too_soon(self, asked: PendingCommand) -> bool:
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
    return list_waiting(
        translations.gettext("Waiting for you"),
        found.waiting,
        translations,
        more=found.more_waiting,
    )
