"""Hands and eyes in the two chats: find the newest card, press, read."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sayso_playground import Playground, SlackMessage, TelegramMessage

_SECONDS = 5.0


class SlackChat:
    """Slack's side: one card at a time, the newest."""

    def __init__(self, playground: Playground) -> None:
        self._slack = playground.slack
        self._before: set[str] = set()

    def next_card(self) -> None:
        """From now on, the card is the next that comes."""
        self._before = {message.ts for message in self._slack.messages()}

    async def buttons(self) -> Collection[str]:
        """Return the buttons of the card."""
        return (await self._card()).buttons

    async def press(self, button: str, by: str = "alice") -> None:
        """Press a button, as soon as the card has it; a confirm dialog is accepted."""
        card = await self._slack.message_where(
            lambda message: message.ts not in self._before and button in message.buttons, _SECONDS
        )
        await self._slack.press(card, button, by=by)

    async def whisper(self, who: str) -> str:
        """The last thing that only this person was told."""
        return (await self._slack.ephemeral_where(who)).all_text

    async def revealed(self) -> str:
        """Return the dialog that Alice has open."""
        return str((await self._slack.view_for("alice")).view)

    async def shows(self, outcome: str, actor: str) -> bool:
        """Return whether the card comes to say how it ended and by whom, and asks no more."""
        mention = f"@{actor.removeprefix('slack:')}"
        try:
            await self._slack.message_where(
                lambda message: (
                    message.ts not in self._before
                    and not _asks(message.buttons)
                    and outcome in message.all_text
                    and (actor in message.all_text or mention in message.all_text)
                ),
                _SECONDS,
            )
        except TimeoutError:
            return False
        return True

    async def _card(self) -> SlackMessage:
        return await self._slack.message_where(
            lambda message: message.ts not in self._before, _SECONDS
        )


class TelegramChat:
    """Telegram's side: one card at a time, the newest."""

    def __init__(self, playground: Playground) -> None:
        self._telegram = playground.telegram
        self._before: set[int] = set()

    def next_card(self) -> None:
        """From now on, the card is the next that comes."""
        self._before = {message.id for message in self._telegram.messages()}

    async def buttons(self, wanted: str = "") -> Collection[str]:
        """Return the buttons of the card, as soon as the wanted one is there."""
        return (await self._card(wanted)).buttons

    async def press(self, button: str, by: str = "alice") -> str:
        """Press a button, as soon as the card has it; what the presser is told."""
        card = await self._card(button)
        return (await self._telegram.press(card, button, by=by)).toast or ""

    async def revealed(self) -> str:
        """The file that was sent with everything in it."""
        message = await self._telegram.message_where(
            lambda message: message.id not in self._before and message.document is not None,
            _SECONDS,
        )
        return message.document.content.decode() if message.document else ""

    async def shows(self, outcome: str, actor: str) -> bool:
        """Return whether the card comes to say how it ended and by whom, and asks no more."""
        try:
            await self._telegram.message_where(
                lambda message: (
                    message.id not in self._before
                    and not _asks(message.buttons)
                    and outcome in message.text
                    and actor in message.text
                ),
                _SECONDS,
            )
        except TimeoutError:
            return False
        return True

    async def _card(self, button: str) -> TelegramMessage:
        def fits(message: TelegramMessage) -> bool:
            is_card = message.id not in self._before and message.document is None
            return is_card and (not button or button in message.buttons)

        return await self._telegram.message_where(fits, _SECONDS)


def _asks(buttons: Iterable[str]) -> bool:
    """Return whether one of these buttons decides; what an answer stored can be revoked."""
    return any(not label.startswith(("Revoke", "Details")) for label in buttons)
