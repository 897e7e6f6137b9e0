"""The messages of a dialogue in the chat: posted, changed and taken away."""

from __future__ import annotations

import logging
from typing import Any

from telegram import InlineKeyboardMarkup, ReplyParameters

from sayso.errors import DeliveryError
from sayso_telegram.card.fitting import fitting, line
from sayso_telegram.card.formatted import Formatted
from sayso_telegram.card.sending import edited, formatted
from sayso_telegram.client import Client
from sayso_telegram.failures import PLATFORM
from sayso_telegram.forms.dialogue import Dialogue
from sayso_telegram.forms.view import board, board_keyboard, force_reply, prompt

_log = logging.getLogger(__name__)


class Prompter:
    """Posts and changes the messages of dialogues. Every method but those that say so raises
    DeliveryError when Telegram did not do it.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._channels: dict[int, bool] = {}

    async def post_board(self, dialogue: Dialogue) -> int:
        """Post the board in reply to the card; the number of the message."""
        text, markup = _board(dialogue)
        return await self._post(
            dialogue,
            text,
            dialogue.card_id,
            reply_markup=markup,
            disable_notification=dialogue.is_typed,
        )

    async def change_board(self, dialogue: Dialogue) -> None:
        """Make the board show where the dialogue stands."""
        text, markup = _board(dialogue)
        where = {"chat_id": dialogue.chat_id, "message_id": dialogue.board}
        with self._client.errors():
            await edited(self._client.bot, text, reply_markup=markup, **where)

    async def post_prompt(self, dialogue: Dialogue, reply_to: int) -> int:
        """Ask for what is typed; the number of the message."""
        markup = force_reply(dialogue)
        return await self._post(dialogue, prompt(dialogue), reply_to, reply_markup=markup)

    async def is_channel(self, chat_id: int) -> bool:
        """Whether nobody can reply there; where Telegram does not say, somebody may."""
        if chat_id > 0:
            return False
        if chat_id not in self._channels:
            chat = await self._client.raw("getChat", chat_id=chat_id)
            kind = chat.get("type") if isinstance(chat, dict) else None
            self._channels[chat_id] = kind == "channel"
        return self._channels[chat_id]

    async def take_away(self, chat_id: int, message_id: int) -> None:
        """Delete a message of the bot. Never raises: a prompt that stays does no harm.

        Telegram edits no message that was sent with a ForceReply
        (MessagesManager::can_edit_message), so a prompt can only be deleted.
        """
        try:
            with self._client.errors():
                await self._client.bot.delete_message(chat_id, message_id)
        except DeliveryError as error:
            _log.info("a prompt stays in the chat: %s", error.reason)

    async def close_board(self, chat_id: int, message_id: int, words: str) -> None:
        """Leave these words and no buttons. Never raises: its buttons do nothing any more."""
        text = fitting([line(words, rank=1)])
        where = {"chat_id": chat_id, "message_id": message_id}
        try:
            with self._client.errors():
                await edited(self._client.bot, text, reply_markup=None, **where)
        except DeliveryError as error:
            _log.info("a board keeps its buttons: %s", error.reason)

    async def tell(self, chat_id: int, thread_id: int | None, reply_to: int, words: str) -> None:
        """Say something in reply to a message. Never raises: the dialogue does not depend on it."""
        text = fitting([line(words, rank=1)])
        try:
            with self._client.errors():
                await formatted(
                    self._client.bot.send_message,
                    text,
                    chat_id=chat_id,
                    message_thread_id=thread_id,
                    reply_parameters=_reply(reply_to),
                )
        except DeliveryError as error:
            _log.warning("somebody was not told what became of a reply: %s", error.reason)

    async def _post(
        self, dialogue: Dialogue, text: Formatted, reply_to: int, **arguments: Any
    ) -> int:
        with self._client.errors():
            sent = await formatted(
                self._client.bot.send_message,
                text,
                chat_id=dialogue.chat_id,
                message_thread_id=dialogue.thread_id,
                reply_parameters=_reply(reply_to),
                **arguments,
            )
        number: int = sent.message_id
        return number


def _board(dialogue: Dialogue) -> tuple[Formatted, InlineKeyboardMarkup | None]:
    try:
        return board(dialogue), board_keyboard(dialogue)
    except ValueError as error:
        raise DeliveryError(PLATFORM, str(error), permanent=True) from error


def _reply(message_id: int) -> ReplyParameters:
    return ReplyParameters(message_id, allow_sending_without_reply=True)
