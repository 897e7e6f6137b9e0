"""Calling people in Telegram: reminders in reply to cards, messages to one person, links."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.cards.called import Called
from sayso.chats.caller import Waiting
from sayso.chats.places import MessageRef, Place
from sayso.locales import load_translations
from sayso.text.visible import format_count
from sayso_telegram.adapter import TelegramAdapter
from sayso_telegram.config import PLATFORM
from sayso_telegram.pending_messages import build_reminder

# Supergroups and channels: t.me/c takes their number without what marks them as such.
_MARK = "-100"


class TelegramNotifier:
    """Calls people by mentions and in their own chats. Who is away is not said by Telegram."""

    def __init__(self, adapter: TelegramAdapter) -> None:
        self._adapter = adapter

    @property
    def platform(self) -> str:
        """``telegram``."""
        return PLATFORM

    async def reachable(self, called: Sequence[Called]) -> Sequence[Called]:
        """All of them but groups, which Telegram does not have."""
        return [one for one in called if not one.actor.startswith(f"{PLATFORM}:@")]

    async def link(self, card: MessageRef) -> str:
        """The address of a message in a supergroup or a channel; others have none."""
        address, thread = card.place.address, card.place.thread
        if not address.startswith(_MARK) or not card.message_id.isdecimal():
            return ""
        topic = f"{thread}/" if thread.isdecimal() else ""
        return f"https://t.me/c/{address.removeprefix(_MARK)}/{topic}{card.message_id}"

    async def remind(
        self, place: Place, waiting: Sequence[Waiting], called: Sequence[Called]
    ) -> None:
        """In reply to the card that expires first.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take it.
        """
        translations, count = load_translations(waiting[0].language), len(waiting)
        heading = format_count(
            translations, "Still waiting for an answer", "{count} questions still wait", count
        )
        text = build_reminder("⏰", heading, waiting, translations, called)
        card = waiting[0].card
        await self._adapter.say(place, text, reply_to=card.message_id if card else "")

    async def write(self, actor: str, waiting: Sequence[Waiting]) -> None:
        """In the person's own chat with the bot, if they ever wrote to it.

        Raises:
            DeliveryError: Telegram did not take it, or they never did.
        """
        translations, count = load_translations(waiting[0].language), len(waiting)
        heading = format_count(
            translations, "A question waits for you", "{count} questions wait for you", count
        )
        place = Place(PLATFORM, actor.removeprefix(f"{PLATFORM}:"))
        await self._adapter.say(place, build_reminder("👋", heading, waiting, translations))
