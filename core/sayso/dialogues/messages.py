"""The messages of dialogues: posted, changed and taken away."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from sayso.chats.places import MessageRef, Place
from sayso.dialogues.chat import DialogueChat
from sayso.dialogues.dialogue import Dialogue
from sayso.dialogues.view import Note, board, prompt
from sayso.dialogues.words import ENGLISH, DialogueWords
from sayso.errors import DeliveryError

_log = logging.getLogger(__name__)

_ONLY_ENGLISH: Mapping[str, DialogueWords] = {ENGLISH.cards.tag: ENGLISH}


class Messages:
    """Shows dialogues in a chat, ``options_a_page`` buttons for a choice at a time.

    ``languages`` are what they speak, by their tags.
    """

    def __init__(
        self,
        chat: DialogueChat,
        *,
        options_a_page: int,
        languages: Mapping[str, DialogueWords] = _ONLY_ENGLISH,
    ) -> None:
        self._languages = languages
        self._chat = chat
        self._options_a_page = options_a_page

    def words(self, language: str) -> DialogueWords:
        """What is said in a language; in English where there are no words in it."""
        return self._languages.get(language, ENGLISH)

    async def post_board(self, dialogue: Dialogue) -> str:
        """Post the board in reply to the card; the id of the message.

        Raises:
            DeliveryError: the platform did not take it.
        """
        view = board(
            dialogue, options_a_page=self._options_a_page, words=self.words(dialogue.language)
        )
        return (await self._chat.post(view, dialogue.card)).message_id

    async def change_board(self, dialogue: Dialogue) -> None:
        """Make the board show where the dialogue stands.

        Raises:
            PlaceMovedError: the chat has a new address.
            DeliveryError: the platform did not take the change.
        """
        view = board(
            dialogue, options_a_page=self._options_a_page, words=self.words(dialogue.language)
        )
        await self._chat.change(dialogue.message(dialogue.board), view)

    async def post_prompt(self, dialogue: Dialogue, reply_to: str) -> str:
        """Ask for what is typed; the id of the message.

        Raises:
            DeliveryError: the platform did not take it.
        """
        view = prompt(dialogue, self.words(dialogue.language))
        return (await self._chat.post(view, dialogue.message(reply_to))).message_id

    async def can_type(self, place: Place) -> bool:
        """Whether people can reply there. Where the platform does not say, they may."""
        try:
            return await self._chat.can_type(place)
        except DeliveryError as error:
            _log.info("whether people can reply in %s is not known: %s", place, error.reason)
            return True

    async def take_away(self, message: MessageRef) -> None:
        """Delete a message of the bot. Never raises: one that stays does no harm."""
        try:
            await self._chat.take_back(message)
        except DeliveryError as error:
            _log.info("a message of a form stays in the chat: %s", error.reason)

    async def close_board(self, message: MessageRef, why: str, language: str) -> None:
        """Leave why and no buttons. Never raises: its buttons do nothing any more."""
        try:
            await self._chat.change(message, Note(why, self.words(language)))
        except DeliveryError as error:
            _log.info("a board keeps its buttons: %s", error.reason)

    async def tell(self, message: MessageRef, said: str, language: str) -> None:
        """Say something in reply. Never raises: the dialogue does not depend on it."""
        try:
            await self._chat.post(Note(said, self.words(language)), message)
        except DeliveryError as error:
            _log.warning("somebody was not told what became of a reply: %s", error.reason)
